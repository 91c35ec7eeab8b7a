#include "slimbayes/model/answer_table.h"

#include <ATen/ATen.h>
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cmath>
#include <iterator>
#include <optional>
#include <stdexcept>

#include "slimbayes/answers/count_distribution.h"
#include "slimbayes/answers/density.h"
#include "slimbayes/catalog/call_options.h"
#include "slimbayes/catalog/nearest.h"
#include "slimbayes/core/check.h"
#include "slimbayes/data/table/cell.h"
#include "slimbayes/density/conformal_rank.h"
#include "slimbayes/density/unit.h"
#include "slimbayes/model/calibration/group_notes.h"
#include "slimbayes/serve/answer_columns.h"
#include "slimbayes/serve/forecast_columns.h"

namespace slimbayes {

namespace {

using Columns = std::vector<Column>;

std::vector<double> numbers(const at::Tensor& x) {
  const at::Tensor flat = x.to(at::kDouble).contiguous();
  return {flat.const_data_ptr<double>(), flat.const_data_ptr<double>() + flat.numel()};
}

Column column(const std::string& name, const at::Tensor& values) {
  return {name, ColumnKind::numeric, numbers(values), {}};
}

/// Returns whether the method's epistemic variance measures the uncertainty of the model (ood_score() gives
/// "epistemic_sd"). Only then do the columns of the two parts of the sd have the names aleatoric and
/// epistemic.
bool names_epistemic(const Model& model) {
  return ood_score(find_method(model.method()), model.options()) == "epistemic_sd";
}

Columns columns_of(const Regression& p, const Model& model, bool parts) {
  NumberAnswers answers{numbers(p.mean), {}, numbers(total_var(p).sqrt()), {}, {}};
  if (!p.density.empty()) answers.median = numbers(median(p));
  const bool apart = names_epistemic(model);
  if (apart || parts) {
    answers.aleatoric = numbers(p.aleatoric_var.sqrt());
    answers.epistemic = numbers(p.epistemic_var.sqrt());
  }
  return slimbayes::columns_of(std::move(answers), apart);
}

Columns columns_of(const Classes& p, const Model& model, bool) {
  const std::vector<std::string>& names = model.schema().task.levels;
  ClassAnswers answers{
      {}, numbers(p.predictive_entropy), numbers(mutual_information(p)), numbers(predicted_class(p))};
  for (size_t c = 0; c < names.size(); ++c)
    answers.probabilities.push_back(numbers(p.probabilities.select(1, static_cast<int64_t>(c))));
  return slimbayes::columns_of(std::move(answers), names);
}

Columns columns_of(const Counts& p, const Model&, bool) {
  return columns_of_counts(numbers(mean(p)), numbers(epistemic_var(p)), numbers(aleatoric_var(p)));
}

Columns columns_of(const Intensity& p, const Model&, bool) {
  return {column("mean", mean(p.rate)), column("sd", var(p.rate).sqrt())};
}

/// The members of each row's set. [n, classes]
std::vector<unsigned char> members_of(const PredictionSet& set) {
  const at::Tensor members = set.to(at::kByte).contiguous();
  const auto* first = members.const_data_ptr<uint8_t>();
  return {first, first + members.numel()};
}

/// Returns the columns lower and upper (where the task has intervals) and set (where the model gives
/// prediction sets) for each level. With several levels, the names end in the level in percent, such as
/// lower_90.
Columns level_columns(const Answers& a, const std::vector<std::string>& names) {
  Columns columns;
  for (const LevelAnswer& at : a.levels) {
    const std::string ending = level_ending(at.level, a.levels.size());
    if (at.interval)
      std::ranges::move(interval_columns(numbers(at.interval->lower), numbers(at.interval->upper), ending),
                        std::back_inserter(columns));
    if (at.set) columns.push_back(set_column(members_of(*at.set), names, ending));
  }
  return columns;
}

/// Returns the level of the central interval that ends at the quantile of probability q.
double level_of(double q) { return std::abs(1 - 2 * q); }

/// Returns the quantile of each row at probability q. [m]
at::Tensor quantile_at(const Regression& p, const Model& model, const std::vector<int64_t>& group, double q) {
  if (model.calibration().groups > 0 && q != 0.5) {
    const Interval ends = model.interval(p, level_of(q), group);
    return q < 0.5 ? ends.lower : ends.upper;
  }
  const double z = normal_quantile(q);
  if (!p.density.empty()) return quantile(p, z);
  return within(p, p.mean + z * total_var(p).sqrt());
}

at::Tensor quantile_at(const Counts& p, const Model&, const std::vector<int64_t>&, double q) {
  return count_quantile(p, q);
}

at::Tensor quantile_at(const Intensity& p, const Model&, const std::vector<int64_t>&, double q) {
  return at::exp(p.rate.log_mean + normal_quantile(q) * p.rate.log_var.sqrt());
}

at::Tensor quantile_at(const Classes&, const Model&, const std::vector<int64_t>&, double) {
  throw std::logic_error("quantile_at: classes passed check_quantiles");
}

Columns quantile_columns(const Answers& a, const Model& model, const std::vector<double>& probabilities) {
  check_quantiles(model, probabilities);
  Columns columns;
  for (const double q : probabilities) {
    const at::Tensor x =
        std::visit([&](const auto& p) { return quantile_at(p, model, a.calibration_group, q); }, a.answer);
    columns.push_back(column(fmt::format("q{}", q), at::where(x.isfinite(), x, kMissing)));
  }
  return columns;
}

/// Spreads columns of the answered examples over a table of `all` rows: cell i of each column moves to row
/// rows[i]. Rows without an answer get missing cells (NaN).
Columns spread(Columns columns, const std::vector<int64_t>& rows, int64_t all) {
  for (Column& column : columns) {
    std::vector<double> values(static_cast<size_t>(all), NAN);
    for (size_t i = 0; i < rows.size(); ++i) values[static_cast<size_t>(rows[i])] = column.values[i];
    column.values = std::move(values);
  }
  return columns;
}

/// Returns a note if the mean of a count or an intensity lies above its interval, else "". Far from the
/// training data the log rate is so uncertain that the mean of the rate is meaningless.
std::string tail_note(const Examples& examples, const Answers& a, double level) {
  const auto note = [&](const auto& p) -> std::string {
    // Compares with the interval of the rate and not of the count: the ends of a count's interval are whole
    // numbers, so the mean of a low rate may exceed them although nothing is wrong.
    const at::Tensor rows = mean_above_interval(p.rate, interval(Intensity{p.rate}, level)).nonzero();
    if (rows.size(0) == 0) return "";
    const at::Tensor least = p.rate.log_var.index_select(0, rows.squeeze(1)).min();
    return fmt::format(
        "in {} of {} (the first: {}) the mean lies above the {:g} % interval: the log rate's sd is "
        "{:.3g} or more, far from the training data, and the mean rests on the tail; read the interval",
        rows.size(0), counted(count(examples), noun_of(examples)),
        place_of(examples, a.rows[static_cast<size_t>(rows[0][0].item<int64_t>())]), 100 * level,
        std::sqrt(least.item<double>()));
  };
  if (const auto* p = std::get_if<Counts>(&a.answer)) return note(*p);
  if (const auto* p = std::get_if<Intensity>(&a.answer)) return note(*p);
  return "";
}

}  // namespace

void check_quantiles(const Model& model, const std::vector<double>& probabilities) {
  if (probabilities.empty()) return;
  check(model.schema().task.kind != TaskKind::classification, "predict",
        "a model of numbers, counts or events for `.quantiles`", "one of classes",
        "leave it out: the columns p_CLASS have the probabilities");
  const int64_t groups = model.calibration().units();
  for (auto q = probabilities.begin(); q != probabilities.end(); ++q) {
    if (!(*q > 0 && *q < 1))
      refuse("predict", "probabilities above 0 and below 1 for `.quantiles`", fmt::format("{}", *q),
             "write 0.05 for 5 %");
    if (std::find(probabilities.begin(), q, *q) != q)
      refuse("predict", "each probability once for `.quantiles`", fmt::format("{} twice", *q));
    const double level = level_of(*q);
    if (groups > 0 && !(level <= kMostLevel && conformal_rank(groups, level) <= groups))
      refuse("predict",
             fmt::format("calibration rows enough for the quantile {}, an end of the interval of level {:g}",
                         *q, level),
             fmt::format("{}", groups),
             "take one nearer to 0.5, or fit with a larger `.calibration_fraction`");
  }
}

AnswerTable answer_table(const Model& model, const Examples& examples, const Answers& a,
                         const TableOptions& options) {
  check_same(examples, a);
  check(!a.levels.empty(), "answer_table", "answers with a level", "answers without");
  const int64_t n = count(examples);
  const std::vector<std::string>& kept = options.kept;
  Columns answer = std::visit([&](const auto& p) { return columns_of(p, model, options.parts); }, a.answer);
  std::ranges::move(level_columns(a, model.schema().task.levels), std::back_inserter(answer));
  std::ranges::move(quantile_columns(a, model, options.quantiles), std::back_inserter(answer));
  answer = spread(std::move(answer), a.rows, n);
  std::ranges::copy(options.more, std::back_inserter(answer));
  const auto clashes = [&](const std::string& name) {
    return std::ranges::find(answer, name, &Column::name) != answer.end();
  };
  AnswerTable out{{"", {}, n}, 0};
  Columns& columns = out.table.columns;
  const std::shared_ptr<const Table> rows = last_rows(examples);
  if (rows == nullptr && !kept.empty())
    refuse("predict", "no columns to keep of images", in_quotes(fmt::format("{}", fmt::join(kept, ","))),
           "leave `.keep` out");
  const auto* windows = std::get_if<WindowTable>(&examples);
  const auto of_forecast = [&](const std::string& name) {
    return windows != nullptr && is_forecast_name(name);
  };
  if (windows != nullptr && !kept.empty()) columns.push_back(last_time(*windows));
  for (const std::string& name : kept) {
    if (clashes(name) || of_forecast(name))
      refuse("predict", "other names for `.keep` than those of the answer", in_quotes(name),
             "rename that column");
    const Column* column = rows->find(name);
    if (column == nullptr)
      refuse("predict", "columns of the table for `.keep`", in_quotes(name),
             nearest_hint(name, rows->names()));
    columns.push_back(*column);
  }
  if (windows != nullptr) {
    for (const std::string& name : windows->windows->options.group)
      if (clashes(name) || of_forecast(name))
        refuse("predict", "other names of groups than those of the answer", in_quotes(name),
               "rename that column");
    for (Column& column : forecast_columns(*windows, *rows, model.target(), model.schema().task)) {
      if (std::ranges::find(columns, column.name, &Column::name) == columns.end())
        columns.push_back(std::move(column));
    }
  }
  out.exact = columns.size();
  std::ranges::move(answer, std::back_inserter(columns));
  return out;
}

std::string parts_note(const Model& model, bool shown) {
  const MethodInfo& method = find_method(model.method());
  const bool named = names_epistemic(model);
  if (model.schema().task.kind != TaskKind::regression || method.parts == SdParts::calibrated ||
      !(shown || named))
    return "";
  return fmt::format("{}: {}", method.name,
                     meaning_of(named ? method.parts : inner_method(method, model.options()).parts));
}

std::vector<std::string> answer_notes(const Model& model, const Examples& examples, const Answers& a,
                                      const TableOptions& options) {
  std::vector<std::string> notes;
  const auto zeroed = std::visit([](const auto& p) { return p.zeroed; }, a.answer);
  if (zeroed > 0)
    notes.push_back(fmt::format("rounding made {} epistemic variances negative; they are 0", zeroed));
  notes.push_back(parts_note(model, options.parts));
  if (!a.levels.empty()) notes.push_back(unseen_groups_note(model, examples, a));
  if (std::holds_alternative<WindowTable>(examples) && !options.kept.empty())
    notes.emplace_back(
        "the kept columns are those of last_time, the last row that a window sees; the answer is for "
        "forecast_time, when the target is `actual` where DATA have it");
  for (const LevelAnswer& at : a.levels) {
    notes.push_back(tail_note(examples, a, at.level));
    if (at.interval) notes.push_back(raised_note(model.schema().task, at.level, numbers(at.interval->lower)));
  }
  const auto asked = [](const LevelAnswer& at) { return at.level != FitOptions{}.level && !at.set; };
  if (std::holds_alternative<Classes>(a.answer) && std::ranges::any_of(a.levels, asked))
    notes.emplace_back(
        "`.level` says nothing of these classes: only a model fitted with `.calibrate=conformal` gives sets "
        "of "
        "them");
  if (!options.quantiles.empty() && model.calibration().groups > 0)
    notes.emplace_back(
        "the quantiles are the ends of calibrated intervals: q and 1 - q together hold their level, a single "
        "quantile need not");
  std::erase(notes, "");
  return notes;
}

}  // namespace slimbayes
