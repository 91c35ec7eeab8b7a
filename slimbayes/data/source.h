#pragma once

#include <ATen/core/Tensor.h>

#include <cstdint>
#include <memory>
#include <optional>
#include <vector>

#include "slimbayes/core/random.h"
#include "slimbayes/export.h"

namespace slimbayes {

/// A batch of rows as a network reads them.
struct Batch {
  /// One tensor per input: [b, d] for a table, [b, t, d] for windows, [b, c, h, w] for images, [b, t] for
  /// tokens.
  std::vector<at::Tensor> inputs;
  /// [b] standardised numbers, class numbers or counts; of segmentation [b, h w] class numbers by pixel and
  /// kVoid (answers/pixels.h). Undefined if not known.
  at::Tensor target = {};
  at::Tensor mask = {};  // [b, t] bool, false for padding; undefined if there is no padding
  /// [b] float64, > 0: for how many rows each row counts. A row of weight 2 is two equal rows in every sum,
  /// so that the sum of the weights takes the place of the number of rows. Undefined: every row counts once.
  /// The step of a training on mini-batches does not read it: such batches are drawn by the weights
  /// (plan_of_weights in train/plan.h).
  at::Tensor weight = {};
};

/// How a batch is used. A source that augments its rows needs it.
struct RowContext {
  bool training = false;  // whether to augment the rows
  Stream stream{0};       // random numbers for the augmentation
};

/// The rows of a dataset, from which a method takes batches. Immutable; safe to share between threads. Each
/// row is stored once, in a compact type (pixels as bytes), and converted when a batch is requested.
class SLIMBAYES_EXPORT Source {
 public:
  virtual ~Source() = default;

  virtual int64_t size() const = 0;  // number of rows

  /// Where the tensors of its batches are (data/device_source.h).
  virtual at::Device device() const { return at::kCPU; }

  /// Returns whether a row is always the same numbers: it does not depend on the context (no augmentation) or
  /// on the other rows of its batch (no padding), and lies in memory.
  virtual bool fixed_rows() const { return false; }

  /// Returns the rows with these indices [b] int64 as a batch, in this order. The same indices and context
  /// give bitwise the same batch.
  virtual Batch rows(const at::Tensor& indices, const RowContext& context) const = 0;

  /// Returns the length of each row (for a text, its number of tokens), [n] int64, so that a method can form
  /// batches of rows of similar length. Returns an undefined tensor if all rows have the same length.
  virtual at::Tensor lengths() const { return {}; }

  /// Returns the weight of each row (Batch::weight), [n] float64; undefined if every row counts once.
  virtual at::Tensor weights() const { return {}; }

  /// How rows lie on disk: those of a block are read together, and about `window` rows are kept in memory.
  struct OnDisk {
    int64_t block, window;
    /// Where each of several processes has a part of the rows: the first row of each part, in the order of
    /// the ranks, and behind them the number of rows. rows() takes rows of the own part alone. {0, size()}
    /// where this process has all of them.
    std::vector<int64_t> parts;
    int64_t own = 0;  // the part that this process has

    int64_t first() const { return parts[static_cast<size_t>(own)]; }
    int64_t end() const { return parts[static_cast<size_t>(own) + 1]; }
  };
  /// Returns nothing for rows in memory, which may be taken in any order.
  virtual std::optional<OnDisk> on_disk() const { return {}; }
};

/// A source whose rows are tensors in memory.
class SLIMBAYES_EXPORT TensorSource : public Source {
 public:
  /// `all` holds every row. Throws std::invalid_argument unless it has at least one input and all its tensors
  /// have the same number of rows.
  explicit TensorSource(Batch all);

  int64_t size() const override;
  Batch rows(const at::Tensor& indices, const RowContext& context) const override;
  at::Tensor weights() const override { return all_.weight; }
  bool fixed_rows() const override { return true; }
  const Batch& all() const { return all_; }

 private:
  Batch all_;
};

/// A source with some rows of another source, by their indices; nothing is copied.
class SLIMBAYES_EXPORT SubsetSource : public Source {
 public:
  /// `indices` [m] int64 are the rows of `whole` that this source consists of, in this order. Throws
  /// std::invalid_argument for an index out of range.
  SubsetSource(std::shared_ptr<const Source> whole, at::Tensor indices);

  int64_t size() const override;
  Batch rows(const at::Tensor& indices, const RowContext& context) const override;
  at::Tensor lengths() const override;
  at::Tensor weights() const override;
  at::Device device() const override { return whole_->device(); }
  bool fixed_rows() const override { return whole_->fixed_rows(); }

 private:
  std::shared_ptr<const Source> whole_;
  at::Tensor indices_;
};

/// A source with the rows of two sources, those of `second` behind those of `first`; nothing is copied. In a
/// batch with texts of both, the shorter texts are padded. Both sources must be on one device.
class SLIMBAYES_EXPORT JoinedSource : public Source {
 public:
  /// Both sources must have the same number and kinds of inputs.
  JoinedSource(std::shared_ptr<const Source> first, std::shared_ptr<const Source> second);

  int64_t size() const override;
  Batch rows(const at::Tensor& indices, const RowContext& context) const override;
  at::Tensor lengths() const override;
  at::Tensor weights() const override;             // 1 for the rows of a source without weights
  std::optional<OnDisk> on_disk() const override;  // as the part that lies on disk
  at::Device device() const override { return first_->device(); }
  bool fixed_rows() const override;

 private:
  Batch joined_rows(const at::Tensor& indices, const RowContext& context) const;
  std::shared_ptr<const Source> first_, second_;
  bool weighted_;  // whether a source has weights
};

}  // namespace slimbayes
