#pragma once

#include <functional>
#include <memory>
#include <mutex>

namespace slimbayes::engine {
class RowModel;  // engine/row_model.h
}

namespace slimbayes {

/// A row model that is made at its first use, by whichever thread comes first. A copy makes its own.
class LazyRowModel {
 public:
  using Made = std::shared_ptr<const engine::RowModel>;

  LazyRowModel() = default;
  LazyRowModel(const LazyRowModel&) {}
  LazyRowModel& operator=(const LazyRowModel&) = delete;

  const Made& get(const std::function<Made()>& make) const {
    std::call_once(once_, [&] { made_ = make(); });
    return made_;
  }

 private:
  mutable std::once_flag once_;
  mutable Made made_;
};

}  // namespace slimbayes
