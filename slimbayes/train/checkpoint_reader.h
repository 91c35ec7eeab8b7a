#pragma once

#include <ATen/core/Tensor.h>

#include <cstdint>
#include <filesystem>
#include <string>
#include <vector>

#include "slimbayes/storage/tensor_file.h"
#include "slimbayes/train/problem.h"
#include "slimbayes/train/summary.h"

namespace slimbayes {

/// "the checkpoint 'm.ckpt'": how messages name it.
std::string checkpoint_name(const std::filesystem::path& path);

/// The advice that ends the error message about an unreadable checkpoint.
inline constexpr const char* kCheckpointHint =
    "the file is damaged: remove it, or leave --resume out, to fit anew";

/// The contents of a checkpoint, none of which is believed before it is checked: it may be damaged, or come
/// from anywhere. What is absent, of another type or shape, or out of bounds throws DataError in the
/// checkpoint's name.
class CheckpointReader {
 public:
  /// `file` must outlive the reader.
  CheckpointReader(const TensorFile& file, const std::filesystem::path& path);

  /// Throws DataError with the texts `expected` and `received` unless `ok`.
  void check(bool ok, const std::string& expected, const std::string& received) const;

  const std::string& text(const std::string& key) const;

  /// A whole number of the metadata in [low, high].
  int64_t count(const std::string& key, int64_t low, int64_t high) const;

  /// A number of the metadata as fmt's {:a} writes it; it may be nan or infinite.
  double number(const std::string& key) const;

  /// A float64 list of at most `longest` numbers, nan and infinities among them.
  std::vector<double> numbers(const std::string& name, int64_t longest) const;

  /// A finite tensor of the shape and type of `own`.
  at::Tensor like(const std::string& name, const at::Tensor& own) const;

  /// Those of AdamW::state(), `own`: first and second moments in turn, then the count of steps. Second
  /// moments and the count are at least 0.
  std::vector<at::Tensor> moments(const std::vector<at::Tensor>& own) const;

  /// The best state so far, like changing_tensors(), `own`; empty where there is none.
  std::vector<at::Tensor> best(const std::vector<at::Tensor>& own) const;

  /// With its best score. It is that of a fit that goes on, of these rows, after `epoch` epochs; it has a
  /// best score where there are best parameters, and there alone.
  Summary summary(int64_t rows, int64_t epoch) const;

 private:
  const TensorFile& file_;
  std::string name_;
};

}  // namespace slimbayes
