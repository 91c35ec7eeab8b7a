#include "slimbayes/catalog/fit_checks.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <array>
#include <stdexcept>
#include <string_view>

#include "slimbayes/catalog/date_format.h"
#include "slimbayes/catalog/network/networks.h"
#include "slimbayes/catalog/option.h"
#include "slimbayes/storage/printable.h"

namespace slimbayes {

namespace {

void require(bool ok, const std::string& expected, const std::string& received, const std::string& hint) {
  if (!ok)
    throw std::invalid_argument(fmt::format("[fit] expected {}; received {}; {}", expected, received, hint));
}

std::string quoted(const std::string& name) { return fmt::format("'{}'", foreign_text(name)); }

/// Returns whether the text is valid UTF-8, as every text in a model file must be. dump() throws type_error
/// if it is not.
bool is_utf8(const std::string& text) {
  try {
    return !nlohmann::json(text).dump().empty();
  } catch (const nlohmann::json::type_error&) {
    return false;
  }
}

/// Returns the names of tasks or kinds of input, comma-separated.
template <class T>
std::string joined_names(const std::vector<T>& list) {
  std::string names;
  for (const T each : list) names += fmt::format("{}{}", names.empty() ? "" : ", ", name_of(each));
  return names;
}

/// Returns advice for an error message: the methods that take this task and kind of input. For a method that
/// wraps another one (ensemble), the advice begins with a member method that takes them.
std::string takers(const MethodInfo& info, TaskKind task, InputKind kind) {
  const std::string all = methods_taking(task, kind) + " take it (`.method`)";
  if (info.inner.empty()) return all;
  const auto can = [&](const MethodInfo& m) {
    return m.seeded && m.inner.empty() && !m.candidates && takes(m, task) && takes(m, kind);
  };
  const auto inner = std::ranges::find_if(method_catalog(), can);
  if (inner == method_catalog().end()) return all;
  return fmt::format("`.{}={}` makes members that take it; {}", info.inner, inner->name, all);
}

/// Returns the options of the network among those of a method: its own, or those that it hands on to
/// candidates; {} if it has none.
nlohmann::json network_options(const nlohmann::json& options) {
  if (options.contains("network")) return options;
  if (!options.contains(kPassedOn)) return nlohmann::json::object();
  nlohmann::json all = options_to_json(NetworkOptions{});
  all.update(options[kPassedOn]);
  return all;
}

void check_network(const nlohmann::json& options, InputKind kind) {
  if (options.empty()) return;

  const std::vector<std::string> known = networks_for(kind);
  const std::string network = network_name(options.at("network").get<std::string>(), kind);
  require(std::ranges::find(known, network) != known.end(), fmt::format("a network for {}", name_of(kind)),
          quoted(network),
          fmt::format("{} take{} it (`.network`)", fmt::join(known, " and "), known.size() == 1 ? "s" : ""));
  const NetworkInfo& info = find_network(network, kind);
  const auto blocks = options.at("blocks").get<int64_t>();
  require(blocks >= info.least_blocks, fmt::format("at least one layer of the network {}", network),
          fmt::format("`.blocks={}`", blocks), "leave `.blocks` out");
  require(kind != InputKind::table || !options.value("batch_norm", false) ||
              options.value("batch", int64_t{0}) != 1,
          "at least two rows a batch for batch norms, which divide by their sd", "`.batch=1`",
          "raise `.batch`, or leave `.batch_norm` out");
  if (uses_option(network, "heads") && blocks > 0)
    check_heads(options.at("hidden").get<int64_t>(), options.at("heads").get<int64_t>());
}

void check_notation(const FitOptions& fit) {
  constexpr std::array<std::string_view, 4> kSeparators = {",", ";", "|", "tab"};
  require(std::ranges::find(kSeparators, fit.separator) != kSeparators.end(),
          "a comma, ;, | or tab for `.separator`", quoted(fit.separator), "leave it out for a comma");
  const std::string_view separators = ",. '";
  require(fit.thousands.empty() ||
              (fit.thousands.size() == 1 && separators.find(fit.thousands) != std::string_view::npos),
          "one of , . ' and a blank for `.thousands`", quoted(fit.thousands),
          "leave it out where digits stand in no groups");
  require(fit.decimal == "." || fit.decimal == ",", "a point or a comma for `.decimal`", quoted(fit.decimal),
          "leave it out for a point");
  require(fit.thousands != fit.decimal, "other signs for `.thousands` than for `.decimal`",
          quoted(fit.decimal) + " as both",
          fit.decimal == "." ? "add `.decimal=,`" : "leave `.thousands` out, or give its own sign");
  if (fit.date_format.empty()) return;
  require(is_utf8(fit.date_format), "a text in UTF-8 for `.date_format`", "other bytes",
          "name the format as the file has it");
  const std::string fault = fault_of_date_format(fit.date_format);
  require(fault.empty(),
          "a year (%Y, %y), a month (%m, %b) and perhaps a day (%d) and a time (%H or %I %p, %M, %S) for "
          "`.date_format`",
          fmt::format("{} in {}", foreign_text(fault), quoted(fit.date_format)),
          "for instance `.date_format` '%d.%m.%Y' or '%m/%d/%Y %H:%M'");
}

/// Checks that intervals which follow a series have one to follow.
void check_adaptive(const FitOptions& fit, InputKind kind) {
  if (fit.calibrate != "adaptive") return;
  require(kind == InputKind::windows, "windows of a time series for `.calibrate=adaptive`",
          std::string(name_of(kind)), "make them by `.window` and `.time`, or take `.calibrate=conformal`");
  const TaskKind task = fit.likelihood ? task_of(*fit.likelihood) : TaskKind::regression;
  require(task == TaskKind::regression, "a target of numbers for `.calibrate=adaptive`",
          std::string(name_of(task)), "leave `.calibrate` out, or take `.calibrate=conformal` for classes");
  require(fit.weights.empty(), "no weights for `.calibrate=adaptive`, where each target counts once",
          fmt::format("`.weights={}`", foreign_text(fit.weights)), "leave one of them out");
}

/// Checks that the column of the weights, if there is one, is not used in another way too.
void check_weights(const FitOptions& fit) {
  require(fit.weights_are == "importance" || fit.weights_are == "counts",
          "'importance' or 'counts' for `.weights_are`", quoted(fit.weights_are),
          "importance is the default");
  require(!fit.weights.empty() || fit.weights_are == "importance",
          "`.weights`, a column, with `.weights_are`", "no column",
          "name the column by `.weights`, or leave `.weights_are` out");
  if (fit.weights.empty()) return;
  require(fit.likelihood != LikelihoodKind::cox, "no weights for `.likelihood=cox`, whose rows are events",
          fmt::format("`.weights={}`", foreign_text(fit.weights)), "leave `.weights` out");
  const auto other = [&](const std::vector<std::string>& names, const char* use, const char* option) {
    require(std::ranges::find(names, fit.weights) == names.end(),
            fmt::format("a column of weights beside {}", use), quoted(fit.weights) + " as both",
            fmt::format("name another column by `.weights` or `.{}`", option));
  };
  other({fit.target}, "the target", "target");
  other({fit.text}, "that of the text", "text");
  other(fit.time, "those of the time", "time");
  other(fit.group, "those of the groups", "group");
  other(fit.categorical, "those of categories", "categorical");
}

/// Checks that the column of calibration groups, if there is one, can be known before the target is.
void check_calibration_groups(const FitOptions& fit, InputKind kind) {
  if (fit.calibrate_by.empty()) return;
  const std::string received = fmt::format("`.calibrate_by={}`", foreign_text(fit.calibrate_by));
  require(is_utf8(fit.calibrate_by), "a text in UTF-8 for `.calibrate_by`", "other bytes",
          "name the column as the file has it");
  require(fit.calibrate == "conformal", "`.calibrate=conformal` with `.calibrate_by`", fit.calibrate,
          "add it, or leave `.calibrate_by` out");
  require(!are_images(kind), "no calibration groups for images, which have no column of them", received,
          "leave `.calibrate_by` out");
  require(fit.calibrate_by != fit.target, "a column of calibration groups beside the target",
          received + ", which is not known before the answer", "name another column by `.calibrate_by`");
}

/// Checks the bounds of the target, if there are some, against the likelihood.
void check_bounds(const FitOptions& fit) {
  const std::optional<TargetBounds> bounds = bounds_named(fit.bounds);
  if (!bounds) return;
  const LikelihoodKind likelihood = fit.likelihood.value_or(LikelihoodKind::gaussian);
  require(task_of(likelihood) == TaskKind::regression, "a target of numbers for `.bounds`",
          fmt::format("`.likelihood={}`", name_of(likelihood)), "leave `.bounds` out");
  require(
      likelihood != LikelihoodKind::student || bounds->both(),
      "two bounds of a target with `.likelihood=student`",
      fmt::format("one, `.bounds={}`", foreign_text(fit.bounds)),
      "the exponential of a Student-t variable has no mean: leave `.likelihood` out, or name both bounds");
}

}  // namespace

void check_columns(const FitOptions& fit, InputKind kind) {
  for (const std::string& mark : fit.na)
    require(is_utf8(mark), "texts in UTF-8 for `.na`", "other bytes", "name the mark as the file spells it");
  check_notation(fit);
  check_weights(fit);
  check_adaptive(fit, kind);
  check_calibration_groups(fit, kind);
  check_bounds(fit);
  require(kind != InputKind::segmentation || fit.calibrate == "none", "a regression or classes to calibrate",
          std::string(name_of(kind)), "leave `.calibrate` out");
  if (are_images(kind)) {
    require(fit.target.empty() && !fit.likelihood, "images, whose labels lie beside them",
            "a target or a likelihood", "leave `.target` and `.likelihood` out");
    require(fit.weights.empty(), "no weights for images, which have no column of them",
            fmt::format("`.weights={}`", foreign_text(fit.weights)), "leave `.weights` out");
    require(fit.split != "time", "rows of a table for `.split=time`", "images, which have no times",
            "leave it out");
    return;
  }
  const bool events = fit.likelihood == LikelihoodKind::cox;
  require(!events || fit.target.empty(), "no target for events", quoted(fit.target), "leave `.target` out");
  require(events || !fit.target.empty(), "`.target=COLUMN`, the column to predict", "none",
          "name it; only `.likelihood=cox` has none");
  require(kind != InputKind::windows || !fit.time.empty(), "a column of times for `.window`", "none",
          "name it by `.time`, for instance `.time=date` or `.time=year,month,day,hour`");
  require(fit.text.empty() || fit.text != fit.target, "a column of text beside the target",
          quoted(fit.text) + " as both", "name another column by `.text`");
  require(fit.target.empty() || std::ranges::find(fit.ignore, fit.target) == fit.ignore.end(),
          "a target that is not among the ignored columns", quoted(fit.target), "leave it out of `.ignore`");
  require(!events || !fit.domain.empty(), "the domain of the events", "none",
          "for instance `.domain=0:1,0:2`");
  require(!events || (fit.scale == "auto" && fit.scale_on == "train"),
          "no scale for events, which are scaled from their domain",
          fmt::format("'{}' on the rows '{}'", fit.scale, fit.scale_on),
          "leave `.scale` and `.scale_on` out");
  require(
      fit.target_scale == "standard" || !fit.likelihood || task_of(*fit.likelihood) == TaskKind::regression,
      fmt::format("a target of numbers for `.target_scale={}`", fit.target_scale),
      fmt::format("`.likelihood={}`", name_of(fit.likelihood.value_or(LikelihoodKind::gaussian))),
      "leave `.target_scale` out");
}

void check_method(const MethodInfo& info, const nlohmann::json& options, InputKind kind,
                  std::optional<TaskKind> task) {
  const std::string of_kind = kind == InputKind::table ? "" : fmt::format(" of {}", name_of(kind));
  // If the task is not known, the message suggests methods for regression, the most frequent task.
  const TaskKind likely = task.value_or(TaskKind::regression);
  require(
      takes(info, kind, options),
      fmt::format("an input that {} takes, {}", info.name, joined_names(inner_method(info, options).inputs)),
      std::string(name_of(kind)), takers(info, likely, kind));
  require(!task || takes(info, *task, options),
          fmt::format("a task that {} takes, {}", info.name, joined_names(inner_method(info, options).tasks)),
          fmt::format("{}{}", name_of(likely), of_kind), takers(info, likely, kind));
  check_network(network_options(options), kind);
}

void check_likelihood(const MethodInfo& info, const nlohmann::json& options,
                      std::optional<LikelihoodKind> likelihood) {
  bool MethodInfo::*const fact = fact_of(likelihood);
  if (fact == nullptr) return;
  const char* of_candidates = fact == &MethodInfo::student
                                  ? "; auto finds heavy tails by itself: leave `.likelihood` out"
                                  : "; auto takes `.likelihood=poisson`, whose rate is uncertain";
  require(
      takes(info, *likelihood, options),
      fmt::format("a method that takes `.likelihood={}`", name_of(*likelihood)),
      info.inner.empty() ? info.name : fmt::format("{} of {}", info.name, inner_method(info, options).name),
      fmt::format("{}{} take it (`.method`){}",
                  info.inner.empty() ? ""
                                     : fmt::format("`.{}={}` makes members that take it; ", info.inner,
                                                   default_method_of(likelihood)->name),
                  methods_that(fact), info.candidates ? of_candidates : ""));
}

void check_bounds_of_method(const MethodInfo& info, const std::string& text) {
  const std::optional<TargetBounds> bounds = bounds_named(text);
  require(
      !bounds || bounds->both() || !info.candidates,
      fmt::format("two bounds of a target for {}, whose answers have heavy tails", info.name),
      fmt::format("one, `.bounds={}`", foreign_text(text)),
      "name both bounds, leave `.bounds` out (auto tries the logarithm of a target without negative values "
      "by itself), or choose another method by `.method`");
}

std::optional<TaskKind> task_known(const FitOptions& fit, InputKind kind) {
  if (are_images(kind)) return TaskKind::classification;
  return fit.likelihood ? std::optional(task_of(*fit.likelihood)) : std::nullopt;
}

}  // namespace slimbayes
