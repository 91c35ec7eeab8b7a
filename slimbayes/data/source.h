#pragma once

#include <ATen/core/Tensor.h>

#include <cstdint>
#include <memory>
#include <vector>

#include "slimbayes/core/random.h"

namespace slimbayes {

/// A batch of rows as a network reads them.
struct Batch {
  /// One tensor per input: [b, d] for a table, [b, t, d] for windows, [b, c, h, w] for images, [b, t] for
  /// tokens.
  std::vector<at::Tensor> inputs;
  at::Tensor target = {};  // [b] standardised, class numbers or counts; undefined if not known
  at::Tensor mask = {};    // [b, t] bool, false for padding; undefined if there is no padding
};

/// What a batch is used for.
struct RowContext {
  bool training = false;  // whether a source that augments its rows does so
  Stream stream{0};       // random numbers of the augmentation
};

/// The rows of a dataset, from which batches are taken. Immutable; safe to share between threads. Each row is
/// stored once, in its own type (the pixels of images as bytes).
class Source {
 public:
  virtual ~Source() = default;

  virtual int64_t size() const = 0;  // n

  /// Returns the rows with these indices [b] int64, in this order. The same indices and context give the same
  /// bits.
  virtual Batch rows(const at::Tensor& indices, const RowContext& context) const = 0;

  /// Returns the length of each row, [n] int64, so that rows of similar length can share a batch; undefined
  /// if all rows have the same length.
  virtual at::Tensor lengths() const { return {}; }
};

/// Rows that are tensors in memory.
class TensorSource : public Source {
 public:
  /// Throws std::invalid_argument unless there is an input and all tensors have the same number of rows.
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
  /// `indices` [m] int64 are rows of `whole`. Throws std::invalid_argument for an index out of range.
  SubsetSource(std::shared_ptr<const Source> whole, at::Tensor indices);

  int64_t size() const override;
  Batch rows(const at::Tensor& indices, const RowContext& context) const override;
  at::Tensor lengths() const override;

 private:
  std::shared_ptr<const Source> whole_;
  at::Tensor indices_;
};

/// The rows of two sources, one after the other; nothing is copied. Texts of different lengths are padded.
class JoinedSource : public Source {
 public:
  /// The rows of both must have the same inputs.
  JoinedSource(std::shared_ptr<const Source> first, std::shared_ptr<const Source> second);

  int64_t size() const override;
  Batch rows(const at::Tensor& indices, const RowContext& context) const override;
  at::Tensor lengths() const override;

 private:
  std::shared_ptr<const Source> first_, second_;
};

}  // namespace slimbayes
