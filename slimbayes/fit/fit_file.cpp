#include "slimbayes/fit/fit_file.h"

#include <ATen/ATen.h>
#include <ATen/Parallel.h>
#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <bit>
#include <cmath>
#include <iterator>

#include "slimbayes/catalog/call_options.h"
#include "slimbayes/core/check.h"
#include "slimbayes/data/rows/row_hash.h"
#include "slimbayes/data/stream/streamed_rows.h"
#include "slimbayes/fit/fit_notes.h"
#include "slimbayes/fit/fit_resolved.h"
#include "slimbayes/fit/joint/shared_network_fit.h"
#include "slimbayes/fit/parallel.h"
#include "slimbayes/kernels/kernels.h"
#include "slimbayes/method/trained_network.h"
#include "slimbayes/model/held_out.h"
#include "slimbayes/model/persistence.h"
#include "slimbayes/model/trust_notes.h"
#include "slimbayes/storage/atomic_file.h"
#include "slimbayes/storage/error.h"
#include "slimbayes/storage/printable.h"
#include "slimbayes/train/checkpoint.h"

namespace slimbayes {

namespace {

namespace fs = std::filesystem;
using nlohmann::json;

/// The fingerprints of a fit, as JSON texts. `fit` holds everything that decides the result; if a resume is
/// refused, the message names its keys with different values. `training` holds only what decides the training
/// (CheckpointPolicy::training): the options that act after the training are left out, so a training may be
/// resumed with other values of them.
struct Fingerprints {
  std::string fit, training;
};

/// Returns a hash of the weights of the trained network from which the fit starts; "" without such a network.
std::string network_hash(const ResolvedFit& request) {
  if (request.network == nullptr && request.given == nullptr) return "";
  const std::shared_ptr<const TrainedNetwork> start =
      request.given ? request.given->network : request.network->fitted().network();
  std::vector<int64_t> bits;
  for (const auto& [name, weight] : start->weights) {
    const at::Tensor own = weight.to(at::kDouble).contiguous();
    const auto* first = own.const_data_ptr<double>();
    std::transform(first, first + own.numel(), std::back_inserter(bits),
                   [](double value) { return std::bit_cast<int64_t>(value); });
  }
  return fmt::format("{:x}", hash_of_rows(bits));
}

/// Returns a hash of the rows in each part of a split.
std::string parts_hash(const SplitRows& split) {
  std::vector<int64_t> all;
  for (const auto* part : {&split.train, &split.valid, &split.calibration, &split.test}) {
    all.push_back(std::ssize(*part));
    std::ranges::copy(*part, std::back_inserter(all));
  }
  return fmt::format("{:x}", hash_of_rows(all));
}

Fingerprints fingerprints(const ResolvedFit& request, const FitData& data) {
  json all = options_to_json(request.fit);
  if (request.fit.calibrate_by.empty()) all.erase("calibrate_by");  // as in fits before this option
  if (request.fit.bounds.empty()) all.erase("bounds");  // checkpoints without bounds stay what they were
  const Table* const table = table_of(data.examples);
  all.update({{"data", data.hash},
              {kRowsKey, request.streamed ? 0 : count(data.examples)},
              {kColumnsKey, table ? table->names() : std::vector<std::string>()},
              {"validation data", data.valid ? hash_of(*data.valid) : ""},
              {"method", request.method->name},
              {"options", request.method->resolve(request.fit.options)},  // before the data complete them
              {"seed", request.fit.seed},
              {"tuning", request.fit.tune},
              {"network", network_hash(request)},
              {"streamed data", request.streamed ? request.streamed->table().hash : ""},
              {"shuffled rows", request.streamed ? request.streamed->window() : 0},
              {"rounding of products", kernels::rounding()},
              {"threads", request.threads > 0 ? request.threads : at::get_num_threads()}});
  if (request.dealt) all["parts of the rows"] = parts_hash(*request.dealt);
  if (!request.targets.empty()) all[kTargetsKey] = request.targets;
  const auto text = [&] { return all.dump(-1, ' ', false, json::error_handler_t::replace); };
  Fingerprints prints{text(), ""};
  for (const std::string& name : request.method->after_training) all["options"].erase(name);
  prints.training = text();
  return prints;
}

/// Throws, as together() does, unless all ranks make the same fit. Their threads and processors may differ.
void check_same(const Collective& ranks, const std::string& fingerprint, bool resume, Parallel parallel) {
  json own = json::parse(fingerprint);
  own["resume"] = resume;
  own["parallel"] = parallel;
  for (const char* may_differ : {"rounding of products", "threads"}) own.erase(may_differ);
  check_same_request(ranks, own);
}

/// Throws, as together() does, if a fit that goes on would start anew because the checkpoint lies on another
/// machine than that of rank 0.
void check_place(const Collective& ranks, const fs::path& checkpoint) {
  std::error_code absent;
  const at::Tensor all = ranks.gather(at::full({1}, fs::exists(checkpoint, absent) ? 1 : 0, at::kLong));
  together(&ranks, [&] {
    if (all[0].item<int64_t>() == 0 && all.sum().item<int64_t>() > 0)
      refuse("ranks",
             fmt::format("the checkpoint '{}' on the machine of rank 0, which reads it",
                         foreign_text(checkpoint.string())),
             fmt::format("it on that of rank {} alone", all.view({-1}).argmax().item<int64_t>()),
             "start that machine as the first one, or copy the file");
  });
}

std::optional<fs::file_time_type> stamp(const fs::path& path) {
  std::error_code failed;
  const auto time = fs::last_write_time(path, failed);
  return failed ? std::nullopt : std::optional(time);
}

/// If an older model file denies permissions to group and others, adds these to the umask of this process, so
/// that the new files deny them too.
void deny_as_before(const fs::path& model) {
  struct stat info {};
  if (::stat(model.c_str(), &info) != 0) return;
  const mode_t mask = ::umask(077);
  ::umask(mask | (~info.st_mode & 077));
}

/// Returns the finished model of the fit with this fingerprint, if the file at `path` holds it. Returns
/// nothing if there is no file, if there is a checkpoint (the fit is not finished), or if the file is from an
/// interrupted fit. Throws std::invalid_argument for the model of another fit.
std::optional<Model> finished(const fs::path& path, const fs::path& checkpoint,
                              const std::string& fingerprint) {
  std::error_code ignored;
  if (!fs::exists(path, ignored) || fs::exists(checkpoint, ignored)) return std::nullopt;
  const TensorFile file = read_tensor_file(path);
  const auto found = file.metadata.find(kFingerprint);
  if (found == file.metadata.end()) return std::nullopt;  // the model of an interrupted fit
  check_fingerprint(
      found->second, fingerprint,
      fmt::format("'{}' to be the finished model of this fit, for `.resume`", foreign_text(path.string())),
      "leave `.resume` out to fit anew, or name another `.model`; `.network_from` takes the network "
      "of a finished model");
  return Model::from_file(file, path.string());
}

/// Returns the model with the lists of rows of a streamed fit, which its file does not keep: they count the
/// rows that this process has in memory. A pass with another bound on memory may have held out others.
Model with_streamed_rows(Model model, const StreamedRows& rows) {
  SplitRows split = rows.table().split;
  if (split.streamed != model.split().streamed) return model;
  ModelParts parts = model.parts();
  split.notes = std::move(parts.split.notes);
  parts.split = std::move(split);
  return Model(std::move(parts));
}

/// Returns "m.safetensors is left as it was" or "no model is written", for messages.
std::string untouched(const fs::path& model) {
  std::error_code absent;
  return fs::exists(model, absent) ? foreign_text(model.string()) + " is left as it was"
                                   : "no model is written";
}

/// Returns whether the model may be written to `path`. The model of a finished fit may. The model of an
/// interrupted fit must be usable. If no step was made, or no validation score chose its parameters, it may
/// be worse than an older model, so it may be written only if there is none.
bool may_be_written(const Model& model, const fs::path& path) {
  const Summary& summary = model.fitted().summary();
  if (summary.stopped != Stopped::interrupted) return true;
  std::error_code absent;
  const bool chosen = summary.steps > 0 && std::isfinite(summary.best_score);
  return is_usable(summary) && (chosen || !fs::exists(path, absent));
}

}  // namespace

std::string fit_fingerprint(const ResolvedFit& request, const FitData& data) {
  return fingerprints(request, data).fit;
}

/// A callback that passes every call on to another one. It also records whether a training has done steps.
/// stop() does not show that: a series of jobs calls it while it waits for a job that may still be refused.
class FitFile::Watched : public Callback {
 public:
  explicit Watched(Callback& inner) : inner_(inner) {}
  void report(const Progress& progress) override {
    began_ = began_ || progress.step > 0;
    inner_.report(progress);
  }
  void stage(const std::string& name) override { inner_.stage(name); }
  void note(const std::string& sentence) override { inner_.note(sentence); }
  bool stop() override { return inner_.stop(); }
  bool late() override { return inner_.late(); }
  double seconds_left() const override { return inner_.seconds_left(); }
  void follow(Stopped why) override { inner_.follow(why); }
  bool began() const { return began_; }

