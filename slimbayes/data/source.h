#pragma once

#include <ATen/core/Tensor.h>

#include <cstdint>
#include <memory>
#include <vector>

#include "slimbayes/core/random.h"

namespace slimbayes {

/// Rows as a network reads them.
struct Batch {
  std::vector<at::Tensor>
      inputs;  // one an input: [b, d] of a table, [b, t, d] windows, [b, c, h, w] images, [b, t] tokens
  at::Tensor target = {};  // [b] standardised, a class's number or a count; undefined when not known
  at::Tensor mask = {};    // [b, t] bool, which tokens are there; undefined: all of them
};

/// What a batch is for.
struct RowContext {
  bool training = false;  // augmented, where the source does that
  Stream stream{0};       // of the augmentation
};

/// Where batches come from. Immutable; safe to share between threads. Rows lie there once, in their own type.
class Source {
 public:
  virtual ~Source() = default;

  virtual int64_t size() const = 0;  // n

  /// The rows of these indices [b] int64, in this order. The same indices and context give the same bits.
  virtual Batch rows(const at::Tensor& indices, const RowContext& context) const = 0;

  /// Of each row how long it is, [n] int64: rows of like length share a batch. Undefined where all are alike.
  virtual at::Tensor lengths() const { return {}; }
};

/// Tensors in memory, row by row.
class TensorSource : public Source {
 public:
  /// Throws std::invalid_argument unless there is an input and every tensor has as many rows.
  explicit TensorSource(Batch all);

  int64_t size() const override;
  Batch rows(const at::Tensor& indices, const RowContext& context) const override;
  const Batch& all() const { return all_; }

 private:
  Batch all_;
};

/// Some rows of another source; nothing is copied.
class SubsetSource : public Source {
 public:
  /// indices [m] int64 of `whole`. Throws std::invalid_argument for others.
  SubsetSource(std::shared_ptr<const Source> whole, at::Tensor indices);

  int64_t size() const override;
  Batch rows(const at::Tensor& indices, const RowContext& context) const override;
  at::Tensor lengths() const override;

 private:
  std::shared_ptr<const Source> whole_;
  at::Tensor indices_;
};

}  // namespace slimbayes
