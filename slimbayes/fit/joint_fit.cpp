#include "slimbayes/fit/joint_fit.h"

#include <ATen/ATen.h>
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cmath>
#include <functional>
#include <iterator>
#include <set>

#include "slimbayes/core/check.h"
#include "slimbayes/fit/fit_notes.h"
#include "slimbayes/fit/fit_resolved.h"
#include "slimbayes/fit/joint/shared_network_fit.h"
#include "slimbayes/fit/joint_parts.h"
#include "slimbayes/fit/left_out.h"
#include "slimbayes/fit/target_fit.h"
#include "slimbayes/storage/atomic_file.h"
#include "slimbayes/storage/model_kind.h"
#include "slimbayes/storage/printable.h"
#include "slimbayes/train/checkpoint.h"

namespace slimbayes {

namespace {

namespace fs = std::filesystem;
using nlohmann::json;
using Words = std::vector<std::string>;

/// Fits one target; the number of the target counts from 0.
using FitOne =
    std::function<FitOutcome(size_t target, const ResolvedFit&, const Examples&, const Examples*, Callback&)>;

/// Trains the network that all targets share, or takes one that is finished.
using ShareOne = std::function<SharedNetwork(const SharedRows&, const ResolvedFit& first, Callback&)>;

/// How the parts of a fit are made: in memory or with files.
struct Makers {
  FitOne fit_one;
  ShareOne share;
};

/// What a fit of several targets works on.
struct JointData {
  const Table& table;
  const JointRequest& request;
  const Table* valid;
  Words names = targets_of(request.fit, table);
  SplitRows split = deal_targets(table, request.fit, valid != nullptr);

  TargetFit target(size_t t) const {
    return in_target(names[t], [&] { return target_fit(table, request, valid, names, t, split); });
  }
};

/// The rows of a table that count: those without any target and those of weight 0 are in no part of the fit,
/// as if they were not there.
class CountedRows {
 public:
  CountedRows(const Table& given, const FitOptions& fit) : given_(given) {
    std::vector<int64_t> known;
    for (const std::string& name : targets_of(fit, given)) {
      const std::vector<int64_t> own = known_rows(given, name).places;
      known.insert(known.end(), own.begin(), own.end());
    }
    std::ranges::sort(known);
    known.erase(std::unique(known.begin(), known.end()), known.end());
    const bool all = std::ssize(known) == given.rows;
    const Examples rows = all ? Examples(given) : Examples(take_rows(given, known));
    positive_ = positive_examples(rows, fit);
    if (positive_.some)
      weightless_note_ = weightless_note(count(rows) - std::ssize(positive_.places), count(rows),
                                         noun_of(InputKind::table), fit.weights);
    if (all) return;
    if (!positive_.some) {
      positive_ = {rows, std::move(known)};
      return;
    }
    for (int64_t& place : positive_.places) place = known[static_cast<size_t>(place)];
  }

  const Table& table() const { return positive_.some ? std::get<Table>(*positive_.some) : given_; }

  /// Returns the outcome of a fit to table() as one of the table given: its parts are rows of that table.
  JointOutcome as_given(JointOutcome out) const {
    if (!positive_.some || !out.model) return out;
    JointParts parts = out.model->parts();
    parts.split = among_all(std::move(parts.split), positive_.places);
    parts.data_hash = hash_of(Examples(given_));
    out.model = JointModel(std::move(parts));
    if (!weightless_note_.empty()) out.notes.insert(out.notes.begin(), weightless_note_);
    return out;
  }

