#include "slimbayes/train/checkpoint_reader.h"

#include <ATen/ATen.h>
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <charconv>
#include <cmath>
#include <cstdlib>

#include "slimbayes/core/stored.h"
#include "slimbayes/storage/error.h"
#include "slimbayes/storage/tensor_header.h"

namespace slimbayes {

namespace {

bool is_finite(const at::Tensor& x) { return at::isfinite(x).all().item<bool>(); }

std::string described(const at::Tensor& x) {
  return fmt::format("{} of shape [{}]", at::toString(x.scalar_type()), fmt::join(x.sizes(), ", "));
}

}  // namespace

std::string checkpoint_name(const std::filesystem::path& path) {
  return fmt::format("the checkpoint '{}'", path.string());
}

CheckpointReader::CheckpointReader(const TensorFile& file, const std::filesystem::path& path)
    : file_(file), name_(checkpoint_name(path)) {}

void CheckpointReader::refuse(const std::string& expected, const std::string& received) const {
  throw DataError(name_, fmt::format("expected {}; received {}; {}", expected, received, kCheckpointHint));
}

const std::string& CheckpointReader::text(const std::string& key) const {
  const auto found = file_.metadata.find(key);
  if (found == file_.metadata.end()) refuse(fmt::format("'{}'", key), "none");
  return found->second;
}

int64_t CheckpointReader::count(const std::string& key, int64_t low, int64_t high) const {
  const std::string& digits = text(key);
  int64_t value = 0;
  const auto [end, error] = std::from_chars(digits.data(), digits.data() + digits.size(), value);
  const bool whole = error == std::errc() && end == digits.data() + digits.size();
  if (!(whole && value >= low && value <= high))
    refuse(fmt::format("a whole number from {} to {} for '{}'", low, high, key), json_quoted(digits));
  return value;
}

double CheckpointReader::number(const std::string& key) const {
  const std::string& digits = text(key);
  char* end = nullptr;
  const double value = std::strtod(digits.c_str(), &end);
  if (digits.empty() || end != digits.data() + digits.size())
    refuse(fmt::format("a number for '{}'", key), json_quoted(digits));
  return value;
}

std::vector<double> CheckpointReader::numbers(const std::string& name, int64_t longest) const {
  const auto found = file_.tensors.find(name);
  if (found == file_.tensors.end()) refuse(fmt::format("a tensor '{}'", name), "none");
  const at::Tensor x = from_stored(found->second);
  if (!(x.scalar_type() == at::kDouble && x.dim() == 1 && x.size(0) <= longest))
    refuse(fmt::format("at most {} float64 numbers in '{}'", longest, name), described(x));
  return {x.const_data_ptr<double>(), x.const_data_ptr<double>() + x.numel()};
}

at::Tensor CheckpointReader::like(const std::string& name, const at::Tensor& own) const {
  const auto found = file_.tensors.find(name);
  if (found == file_.tensors.end()) refuse(fmt::format("a tensor '{}'", name), "none");
  at::Tensor x = from_stored(found->second);
  if (x.sizes() != own.sizes() || x.scalar_type() != own.scalar_type())
    refuse(fmt::format("'{}' as {}, as this fit has it", name, described(own)), described(x));
  if (!is_finite(x)) refuse(fmt::format("finite numbers in '{}'", name), "others");
  return x;
}

std::vector<at::Tensor> CheckpointReader::moments(const std::vector<at::Tensor>& own) const {
  std::vector<at::Tensor> all;
  for (size_t i = 0; i < own.size(); ++i) {
    const std::string name = fmt::format("optimiser.{}", i);
    all.push_back(like(name, own[i]));
    const bool may_be_negative = i % 2 == 0 && i + 1 < own.size();
    if (!(may_be_negative || (all[i] >= 0).all().item<bool>()))
      refuse(fmt::format("no negative numbers in '{}'", name), "some");
  }
  return all;
}

std::vector<at::Tensor> CheckpointReader::best(const std::vector<at::Tensor>& own) const {
  std::vector<at::Tensor> all;
  if (!file_.tensors.contains("best.0")) return all;
  for (size_t i = 0; i < own.size(); ++i) all.push_back(like(fmt::format("best.{}", i), own[i]));
  return all;
}

Summary CheckpointReader::summary(int64_t rows, int64_t epoch) const {
  Summary s;
  read_contents(name_, kCheckpointHint, [&] { s = summary_from_json(stored_json(file_, "summary")); });
  s.best_score = number("best_score");
  if (s.rows != rows) refuse(fmt::format("a summary of {} rows", rows), std::to_string(s.rows));
  if (!(s.epochs <= epoch))
    refuse(fmt::format("a summary of at most {} epochs", epoch), std::to_string(s.epochs));
  if (s.stopped != Stopped::budget)
    refuse("a fit that goes on", "one stopped by " + json_quoted(std::string(name_of(s.stopped))));
  const bool has_best = file_.tensors.contains("best.0");
  if (!(has_best == std::isfinite(s.best_score) && has_best == (s.best_epoch > 0) && s.best_epoch <= epoch))
    refuse(fmt::format("a best score of the epochs 1 to {} and its parameters, or neither", epoch),
           fmt::format("{} of epoch {}, {} parameters", s.best_score, s.best_epoch,
                       has_best ? "with" : "without"));
  return s;
}

}  // namespace slimbayes