 private:
  Callback& inner_;
  bool began_ = false;
};

FitFile::FitFile(fs::path model, bool resume, double checkpoint_every, bool writes)
    : model_(std::move(model)),
      checkpoint_(model_.string() + ".ckpt"),
      resume_(resume),
      checkpoint_every_(checkpoint_every) {
  check_options(RunOptions{.checkpoint_every = checkpoint_every}, "fit");
  if (!writes) return;
  check_writable(model_);
  check_writable(checkpoint_);
  deny_as_before(model_);
  lock_.emplace(model_);
}

/// The checkpoint file of a fit, compared with its state before the fit by its time of last change.
class FitFile::Checkpoint {
 public:
  Checkpoint(const fs::path& path, bool resume) : path_(path), resume_(resume), before_(stamp(path)) {}

  bool existed() const { return before_.has_value(); }
  bool exists() const { return stamp(path_).has_value(); }
  bool made() const { return stamp(path_) != before_; }           // this fit has written it
  bool own() const { return made() && !(resume_ && existed()); }  // written by this fit, which resumed none
  bool goes_on() const { return exists() && (resume_ || made()); }
  std::string kept() const {
    return fmt::format("{} is kept: `.resume` goes on from it", foreign_text(path_.string()));
  }

 private:
  const fs::path& path_;
  bool resume_;
  std::optional<fs::file_time_type> before_;
};

std::optional<Model> FitFile::run(const ResolvedFit& request, const FitData& data,
                                  const CheckpointPolicy& policy, const Checkpoint& checkpoint,
                                  Callback& callback) const {
  Watched watched(callback);
  std::optional<Model> model;
  try {
    model = fit_resolved(request, data, &watched, policy);
  } catch (const std::exception& error) {
    const bool invalid = dynamic_cast<const std::invalid_argument*>(&error) != nullptr;
    if (invalid && !watched.began()) {
      if (checkpoint.own()) remove_checkpoint(checkpoint_);
      throw;
    }
    // A fit that was stopped before its first validation may throw in prediction, because it has no chosen
    // parameters. That is an interruption and not a failure.
    if (!callback.stop()) {
      if (checkpoint.made()) callback.note(checkpoint.kept());
      throw;
    }
    callback.note(fmt::format("the fit was interrupted before anything was validated: {}{}",
                              untouched(model_), checkpoint.made() ? ", `.resume` goes on" : ""));
    return std::nullopt;
  }
  if (!model->interrupted() || may_be_written(*model, model_)) return model;
  callback.note(fmt::format("interrupted before anything was validated: {}{}", untouched(model_),
                            checkpoint.goes_on() ? ", `.resume` goes on" : ""));
  return std::nullopt;
}

void FitFile::write(const FitOutcome& out, const std::string& fingerprint) const {
  TensorFile file = out.model->to_file();
  if (!out.interrupted) file.metadata[kFingerprint] = fingerprint;
  write_tensor_file(model_, file);
}

void FitFile::announce(const Checkpoint& checkpoint, const std::vector<std::string>& notes,
                       Callback& callback) const {
  if (resume_ && !checkpoint.existed())
    callback.note(
        fmt::format("no checkpoint '{}' to go on from: starting anew", foreign_text(checkpoint_.string())));
  if (!resume_ && checkpoint.existed())
    callback.note(
        fmt::format("starting anew; {} of an unfinished fit will be overwritten (`.resume` goes on "
                    "from it)",
                    foreign_text(checkpoint_.string())));
  if (!lock_->held())
    callback.note("this file system has no locks: let no second fit write the same `.model`");
  for (const std::string& note : notes) callback.note(note);
}

FitOutcome FitFile::follow(const ResolvedFit& request, const FitData& data, const CheckpointPolicy& policy,
                           Callback& callback) const {
  FitOutcome out;
  if (broadcast_number(*request.ranks, int64_t{0}) == 1) return out;  // rank 0 has found the finished model
  Watched watched(callback);
  try {
    out.model = fit_resolved(request, data, &watched, policy);
    out.interrupted = out.model->interrupted();
  } catch (const JobsServed&) {  // rank 0 has the model
    out.interrupted = callback.stop();
  } catch (const std::exception& error) {
    out.interrupted = callback.stop();  // before anything was validated, as in run()
    // Before a training every rank refuses the same arguments, and rank 0 says so.
    const bool invalid = dynamic_cast<const std::invalid_argument*>(&error) != nullptr;
    if (invalid && !watched.began()) throw RanksEnded(error.what());
    if (!out.interrupted) throw;
  }
  return out;
}

FitOutcome FitFile::fit(const ResolvedFit& request, const Examples& examples, const Examples* valid,
                        const std::vector<std::string>& notes, Callback& callback) const {
  const FitData data(examples, valid);
  Fingerprints prints = fingerprints(request, data);
  const Collective* const ranks = request.ranks.get();
  internal_check(lock_.has_value() == (ranks == nullptr || ranks->rank() == 0), "FitFile",
                 "rank 0 writes the files, and no other rank");
  if (ranks != nullptr) {
    check_same(*ranks, prints.fit, resume_, request.parallel);
    if (resume_) check_place(*ranks, checkpoint_);
    // Threads and processors may differ: what the files say is what rank 0 has.
    prints = {gather_texts(*ranks, prints.fit)[0], gather_texts(*ranks, prints.training)[0]};
  }
  const CheckpointPolicy policy{checkpoint_, resume_, prints.fit, checkpoint_every_, prints.training};
  FitOutcome out;
  out.notes = notes;
  if (!lock_) return follow(request, data, policy, callback);
  if (resume_) out.model = finished(model_, checkpoint_, prints.fit);
  if (request.ranks != nullptr) broadcast_number(*request.ranks, int64_t{out.model.has_value()});
  if (out.model) {
    callback.note(fmt::format("{} is finished already; nothing to do", foreign_text(model_.string())));
    remove_parts(checkpoint_);  // a kill may have left them
    if (request.streamed) out.model = with_streamed_rows(*std::move(out.model), *request.streamed);
    score_held_out(out, data, request.fit.level);
    return out;
  }
  const Checkpoint checkpoint(checkpoint_, resume_);
  announce(checkpoint, notes, callback);
  out.model = run(request, data, policy, checkpoint, callback);
  out.interrupted = !out.model || out.model->interrupted();
  if (!out.model) return out;
  const bool goes_on = checkpoint.goes_on();
  try {  // everything that may fail comes before the write
    score_held_out(out, data, request.fit.level);
    write(out, prints.fit);
  } catch (...) {  // a failure after the training keeps the checkpoint
    if (checkpoint.exists()) callback.note(checkpoint.kept());
    throw;
  }
  for (const std::string& note : out.notes) callback.note(note);
  if (out.interrupted)
    callback.note(fmt::format("interrupted; {} holds what was fitted so far{}", foreign_text(model_.string()),
                              goes_on ? ", `.resume` goes on" : ""));
  else
    remove_checkpoint(checkpoint_);
  return out;
}

}  // namespace slimbayes