 private:
  const Table& given_;
  PositiveExamples positive_;    // the rows that count; empty: all
  std::string weightless_note_;  // "" if no row has the weight 0
};

Words noted(const std::string& target, const Words& notes) {
  Words all;
  for (const std::string& note : notes) all.push_back(fmt::format("{}: {}", foreign_text(target), note));
  return all;
}

void add(Words& to, const Words& more) { std::ranges::copy(more, std::back_inserter(to)); }

using Given = std::vector<std::shared_ptr<const GivenNetwork>>;

/// Trains the network that all targets share. Returns what the fit of each takes from it; nothing if the
/// training was interrupted.
Given shared_by_targets(const JointData& data, const ShareOne& share, JointOutcome& out, Callback& callback) {
  const size_t all = data.names.size();
  callback.stage(fmt::format("the network of {} targets", all));
  TargetCallback own(callback, "network", 2);  // half of the time that is left
  const SharedRows rows = shared_rows(data.table, data.valid, all, [&](size_t t) { return data.target(t); });
  const SharedNetwork network = share(rows, data.target(0).request, own);
  Words notes = {network.summary.brief()};
  add(notes, network.summary.notes);
  for (const std::string& note : notes) own.note(note);
  add(out.notes, noted("network", notes));
  Given given;
  out.interrupted = network.summary.stopped == Stopped::interrupted;
  if (out.interrupted)
    callback.note("interrupted in the training of the network that all targets share: no model is made");
  else
    for (size_t t = 0; t < all; ++t) given.push_back(given_network(rows, network, t));
  return given;
}

/// Fits every target. Returns the fits' outcomes, of which the last is interrupted if the fit was.
std::vector<FitOutcome> fit_targets(const JointData& data, const FitOne& fit_one, const Given& given,
                                    JointOutcome& out, Callback& callback) {
  std::vector<FitOutcome> fits;
  const size_t all = data.names.size();
  for (size_t t = 0; t < all; ++t) {
    const std::string& name = data.names[t];
    const std::string label = fmt::format("target {} of {}: {}", t + 1, all, foreign_text(name));
    callback.stage(label);
    TargetCallback own(callback, name, all - t, label);
    TargetFit one = data.target(t);
    if (!given.empty()) give(one.request, given[t]);
    fits.push_back(in_target(
        name, [&] { return fit_one(t, one.request, one.examples, one.valid ? &*one.valid : nullptr, own); }));
    add(out.notes, noted(name, fits.back().notes));
    if (!fits.back().interrupted && fits.back().model) continue;
    out.interrupted = true;
    callback.note(fmt::format("interrupted in the target {} of {}, {}: no model of all is made", t + 1, all,
                              foreign_text(name)));
    break;
  }
  return fits;
}

/// Joins the models of all targets, and scores the held-out rows.
void join(const JointData& data, std::vector<FitOutcome> fits, JointOutcome& out) {
  std::vector<Model> models;
  for (FitOutcome& fit : fits) models.push_back(*std::move(fit.model));
  out.model = joint_model(std::move(models), data.table, data.request.fit, data.valid, data.split, out.notes);
  const auto report = [&](const Table& rows, std::optional<Evaluation> FitOutcome::*of) {
    JointReport made;
    for (const FitOutcome& fit : fits) made.targets.push_back(fit.*of);
    const JointAnswers answers = out.model->answers(Examples(rows));
    made.joint = out.model->evaluate_jointly(rows, answers, data.request.fit.level);
    return made;
  };
  if (data.valid != nullptr)
    out.valid = report(*data.valid, &FitOutcome::valid);
  else if (!data.split.valid.empty())
    out.valid = report(take_rows(data.table, data.split.valid), &FitOutcome::valid);
  if (!data.split.test.empty()) out.test = report(take_rows(data.table, data.split.test), &FitOutcome::test);
}

JointOutcome fit_all(const JointData& data, const Words& notes, const Makers& makers, Callback& callback) {
  JointOutcome out;
  out.notes = notes;
  Words told = data.split.notes;
  if (data.request.fit.device != "cpu") {
    ResolvedFit first = data.target(0).request;
    first.targets.clear();  // as a fit of one target, which says where it computes
    if (std::string note = device_note(first); !note.empty()) told.push_back(std::move(note));
  }
  add(out.notes, told);
  for (const std::string& note : told) callback.note(note);
  Given given;
  if (data.request.fit.share_network) given = shared_by_targets(data, makers.share, out, callback);
  if (out.interrupted) return out;
  std::vector<FitOutcome> fits = fit_targets(data, makers.fit_one, given, out, callback);
  if (!out.interrupted) join(data, std::move(fits), out);
  return out;
}

fs::path part_of(const fs::path& model, size_t target) {
  return model.string() + fmt::format(".target-{}", target + 1);
}

fs::path network_part(const fs::path& model) { return model.string() + ".network"; }

fs::path checkpoint_of(const fs::path& part) { return part.string() + ".ckpt"; }

/// Returns the files in which a fit of so many targets keeps its parts until the model is whole.
std::vector<fs::path> part_files(const fs::path& model, size_t targets) {
  std::vector<fs::path> parts = {network_part(model)};
  for (size_t t = 0; t < targets; ++t) parts.push_back(part_of(model, t));
  return parts;
}

/// Returns whether a fit of so many targets was ended before its model was whole.
bool unfinished(const fs::path& model, size_t targets) {
  std::error_code failed;
  return std::ranges::any_of(part_files(model, targets), [&](const fs::path& part) {
    return fs::exists(part, failed) || fs::exists(checkpoint_of(part), failed);
  });
}

void remove_parts_of(const fs::path& model, size_t targets) {
  for (const fs::path& part : part_files(model, targets)) {
    remove_file(part);
    remove_checkpoint(checkpoint_of(part));
  }
}

/// Returns the fingerprint of the whole fit: for each key of the targets' fingerprints their common value, or
/// the list of their values.
std::string joint_fingerprint(const JointData& data) {
  std::vector<json> prints;
  for (size_t t = 0; t < data.names.size(); ++t) {
    const TargetFit one = data.target(t);
    prints.push_back(
        json::parse(fit_fingerprint(one.request, {one.examples, one.valid ? &*one.valid : nullptr})));
  }
  json all = json::object();
  for (const auto& item : prints.front().items()) {
    const std::string& key = item.key();
    json values = json::array();
    for (const json& print : prints) values.push_back(print.value(key, json()));
    const bool same = std::ranges::all_of(values, [&](const json& one) { return one == values.front(); });
    all[key] = same || key == kRowsKey ? values.front() : values;
  }
  return all.dump(-1, ' ', false, json::error_handler_t::replace);
}

/// Trains the network that all targets share and writes it to its part, or goes on with what the part or its
/// checkpoint holds. Throws std::invalid_argument if that belongs to another fit.
SharedNetwork shared_in_file(const FitFile& file, const JointData& data, const SharedRows& rows,
                             const ResolvedFit& first, Callback& callback) {
  const fs::path part = network_part(file.model()), checkpoint = checkpoint_of(part);
  const std::string fingerprint = joint_fingerprint(data);
  std::error_code failed;
  if (file.resumes() && fs::exists(part, failed)) {
    const TensorFile stored = read_tensor_file(part);
    const auto found = stored.metadata.find(kFingerprint);
    check_fingerprint(
        found == stored.metadata.end() ? "" : found->second, fingerprint,
        fmt::format("'{}' to be the network of this fit, for `.resume`", foreign_text(part.string())),
        "leave `.resume` out to fit anew, or name another `.model`");
    callback.note(fmt::format("{} is finished already", foreign_text(part.string())));
    return shared_network_from(stored);
  }
  SharedNetwork network = train_on_rows(
      rows, first, {checkpoint, file.resumes(), fingerprint, file.checkpoint_every()}, callback);
  if (network.summary.stopped == Stopped::interrupted) return network;
  TensorFile stored = to_file(network);
  stored.metadata[kFingerprint] = fingerprint;
  write_tensor_file(part, stored);
  remove_checkpoint(checkpoint);
  return network;
}

/// Returns the finished model of this fit, if the file holds it. Throws std::invalid_argument if it holds
/// another.
std::optional<JointModel> finished_joint(const FitFile& file, const JointData& data) {
  std::error_code failed;
  if (!file.resumes() || !fs::exists(file.model(), failed) || unfinished(file.model(), data.names.size()))
    return std::nullopt;
  const TensorFile stored = read_tensor_file(file.model());
  const auto found = stored.metadata.find(kFingerprint);
  if (found == stored.metadata.end()) return std::nullopt;  // the model of an interrupted fit
  check_fingerprint(found->second, joint_fingerprint(data),
                    fmt::format("'{}' to be the finished model of this fit, for `.resume`",
                                foreign_text(file.model().string())),
                    "leave `.resume` out to fit anew, or name another `.model`");
  return JointModel::from_file(stored, file.model().string());
}

/// Returns the outcome of a fit whose model was finished before, with the reports of its held-out rows.
JointOutcome known_outcome(JointModel model, const JointData& data, const Words& notes) {
  JointOutcome out;
  out.notes = notes;
  const double level = data.request.fit.level;
  if (data.valid != nullptr)
    out.valid = model.evaluate(*data.valid, level);
  else if (!data.split.valid.empty())
    out.valid = model.evaluate(take_rows(data.table, data.split.valid), level);
  if (!data.split.test.empty()) out.test = model.evaluate(take_rows(data.table, data.split.test), level);
  out.model = std::move(model);
  return out;
}

}  // namespace

JointOutcome fit_joint(const Table& table, const JointRequest& request, const Table* valid,
                       const std::vector<std::string>& notes, Callback& callback) {
  check_targets_of(table, request, valid);
  const CountedRows rows(table, request.fit);
  const JointData data{rows.table(), request, valid};
  const FitOne fit_one = [](size_t, const ResolvedFit& own, const Examples& rows, const Examples* held_out,
                            Callback& of_target) {
    return fit_in_memory(own, rows, held_out, {}, of_target);
  };
  const ShareOne share = [](const SharedRows& shared, const ResolvedFit& first, Callback& own) {
    return train_on_rows(shared, first, {}, own);
  };
  return rows.as_given(fit_all(data, notes, {fit_one, share}, callback));
}

JointOutcome fit_joint(const FitFile& file, const Table& table, const JointRequest& request,
                       const Table* valid, const std::vector<std::string>& notes, Callback& callback) {
  check_targets_of(table, request, valid);
  const CountedRows rows(table, request.fit);
  const JointData data{rows.table(), request, valid};
  const std::string model = foreign_text(file.model().string());
  if (std::optional<JointModel> known = finished_joint(file, data)) {
    callback.note(fmt::format("{} is finished already; nothing to do", model));
    return known_outcome(*std::move(known), data, notes);
  }
  for (const std::string& note : notes) callback.note(note);
  if (!file.resumes() && unfinished(file.model(), data.names.size())) {
    callback.note(
        fmt::format("starting anew; {}.target-1 and the files like it, of an unfinished fit, are "
                    "removed (`.resume` goes on from them)",
                    model));
    remove_parts_of(file.model(), data.names.size());
  }
  const FitOne fit_one = [&](size_t t, const ResolvedFit& own, const Examples& rows, const Examples* held_out,
                             Callback& of_target) {
    const fs::path part = part_of(file.model(), t);
    std::error_code failed;
    // What an earlier target has not reached has no checkpoint to go on from, which needs no word.
    const bool begun = fs::exists(part, failed) || fs::exists(checkpoint_of(part), failed);
    const FitFile one(part, file.resumes() && begun, file.checkpoint_every());
    return one.fit(own, rows, held_out, {}, of_target);
  };
  const ShareOne share = [&](const SharedRows& shared, const ResolvedFit& first, Callback& own) {
    return shared_in_file(file, data, shared, first, own);
  };
  JointOutcome out = rows.as_given(fit_all(data, notes, {fit_one, share}, callback));
  if (!out.model) {
    if (unfinished(file.model(), data.names.size()))
      callback.note(fmt::format("{}.{} and the files like it are kept: `.resume` goes on from them", model,
                                request.fit.share_network ? "network" : "target-1"));
    return out;
  }
  TensorFile whole = out.model->to_file();
  whole.metadata[kFingerprint] = joint_fingerprint(data);
  write_tensor_file(file.model(), whole);
  remove_parts_of(file.model(), data.names.size());
  return out;
}

}  // namespace slimbayes
