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

/// Returns the name of a checkpoint in messages, such as "the checkpoint 'm.ckpt'".
std::string checkpoint_name(const std::filesystem::path& path);

/// The advice that ends the error message about an unreadable checkpoint.
inline constexpr const char* kCheckpointHint =
    "the file is damaged: remove it, or leave `.resume` out, to fit anew";

/// Reads the values of a checkpoint and checks each one, because the file may be damaged or untrusted. Every
/// member function throws DataError for a value that is absent, has the wrong type or shape, or is out of
/// bounds. The message names the checkpoint.
class CheckpointReader {
 public:
  /// `file` must outlive the reader.
  CheckpointReader(const TensorFile& file, const std::filesystem::path& path);

  /// Throws DataError with the texts `expected` and `received`.
  [[noreturn]] void refuse(const std::string& expected, const std::string& received) const;

  /// Returns the metadata value of `key`.
  const std::string& text(const std::string& key) const;

  /// Returns a whole number in [low, high] from the metadata.
  int64_t count(const std::string& key, int64_t low, int64_t high) const;

  /// Returns a number from the metadata. It is written in hexadecimal (fmt's {:a}), which keeps every bit,
  /// and may be NaN or infinite.
  double number(const std::string& key) const;

  /// Returns the numbers of a float64 tensor [m], m <= `longest`. They may be NaN or infinite.
  std::vector<double> numbers(const std::string& name, int64_t longest) const;

  /// Returns the tensor of this name, which must have the shape and type of `own` and only finite elements.
  at::Tensor like(const std::string& name, const at::Tensor& own) const;

  /// Returns the optimiser's state in the layout of AdamW::state(): the first and second moments of each
  /// group, then the step count. `own` is the state of this fit's optimiser, which gives the shapes. Second
  /// moments and the count must not be negative.
  std::vector<at::Tensor> moments(const std::vector<at::Tensor>& own) const;

  /// Returns the parameters and buffers at the best score, in the layout of changing_tensors(); empty if the
  /// file has none. `own` are the changing_tensors() of this fit.
  std::vector<at::Tensor> best(const std::vector<at::Tensor>& own) const;

  /// Returns the training summary and its best score. The summary must belong to an unfinished fit (`stopped`
  /// is "budget") of `rows` rows with at most `epoch` epochs done. The best score must be finite if, and only
  /// if, the file has best parameters.
  Summary summary(int64_t rows, int64_t epoch) const;

 private:
  const TensorFile& file_;
  std::string name_;
};

}  // namespace slimbayes
