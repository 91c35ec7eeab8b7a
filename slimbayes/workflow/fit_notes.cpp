#include "slimbayes/workflow/fit_notes.h"

#include <fmt/format.h>

#include <algorithm>
#include <iterator>

namespace slimbayes {

namespace {

using nlohmann::json;

/// Warns when the validation NLL is no better than a constant prediction. The constant is the best one for
/// the validation rows themselves; on few rows it is too good to compare with, so there is no warning.
std::string nothing_learnt(const json& valid, std::string_view noun, bool trained) {
  constexpr int64_t kFewest = 10;
  if (!valid.contains("nll_constant") || valid["n"].get<int64_t>() < kFewest) return "";
  const auto nll = valid["nll"].get<double>(), constant = valid["nll_constant"].get<double>();
  if (nll < constant) return "";
  return fmt::format(
      "on the {} validation {}s the NLL, {:.4g}{}, is no better than that of one answer for every {}, "
      "{:.4g}: {}, or the inputs say nothing",
      valid["n"].get<int64_t>(), noun, nll,
      valid.contains("nll_standardized") ? " in the target's units" : "", noun, constant,
      trained ? "more --steps or another --method may help" : "the network may not fit these examples");
}

/// Notes a rank above the number of training rows, which a default rank may be.
std::string too_large_a_rank(const Model& model, std::string_view noun) {
  const auto rank = model.options().find("rank");
  const auto rows = static_cast<int64_t>(model.split().train.size());
  if (rank == model.options().end() || rank->get<int64_t>() <= rows) return "";
  return fmt::format("rank {} is above the {} training {}s: it is more than they can use",
                     rank->get<int64_t>(), rows, noun);
}

/// Notes that conformal intervals and sets count groups of identical inputs, not examples.
std::string few_groups(const Model& model, std::string_view noun) {
  const ConformalScores& calibration = model.calibration();
  const bool classes = model.schema().task.kind == TaskKind::classification;
  const int64_t rows = calibration.groups > 0 ? calibration.value.size(0) : 0;
  if (calibration.groups == rows) return "";
  return fmt::format(
      "the {} rest on {} groups of identical inputs ({} calibration {}s), which count once each",
      classes ? "sets" : "intervals", calibration.groups, rows, noun);
}

}  // namespace

std::vector<std::string> notes_before_training(const InputEncoder& encoder, const SplitRows& split) {
  std::vector<std::string> notes = notes_of(encoder);
  std::ranges::copy(split.notes, std::back_inserter(notes));
  return notes;
}

std::vector<std::string> fit_notes(const Model& model, const json& valid) {
  const Summary& summary = model.fitted().summary();
  const std::string_view noun = noun_of(kind_of(model.encoder()));
  std::vector<std::string> notes = notes_before_training(model.encoder(), model.split());
  notes.push_back(few_groups(model, noun));
  std::ranges::copy(summary.notes, std::back_inserter(notes));
  std::ranges::copy(model.noise().notes, std::back_inserter(notes));
  notes.push_back(too_large_a_rank(model, noun));
  if (summary.jitter > 0)
    notes.push_back(
        fmt::format("a factorisation needed a jitter of {:.3g} of its mean diagonal", summary.jitter));
  notes.push_back(nothing_learnt(valid, noun, summary.steps > 0));
  std::erase(notes, "");
  return notes;
}

}  // namespace slimbayes
