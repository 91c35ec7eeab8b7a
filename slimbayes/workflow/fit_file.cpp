#include "slimbayes/workflow/fit_file.h"

#include <ATen/Parallel.h>
#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cmath>
#include <functional>
#include <iterator>

#include "slimbayes/core/check.h"
#include "slimbayes/storage/atomic_file.h"
#include "slimbayes/storage/error.h"
#include "slimbayes/train/checkpoint.h"
#include "slimbayes/workflow/fit_notes.h"
#include "slimbayes/workflow/persistence.h"
#include "slimbayes/workflow/trust_notes.h"

namespace slimbayes {

namespace {

namespace fs = std::filesystem;
using nlohmann::json;

constexpr const char* kFingerprint = "fingerprint";

/// The fingerprints of a fit: of all that decides the result, under the names that the message of a refused
/// resume uses, and of what decides the training (CheckpointPolicy::training).
struct Fingerprints {
  std::string fit, training;
};

Fingerprints fingerprints(const FitOptions& o, const Examples& train, const Examples* valid) {
  const MethodInfo& method = find_method(o.method);
  json all = options_to_json(o);
  all.update({{"data", hash_of(train)},
              {"validation data", valid ? hash_of(*valid) : ""},
              {"method", o.method},
              {"options", method.resolve(o.options)},
              {"seed", o.seed},
              {"tuning", o.tune},
              {"threads", at::get_num_threads()}});
  const auto text = [&] { return all.dump(-1, ' ', false, json::error_handler_t::replace); };
  Fingerprints prints{text(), ""};
  for (const std::string& name : method.after_training) all["options"].erase(name);
  prints.training = text();
  return prints;
}

std::optional<fs::file_time_type> stamp(const fs::path& path) {
  std::error_code failed;
  const auto time = fs::last_write_time(path, failed);
  return failed ? std::nullopt : std::optional(time);
}

/// Checks that the model and its checkpoint can be written. Permissions that an older model file denies to
/// group and others are added to the umask of this process. Returns `model`.
const fs::path& deny_as(const fs::path& model) {
  check_writable(model);
  check_writable(model.string() + ".ckpt");
  struct stat info {};
  if (::stat(model.c_str(), &info) != 0) return model;
  const mode_t mask = ::umask(077);
  ::umask(mask | (~info.st_mode & 077));
  return model;
}

/// Returns the model that a finished fit with this fingerprint left, if there is one. Throws
/// std::invalid_argument for the model of another fit.
std::optional<Model> finished(const fs::path& path, const fs::path& checkpoint,
                              const std::string& fingerprint) {
  std::error_code ignored;
  if (!fs::exists(path, ignored) || fs::exists(checkpoint, ignored)) return std::nullopt;
  const TensorFile file = read_tensor_file(path);
  const auto found = file.metadata.find(kFingerprint);
  if (found == file.metadata.end()) return std::nullopt;  // the model of an interrupted fit
  check_fingerprint(
      found->second, fingerprint,
      fmt::format("'{}' to be the finished model of this fit, for --resume", path.string()),
      "leave --resume out to fit anew, or name another --model; --network-from takes the network "
      "of a finished model");
  return Model::from_file(file, path.string());
}

/// Returns "m.safetensors is left as it was" or "no model is written".
std::string untouched(const fs::path& model) {
  std::error_code absent;
  return fs::exists(model, absent) ? model.string() + " is left as it was" : "no model is written";
}

/// Whether the model may be written. An interrupted one may if validation chose its parameters. Without
/// validation rows it may be worse than an older model, so it is written only if there is none.
bool is_founded(const Model& model, const fs::path& path) {
  const Summary& summary = model.fitted().summary();
  std::error_code absent;
  const bool replaces_none = summary.valid_rows == 0 && !fs::exists(path, absent);
  return summary.stopped != Stopped::interrupted ||
         (summary.steps > 0 && (std::isfinite(summary.best_score) || replaces_none));
}

}  // namespace

/// Passes every call on, and records whether a training has begun: the trainer calls stop() before every
/// step.
class FitFile::Watched : public Callback {
 public:
  explicit Watched(Callback& inner) : inner_(inner) {}
  void report(const Progress& progress) override { inner_.report(progress); }
  void stage(const std::string& name) override { inner_.stage(name); }
  void note(const std::string& sentence) override { inner_.note(sentence); }
  bool stop() override {
    began_ = true;
    return inner_.stop();
  }
  bool began() const { return began_; }

