#include "slimbayes/train/checkpoint.h"

#include <ATen/ATen.h>
#include <ATen/core/grad_mode.h>
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <utility>

#include "slimbayes/core/check.h"
#include "slimbayes/core/device.h"
#include "slimbayes/core/stored.h"
#include "slimbayes/storage/atomic_file.h"
#include "slimbayes/storage/error.h"
#include "slimbayes/storage/json_depth.h"
#include "slimbayes/storage/printable.h"
#include "slimbayes/storage/tensor_file.h"
#include "slimbayes/train/checkpoint_reader.h"
#include "slimbayes/train/rank_files.h"

namespace slimbayes {

namespace fs = std::filesystem;

namespace {

constexpr int kSavingShare = 20;  // a pause lasts at least this many times its save, so saving takes 5 %
constexpr int kRarest = 10;       // longest such pause, as a multiple of every_seconds

/// Returns whether `name` is `stem` followed by numbers, such as "m.ckpt.3" or "m.ckpt.3.1" for "m.ckpt".
bool is_part(const std::string& name, const std::string& stem) {
  return name.size() > stem.size() + 1 && name.starts_with(stem + ".") &&
         name.find_first_not_of("0123456789.", stem.size()) == std::string::npos;
}

/// Formats a double so that it reads back to the same bits, also NaN and infinities, which JSON lacks.
std::string exact(double x) { return fmt::format("{:a}", x); }

/// Returns the JSON object with which a fingerprint starts. The text that Jobs appends to a fingerprint,
/// such as ", ensemble 3", is left out. Returns a discarded value (is_discarded()) if there is no JSON.
nlohmann::json parts_of(const std::string& fingerprint) {
  constexpr int kDeepest = 32;
  const std::string front = fingerprint.substr(0, fingerprint.rfind('}') + 1);
  return nlohmann::json::parse(nests_at_most(front, kDeepest) ? front : "", nullptr, false);
}

/// Returns the names of two lists that differ, "('b', not 'c')", or how many there are, "(2, not 3)".
std::string unlike_names(const nlohmann::json& found, const nlohmann::json& own) {
  if (found.size() != own.size()) return fmt::format(" ({}, not {})", found.size(), own.size());
  const auto [other, mine] = std::ranges::mismatch(found, own);
  if (other == found.end() || !other->is_string() || !mine->is_string()) return "";
  return fmt::format(" ('{}', not '{}')", foreign_text(other->get<std::string>()),
                     foreign_text(mine->get<std::string>()));
}

/// Returns the name of a key in which two fingerprints differ and, of the data, how far it is known what
/// differs. Returns "" for a hash that differs for a reason that another key tells.
std::string difference_in(const std::string& key, const nlohmann::json& found, const nlohmann::json& own) {
  const auto differs = [&](const char* other) {
    return found.value(other, nlohmann::json()) != own.value(other, nlohmann::json());
  };
  if (key == "data" || key == "streamed data") {
    if (differs(kRowsKey) || differs(kColumnsKey) || (key == "data" && differs("streamed data"))) return "";
    return key + (key == "data" ? " (the cells, or the order of the rows)" : " (the rows or their order)");
  }
  const nlohmann::json &other = found.value(key, nlohmann::json()), &mine = own.at(key);
  if (key == kRowsKey && other.is_number() && mine.is_number())
    return fmt::format("{} ({}, not {})", key, other.dump(), mine.dump());
  if (key == kColumnsKey && other.is_array() && mine.is_array()) return key + unlike_names(other, mine);
  return key;
}

/// Returns the names of the targets of a fit, quoted and with commas between them, and their number. Returns
/// "" if the fingerprint does not tell them.
std::pair<std::string, size_t> targets_in(const nlohmann::json& print) {
  if (!print.is_object()) return {};
  const auto several = print.find(kTargetsKey), one = print.find(kTargetKey);
  const bool has_several = several != print.end() && several->is_array();
  const nlohmann::json names = has_several          ? *several
                               : one != print.end() ? nlohmann::json::array({*one})
                                                    : nlohmann::json::array();
  std::string listed;
  for (const nlohmann::json& name : names) {
    if (!name.is_string() || name.get_ref<const std::string&>().empty()) return {};
    listed += fmt::format("{}'{}'", listed.empty() ? "" : ", ", foreign_text(name.get<std::string>()));
  }
  return {listed, names.size()};
}

/// Refuses the file of a fit of other targets: it names those of both. Other differences follow from this
/// one, such as the columns that are no inputs.
void check_targets(const nlohmann::json& found, const nlohmann::json& own, const std::string& what,
                   const std::string& hint) {
  const auto [theirs, their_count] = targets_in(found);
  const auto [ours, our_count] = targets_in(own);
  if (theirs.empty() || ours.empty() || theirs == ours) return;
  const auto named = [](const std::string& names, size_t count) {
    return (count == 1 ? "target " : "targets ") + names;
  };
  refuse("train", what,
         fmt::format("one of the {}, where this fit is of the {}", named(theirs, their_count),
                     named(ours, our_count)),
         fmt::format("name the same in `.target`{}, or {}", their_count > 1 ? ", in that order" : "", hint));
}

/// Returns the names of the keys in which two fingerprints differ, comma-separated. If one of them is not an
/// object, returns a general list. If no key differs, returns "kind": the fingerprints then differ in the
/// text that Jobs appends.
std::string difference(const nlohmann::json& found, const nlohmann::json& own) {
  std::string names;
  if (!found.is_object() || !own.is_object()) return "data, options, seed or threads";
  for (const auto& item : own.items()) {
    if (found.value(item.key(), nlohmann::json()) == item.value()) continue;
    const std::string name = difference_in(item.key(), found, own);
    if (!name.empty()) names += (names.empty() ? "" : ", ") + name;
  }
  return names.empty() ? "kind" : names;
}

}  // namespace

at::Tensor& LossSum::on_device_of(const at::Tensor& x) {
  if (!pending_.defined()) pending_ = at::full({}, sum_, doubles_like(x));
  return pending_;
}

void LossSum::add(const StepLoss& loss) {
  const at::NoGradGuard no_grad;
  if (const at::Tensor& x = loss.pending(); x.defined())
    on_device_of(x).add_(x.reshape({}));
  else if (pending_.defined())
    pending_.add_(loss.value());
  else
    sum_ += loss.value();
}

void LossSum::watch(const at::Tensor& x) {
  const at::NoGradGuard no_grad;
  on_device_of(x).add_(x.reshape({}).mul(0));  // 0, or NaN
}

double LossSum::value() {
  if (pending_.defined()) sum_ = std::exchange(pending_, at::Tensor()).item<double>();
  return sum_;
}

void check_fingerprint(const std::string& found, const std::string& own, const std::string& what,
                       const std::string& hint) {
  if (found == own) return;
  const nlohmann::json theirs = parts_of(found), ours = parts_of(own);
  check_targets(theirs, ours, what, hint);
  refuse("train", what, "one of another: " + difference(theirs, ours), hint);
}

void remove_parts(const fs::path& path) {
  std::error_code failed;
  const fs::path folder = path.has_parent_path() ? path.parent_path() : fs::path(".");
  std::vector<fs::path> parts;
  for (const auto& entry : fs::directory_iterator(folder, failed)) {
    if (is_part(entry.path().filename().string(), path.filename().string())) parts.push_back(entry.path());
  }
  for (const fs::path& part : parts) remove_file(part);
}

void remove_checkpoint(const fs::path& path) {
  remove_file(path);
  remove_parts(path);
}

bool can_be_saved(const TrainProblem& problem, const AdamW& optimiser) {
  const auto all = [](const at::Tensor& x) { return at::isfinite(x).all().item<bool>(); };
  return std::ranges::all_of(changing_tensors(problem), all) && std::ranges::all_of(optimiser.state(), all);
}

void save_checkpoint(const CheckpointPolicy& policy, const TrainProblem& problem, const AdamW& optimiser,
                     const TrainState& state) {
  TensorFile file;
  file.metadata["kind"] = "checkpoint";
  file.metadata["fingerprint"] = policy.of_training();
  file.metadata["step"] = std::to_string(state.step);
  file.metadata["loss"] = exact(state.loss);
  file.metadata["seconds"] = exact(state.seconds);
  file.metadata["best_score"] = exact(state.summary.best_score);
  Summary summary = state.summary;
  summary.best_score = 0;
  file.metadata["summary"] = to_json(summary).dump();
  const std::vector<at::Tensor> values = changing_tensors(problem);
  for (size_t i = 0; i < values.size(); ++i) {
    file.tensors[fmt::format("value.{}", i)] = to_stored(values[i]);
    if (!state.best.empty()) file.tensors[fmt::format("best.{}", i)] = to_stored(state.best[i]);
  }
  file.tensors["since_best"] = to_stored(at::tensor(state.since_best, at::kDouble));
  file.tensors["scores"] = to_stored(at::tensor(state.scores, at::kDouble));
  std::vector<at::Tensor> moments = optimiser.state();
  for (size_t i = 0; i < moments.size(); ++i)
    file.tensors[fmt::format("optimiser.{}", i)] = to_stored(moments[i]);
  write_tensor_file(policy.path, file);
}

CheckpointWriter::CheckpointWriter(const CheckpointPolicy& policy, const TrainProblem& problem,
                                   const AdamW& optimiser)
    : policy_(policy), problem_(problem), optimiser_(optimiser) {
  constexpr double kLongest = 1e8;  // seconds; ten times as many nanoseconds still fit an int64
  every_ = std::chrono::duration_cast<Clock::duration>(
      std::chrono::duration<double>(std::clamp(policy.every_seconds, 0.0, kLongest)));
  next_ = Clock::now() + every_;
}

bool CheckpointWriter::writes() const { return !policy_.path.empty() && RankFiles(problem_.ranks).writes(); }

bool CheckpointWriter::write(TrainState state, Callback* callback) {
  if (!writes() || !can_be_saved(problem_, optimiser_)) return false;
  const auto began = Clock::now();
  // `stopped` is not saved: a resumed run reaches the same decision from the other fields.
  state.summary.stopped = Stopped::budget;
  bool written = true;
  try {
    save_checkpoint(policy_, problem_, optimiser_, state);
  } catch (const DataError& error) {
    written = false;
    if (callback) callback->note(fmt::format("{}; the fit goes on and tries again later", error.what()));
  }
  const auto now = Clock::now();
  next_ = now + std::max(every_, std::min(kSavingShare * (now - began), kRarest * every_));
  return written;
}

std::optional<TrainState> load_checkpoint(const CheckpointPolicy& policy, TrainProblem& problem,
                                          AdamW& optimiser, int64_t steps, int64_t steps_per_epoch) {
  const RankFiles files(problem.ranks);
  if (!policy.resume || policy.path.empty() || !files.exists(policy.path)) return std::nullopt;
  const TensorFile file = files.read(policy.path);
  const CheckpointReader read(file, policy.path);
  check_fingerprint(read.text("fingerprint"), policy.of_training(),
                    fmt::format("{} of this fit", foreign_text(checkpoint_name(policy.path))),
                    "repeat the first command with `.resume`, or remove the file");
  if (read.text("kind") != "checkpoint") read.refuse("the kind 'checkpoint'", "another");
  TrainState state;
  state.step = read.count("step", 0, steps);
  const int64_t epoch = state.step / steps_per_epoch;
  state.loss = read.number("loss");
  state.since_best = read.numbers("since_best", epoch);
  state.scores = read.numbers("scores", epoch);
  state.seconds = read.number("seconds");
  if (!(std::isfinite(state.seconds) && state.seconds >= 0)) read.refuse("seconds of at least 0", "others");
  state.summary = read.summary(problem.rows, epoch);
  const std::vector<at::Tensor> own = changing_tensors(problem);
  state.best = read.best(own);
  std::vector<at::Tensor> values;
  for (size_t i = 0; i < own.size(); ++i) values.push_back(read.like(fmt::format("value.{}", i), own[i]));
  const std::vector<at::Tensor> moments = read.moments(optimiser.state());
  // Problem and optimiser change only after every value of the file has been checked.
  for (size_t i = 0; i < values.size(); ++i) own[i].copy_(values[i]);
  optimiser.restore(moments);
  return state;
}

}  // namespace slimbayes
