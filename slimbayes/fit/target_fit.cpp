#include "slimbayes/fit/target_fit.h"

#include <fmt/format.h>

#include <algorithm>
#include <iterator>
#include <utility>

#include "slimbayes/catalog/fit_checks.h"
#include "slimbayes/core/check.h"
#include "slimbayes/core/device.h"
#include "slimbayes/data/table/cell.h"
#include "slimbayes/encoding/target_cells.h"
#include "slimbayes/fit/joint/shared_network_fit.h"
#include "slimbayes/fit/kept_classes.h"
#include "slimbayes/fit/left_out.h"

namespace slimbayes {

namespace {

using Words = std::vector<std::string>;

bool holds(const Words& words, const std::string& word) {
  return std::ranges::find(words, word) != words.end();
}

/// Refuses what a fit of several targets cannot do, whatever the targets are.
void check_inputs_of_targets(const FitOptions& fit, bool own_valid) {
  const InputKind kind = input_kind(fit);
  check(kind == InputKind::table, "fit", "the rows of a table as inputs for several targets",
        kind == InputKind::windows ? "`.window`"
        : kind == InputKind::text  ? "`.text`"
                                   : "images",
        "name one column in `.target`");
  check(fit.network_from.empty(), "fit", "several targets without `.network_from`", "it",
        "a network answers one target; name one column in `.target`");
  check(fit.likelihood != LikelihoodKind::cox, "fit", "several targets for each row", "`.likelihood=cox`",
        "events have no target");
  check(fit.calibrate_by.empty(), "fit", "several targets without `.calibrate_by`", "it",
        "their joint regions have one calibration for all rows; name one column in `.target`");
  check(own_valid || fit.valid_fraction > 0 || fit.calibrate != "none", "fit",
        "held-out rows, whose errors tell how several targets are correlated", "`.valid_fraction=0`",
        "raise it, or give `.calibrate=conformal`");
}

void check_names_of_targets(const Table& table, const FitOptions& fit, const Words& names) {
  for (auto name = names.begin(); name != names.end(); ++name) {
    if (std::find(names.begin(), name, *name) != name)
      refuse("fit", "each column once in `.target`", in_quotes(*name) + " twice");
    check_target_column(table, *name);
    const char* const also = holds(fit.ignore, *name)  ? "`.ignore`"
                             : holds(fit.time, *name)  ? "`.time`"
                             : holds(fit.group, *name) ? "`.group`"
                             : *name == fit.weights    ? "`.weights`"
                                                       : nullptr;
    if (also != nullptr)
      refuse("fit", fmt::format("a target {} that no other option names", in_quotes(*name)), also,
             "leave it out there, or out of `.target`");
  }
}

}  // namespace

FitOptions options_of_target(const FitOptions& options, const Words& names, size_t target) {
  FitOptions own = options;
  own.target = names[target];
  for (const std::string& name : names)
    if (name != own.target && !holds(own.ignore, name)) own.ignore.push_back(name);
  std::erase_if(own.categorical,
                [&](const std::string& name) { return name != own.target && holds(names, name); });
  return own;
}

TargetFit target_fit(const Table& table, const JointRequest& request, const Table* valid, const Words& names,
                     size_t target, const SplitRows& split) {
  const auto known = [&](const Table& of, const char* rows) {
    KnownRows out = known_rows(of, names[target]);
    if (out.places.empty())
      refuse("fit", fmt::format("{} with a value in the target {}", rows, in_quotes(names[target])),
             fmt::format("{} rows without one", of.rows), "check the column's name");
    return out;
  };
  KnownRows own = known(table, "rows");
  SplitRows dealt = among_places(split, own.places);
  dealt.notes.clear();  // they are of the whole table
  Examples examples = std::move(own.table);
  FitOptions options = options_of_target(request.fit, names, target);
  const bool shares = std::exchange(options.share_network, false);  // which is not for a fit of one target
  ResolvedFit resolved = resolve_fit(examples, std::move(options), request.choices);
  resolved.fit.share_network = shares;
  const TaskKind task = task_asked(examples, resolved.fit);
  if (shares) check_shares_network(resolved, task);
  // The column decides the task here, so that a wrong method is refused before any target is fitted.
  check_method(*resolved.method, resolved.options, resolved.kind, task);
  if (const double limit = resolved.options.value("time_limit", 0.0); limit > 0)
    resolved.options["time_limit"] = limit / static_cast<double>((shares ? 2 : 1) * names.size());
  resolved.targets = names;
  resolved.dealt = std::make_shared<const SplitRows>(std::move(dealt));
  std::optional<Examples> held_out;
  if (valid != nullptr) held_out = known(*valid, "validation rows").table;
  return {std::move(examples), std::move(held_out), std::move(resolved)};
}

void check_targets_of(const Table& table, const JointRequest& request, const Table* valid) {
  const FitOptions& fit = request.fit;
  device_of(fit.device);  // throws once for all targets
  const Words names = targets_of(fit, table);
  if (names.size() < 2)
    refuse("fit_joint", "several columns in `.target`", names.empty() ? "none" : in_quotes(names.front()),
           "fit_model fits one target");
  check_inputs_of_targets(fit, valid != nullptr);
  check_names_of_targets(table, fit, names);
  for (size_t t = 0; t < names.size(); ++t)
    in_target(names[t], [&] { return target_fit(table, request, valid, names, t, {}).request.kind; });
}

SplitRows deal_targets(const Table& table, const FitOptions& options, bool own_valid) {
  const Words names = targets_of(options, table);
  FitOptions first = options_of_target(options, names, 0);
  if (own_valid) first.valid_fraction = 0;
  const Examples rows = table;
  SplitRows split = split_examples(rows, first);
  for (size_t t = 0; t < names.size(); ++t)
    split.notes.push_back(keep_classes_in_training(rows, options_of_target(options, names, t), split));
  std::erase(split.notes, "");
  return split;
}

TargetCallback::TargetCallback(Callback& inner, std::string target, size_t targets, std::string label)
    : inner_(inner),
      target_(foreign_text(target)),
      label_(label.empty() ? target_ : std::move(label)),
      share_(inner.seconds_left() / static_cast<double>(targets)) {}

void TargetCallback::report(const Progress& progress) { inner_.report(progress); }

void TargetCallback::stage(const std::string& name) { inner_.stage(fmt::format("{}, {}", label_, name)); }

void TargetCallback::note(const std::string& sentence) {
  inner_.note(fmt::format("{}: {}", target_, sentence));
}

bool TargetCallback::stop() { return inner_.stop(); }

bool TargetCallback::late() { return inner_.late() || own_seconds_left() <= 0; }

double TargetCallback::seconds_left() const { return std::min(inner_.seconds_left(), own_seconds_left()); }

void TargetCallback::follow(Stopped why) { inner_.follow(why); }

double TargetCallback::own_seconds_left() const {
  return share_ - std::chrono::duration<double>(std::chrono::steady_clock::now() - began_).count();
}

}  // namespace slimbayes