 private:
  Callback& inner_;
  bool began_ = false;
};

json report_on(const Model& model, const Examples& examples, double level, std::vector<std::string>& notes) {
  if (count(examples) == 0) return {};
  std::vector<BadRow> bad;
  json report = model.evaluate(examples, level, &bad);
  count_inputs(model, examples, level, report);
  if (!bad.empty()) notes.push_back(bad_examples_text(examples, bad, "left out of the report"));
  return report;
}

Examples part_of(const Model& model, const Examples& examples, const std::string& part) {
  const SplitRows& known = model.split();
  check(!(known.train.empty() && known.valid.empty() && known.test.empty()), "evaluate",
        "a model as it was fitted, for --split", "one that gave up its split in an update, forget or merge",
        "score with the model of the fit, or leave --split out");
  check(hash_of(examples) == model.data_hash(), "evaluate",
        "the data that the model was fitted on, for --split",
        fmt::format("others, '{}'", source_of(examples)), "leave --split out to score everything");
  const SplitRows& split = model.split();
  const auto& rows = part == "train"         ? split.train
                     : part == "valid"       ? split.valid
                     : part == "calibration" ? split.calibration
                                             : split.test;
  check(
      !rows.empty(), "evaluate", fmt::format("a model that was fitted with {} rows", part), "one without",
      part == "calibration" ? "fit with --calibrate conformal" : fmt::format("fit with --{}-fraction", part));
  return take(examples, rows);
}

FitFile::FitFile(fs::path model, bool resume, double checkpoint_every)
    : model_(std::move(model)),
      checkpoint_(model_.string() + ".ckpt"),
      resume_(resume),
      checkpoint_every_(checkpoint_every),
      lock_(deny_as(model_)) {}

FitOutcome FitFile::fit(const Examples& examples, const FitOptions& given, const Examples* valid,
                        std::vector<std::string> notes, Callback& callback) const {
  FitOptions options = given;
  const MethodInfo& info = method_for(examples, given);
  options.method = info.name;
  const Fingerprints prints = fingerprints(options, examples, valid);
  const std::string& print = prints.fit;
  FitOutcome out;
  const auto kept = [&] { return fmt::format("{} is kept: --resume goes on from it", checkpoint_.string()); };
  const auto conclude = [&](const Model& model) {
    out.notes = notes;
    const auto part = [&](const std::vector<int64_t>& rows) {
      return report_on(model, take(examples, rows), options.level, out.notes);
    };
    const auto add = [&](const std::vector<std::string>& more) {
      std::ranges::copy(more, std::back_inserter(out.notes));
    };
    if (out.interrupted) return add(fit_notes(model, {}, {}, options.level));
    out.valid = valid != nullptr ? report_on(model, model.examples(*valid, true), options.level, out.notes)
                                 : part(model.split().valid);
    out.test = part(model.split().test);
    add(fit_notes(model, out.valid, out.test, options.level));
    add(out.test.is_null() ? persistence_notes(out.valid, windows_of_part(out.valid, "validation"))
                           : persistence_notes(out.test, windows_of_part(out.test, "test")));
  };

  if (resume_) {
    if (auto model = finished(model_, checkpoint_, print)) {
      callback.note(fmt::format("{} is finished already; nothing to do", model_.string()));
      conclude(*model);
      out.model = std::move(model);
      return out;
    }
  }
  const auto before = stamp(checkpoint_);
  if (before.has_value() != resume_)
    callback.note(resume_
                      ? fmt::format("no checkpoint '{}' to go on from: starting anew", checkpoint_.string())
                      : fmt::format("starting anew; {} of an unfinished fit will be overwritten "
                                    "(--resume goes on from it)",
                                    checkpoint_.string()));
  if (!lock_.held()) callback.note("this file system has no locks: let no second fit write the same --model");
  for (const std::string& note : notes) callback.note(note);

  Watched watched(callback);
  const auto made = [&] { return stamp(checkpoint_) != before; };
  try {
    out.model = fit_model(examples, given, valid, &watched,
                          {checkpoint_, resume_, print, checkpoint_every_, prints.training});
  } catch (const std::exception& error) {
    const bool invalid = dynamic_cast<const std::invalid_argument*>(&error) != nullptr;
    if (invalid && !watched.began()) {
      if (made() && !(resume_ && before)) remove_checkpoint(checkpoint_);
      throw;
    }
    // A fit that was stopped early may fail when it predicts with parameters that were never selected.
    if (callback.stop()) {
      out.interrupted = true;
      callback.note(fmt::format("the fit was interrupted before anything was validated: {}{}",
                                untouched(model_), made() ? ", --resume goes on" : ""));
      return out;
    }
    if (made()) callback.note(kept());
    throw;
  }
  const Model& model = *out.model;
  const bool goes_on = stamp(checkpoint_) && (resume_ || made());
  const std::string advice = goes_on ? ", --resume goes on" : "";
  out.interrupted = model.interrupted();
  if (out.interrupted && !is_founded(model, model_)) {
    callback.note(fmt::format("interrupted before anything was validated: {}{}", untouched(model_), advice));
    out.model.reset();
    return out;
  }
  try {  // everything that may fail comes before the write
    conclude(model);
    TensorFile file = model.to_file();
    if (!out.interrupted) file.metadata[kFingerprint] = print;
    write_tensor_file(model_, file);
  } catch (...) {  // a failure after the training keeps the checkpoint
    if (stamp(checkpoint_)) callback.note(kept());
    throw;
  }
  for (const std::string& note : out.notes) callback.note(note);
  if (out.interrupted)
    callback.note(fmt::format("interrupted; {} holds the best so far{}", model_.string(), advice));
  else
    remove_checkpoint(checkpoint_);
  return out;
}

}  // namespace slimbayes
