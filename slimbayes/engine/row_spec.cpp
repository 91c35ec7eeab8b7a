#include "slimbayes/engine/row_spec.h"

#include <iterator>

#include "slimbayes/storage/check.h"
#include "slimbayes/storage/memory.h"

namespace slimbayes::engine {

namespace {

struct ModelOf {
  std::shared_ptr<const RowModel> operator()(const LinearRows& spec) const {
    // Before r^2 numbers of memory and r^3 operations go into the kernel of the points of a damaged file.
    if (spec.features.basis == "rbf") {
      const int64_t r = spec.features.rank;
      check(r > 0 && std::ssize(spec.head.root) / r == r, "row_model",
            "a head for the inducing points of the features", "another", "the model file is damaged");
      const auto needed = 6.0 * static_cast<double>(r) * static_cast<double>(r) * sizeof(double);
      if (needed > static_cast<double>(memory_at_hand())) return nullptr;
    }
    std::shared_ptr<const Features> features = features_of(spec.features);
    return features ? linear_row_model(std::move(features), spec.head) : nullptr;
  }
  std::shared_ptr<const RowModel> operator()(const KernelRows& spec) const { return kernel_row_model(spec); }
  std::shared_ptr<const RowModel> operator()(const MixtureRows& spec) const {
    return mixture_row_model(spec);
  }
};

}  // namespace

std::shared_ptr<const RowModel> row_model(const RowSpec& spec) { return std::visit(ModelOf{}, spec.of); }

}  // namespace slimbayes::engine
