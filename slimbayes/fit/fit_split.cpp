#include "slimbayes/fit/fit_split.h"

#include <ATen/ATen.h>
#include <fmt/format.h>

#include <algorithm>
#include <set>

#include "slimbayes/answers/conformal.h"
#include "slimbayes/core/check.h"
#include "slimbayes/data/stream/streamed_rows.h"
#include "slimbayes/density/conformal_rank.h"
#include "slimbayes/encoding/target.h"
#include "slimbayes/fit/kept_classes.h"
#include "slimbayes/fit/left_out.h"
#include "slimbayes/fit/network_at_hand.h"
#include "slimbayes/model/model_weights.h"

namespace slimbayes {

namespace {

/// Returns the group of each calibration row, where rows with identical inputs share a group; empty without
/// calibration. Throws std::invalid_argument if there are too few groups for an interval of
/// FitOptions::level, so that this is known before the fit.
std::vector<int64_t> calibration_groups(const Examples& examples, const FitOptions& fit,
                                        const SplitRows& split) {
  if (fit.calibrate == "none") return {};
  check(fit.calibrate == "conformal" || fit.calibrate == "adaptive", "fit",
        "a calibration 'conformal', 'adaptive' or 'none'", fit.calibrate);
  const RowGroups all = groups_of(examples, fit);
  const std::vector<int64_t> groups = groups_among(all, split.calibration);
  int64_t units = groups.empty() ? 0 : 1 + *std::ranges::max_element(groups);
  if (const at::Tensor weights = row_weights(examples, fit); weights.defined() && !groups.empty()) {
    ConformalScores counted(at::zeros({std::ssize(groups)}, at::kDouble));
    counted.weight =
        conformal_weights(weights.index_select(0, at::tensor(split.calibration, at::kLong)), groups,
                          conformal_weight_of(fit, counts_inputs_once(fit, all, groups)));
    units = counted.units();
  }
  check_conformal_rows(units, fit.level, static_cast<int64_t>(groups.size()));
  return groups;
}

/// Throws std::invalid_argument for fewer than two training rows, or if the user set the method's rank (the
/// option with OptionDoc::at_most_rows) above the number of training rows. The default rank may exceed it.
void check_training(const MethodInfo& info, const nlohmann::json& options, const SplitRows& split) {
  check(train_rows(split) > 1, "fit", "at least two training rows", "one",
        "give more rows, or lower the fractions");
  for (const OptionDoc& doc : options_of(info, options)) {
    if (!doc.at_most_rows || options.value(doc.name, doc.fallback) == doc.fallback) continue;
    const auto rank = options.at(doc.name).get<int64_t>();
    if (!(rank <= train_rows(split)))
      refuse("fit", fmt::format("a {} of at most the {} training rows", doc.name, train_rows(split)),
             fmt::format("{}", rank), fmt::format("lower `.{}`, or give more rows", doc.name));
  }
}

/// Returns whether the method holds out rows of this table by itself (MethodInfo::most_fold_rows), unless the
/// user asked for another share of validation rows than the default one. Where the time is short, the folds
/// of more rows than MethodInfo::most_fold_rows, which the classes may have, would be ended early. Its folds
/// are random: with the split "time" it gets the latest training rows to validate on.
bool holds_out_itself(const ResolvedFit& request, const Examples& examples) {
  constexpr double kShort = 60;  // seconds
  const MethodInfo& info = *request.method;
  const double limit = request.options.value("time_limit", 0.0);
  const bool classes = task_asked(examples, request.fit) == TaskKind::classification;
  const bool patient = limit == 0 || limit >= kShort;
  const int64_t most = classes && patient ? info.most_fold_rows_of_classes : info.most_fold_rows;
  return request.kind == InputKind::table && request.fit.split != "time" && count(examples) <= most &&
         request.fit.valid_fraction == FitOptions{}.valid_fraction;
}

/// Inserts two notes before the others where they apply: that a column of two whole numbers was taken as
/// classes, and that the task chose the method.
void add_task_notes(const ResolvedFit& request, const Examples& examples, const FitOptions& fit,
                    SplitRows& split) {
  std::vector<std::string> first;
  if (const Table* table = table_of(examples); table != nullptr && !fit.likelihood && !fit.target.empty())
    first.push_back(two_classes_note(*table, fit.target));
  if (const TaskKind task = task_asked(examples, fit); request.by_task && task != TaskKind::regression)
    first.push_back(fmt::format("{} by {}; `.method` chooses another", name_of(task), request.method->name));
  split.notes.insert(split.notes.begin(), first.begin(), first.end());
  std::erase(split.notes, "");
}

/// Splits the examples so that the training part has every class.
SplitRows split_anew(const ResolvedFit& request, const Examples& examples, const FitOptions& fit) {
  SplitRows split = split_examples(examples, fit);
  split.notes.push_back(keep_classes_in_training(examples, fit, split));
  add_task_notes(request, examples, fit, split);
  return split;
}

}  // namespace

bool counts_inputs_once(const FitOptions& fit, const RowGroups& all, const std::vector<int64_t>& groups) {
  const bool together = fit.split != "random" && !all.singly;
  return together || std::set<int64_t>(groups.begin(), groups.end()).size() < groups.size();
}

DealtExamples deal_examples(const ResolvedFit& request, const FitData& data) {
  FitOptions fit = request.fit;
  if (request.streamed) {
    DealtExamples dealt;
    dealt.split = request.streamed->table().split;
    add_task_notes(request, data.examples, fit, dealt.split);
    dealt.calibration_groups = calibration_groups(data.examples, fit, dealt.split);
    check_training(*request.method, request.options, dealt.split);
    dealt.grouped = request.streamed->table().parts.by_inputs();
    return dealt;
  }
  if (data.valid != nullptr || (!request.dealt && holds_out_itself(request, data.examples)))
    fit.valid_fraction = 0;
  DealtExamples dealt;
  if (request.dealt) {
    dealt.split = among_places(*request.dealt, data.places);
    add_task_notes(request, data.examples, fit, dealt.split);
  } else {
    dealt.split =
        request.network ? split_around(request, data, fit) : split_anew(request, data.examples, fit);
  }
  if (data.weightless > 0)
    dealt.split.notes.insert(dealt.split.notes.begin(),
                             weightless_note(data.weightless, data.weightless + count(data.examples),
                                             noun_of(request.kind), fit.weights));
  if (request.kind == InputKind::table && fit.wild_cells == "leave-out")
    dealt.wild_share = leave_wild_rows_out(std::get<Table>(data.examples), fit, dealt.split);
  dealt.calibration_groups = calibration_groups(data.examples, fit, dealt.split);
  check_training(*request.method, request.options, dealt.split);
  dealt.grouped =
      request.kind == InputKind::table && fit.split != "random" && !groups_of(data.examples, fit).singly;
  return dealt;
}

}  // namespace slimbayes
