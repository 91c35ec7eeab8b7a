#include "slimbayes/train/checkpoint.h"

#include <ATen/ATen.h>
#include <fmt/format.h>

#include "slimbayes/core/check.h"
#include "slimbayes/core/stored.h"
#include "slimbayes/storage/tensor_file.h"

namespace slimbayes {

namespace {

/// A double as text that reads back to the same bits, NaN and infinities included (JSON has none of them).
std::string exact(double x) { return fmt::format("{:a}", x); }

}  // namespace

void save_checkpoint(const CheckpointPolicy& policy, const TrainProblem& problem, const AdamW& optimiser,
                     const TrainState& state) {
  TensorFile file;
  file.metadata["kind"] = "checkpoint";
  file.metadata["fingerprint"] = policy.fingerprint;
  file.metadata["epoch"] = std::to_string(state.epoch);
  file.metadata["rounds_since_best"] = std::to_string(state.rounds_since_best);
  file.metadata["seconds"] = exact(state.seconds);
  file.metadata["best_score"] = exact(state.summary.best_score);
  Summary summary = state.summary;
  summary.best_score = 0;
  file.metadata["summary"] = to_json(summary).dump();
  for (size_t i = 0; i < problem.groups.size(); ++i) {
    file.tensors[fmt::format("value.{}", i)] = to_stored(problem.groups[i].value);
    if (!state.best.empty()) file.tensors[fmt::format("best.{}", i)] = to_stored(state.best[i]);
  }
  std::vector<at::Tensor> moments = optimiser.state();
  for (size_t i = 0; i < moments.size(); ++i)
    file.tensors[fmt::format("optimiser.{}", i)] = to_stored(moments[i]);
  write_tensor_file(policy.path, file);
}

std::optional<TrainState> load_checkpoint(const CheckpointPolicy& policy, TrainProblem& problem,
                                          AdamW& optimiser) {
  if (!policy.resume || policy.path.empty() || !std::filesystem::exists(policy.path)) return std::nullopt;
  TensorFile file = read_tensor_file(policy.path);
  check(stored_text(file, "fingerprint") == policy.fingerprint, "train",
        fmt::format("the checkpoint '{}' of this fit", policy.path.string()),
        "one of other data, options, seed or threads",
        "repeat the first command with --resume, or remove the file");
  TrainState state;
  state.epoch = std::stoll(stored_text(file, "epoch"));
  state.rounds_since_best = std::stoll(stored_text(file, "rounds_since_best"));
  state.seconds = std::strtod(stored_text(file, "seconds").c_str(), nullptr);
  state.summary = summary_from_json(stored_json(file, "summary"));
  state.summary.best_score = std::strtod(stored_text(file, "best_score").c_str(), nullptr);
  bool has_best = file.tensors.contains("best.0");
  for (size_t i = 0; i < problem.groups.size(); ++i) {
    at::Tensor value = stored_tensor(file, fmt::format("value.{}", i));
    check_shape(value, problem.groups[i].value.sizes(), "train", "the checkpoint's parameters");
    problem.groups[i].value.copy_(value);
    if (has_best) state.best.push_back(stored_tensor(file, fmt::format("best.{}", i)));
  }
  std::vector<at::Tensor> moments;
  for (size_t i = 0; i < optimiser.state().size(); ++i)
    moments.push_back(stored_tensor(file, fmt::format("optimiser.{}", i)));
  optimiser.restore(moments);
  return state;
}

}  // namespace slimbayes
