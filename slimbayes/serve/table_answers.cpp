#include "slimbayes/serve/table_answers.h"

#include <algorithm>
#include <atomic>
#include <cmath>
#include <iterator>
#include <limits>
#include <span>
#include <string_view>
#include <thread>
#include <utility>

#include "slimbayes/catalog/fit_options.h"
#include "slimbayes/density/conformal_rank.h"
#include "slimbayes/density/unit.h"
#include "slimbayes/serve/answer_columns.h"
#include "slimbayes/serve/input_cells.h"
#include "slimbayes/serve/served_rows.h"

namespace slimbayes {

namespace {

using Columns = std::vector<Column>;
using Numbers = std::vector<double>;

/// The encoded examples of a table: its rows, windows of them, which overlap, or its texts.
struct EncodedRows {
  int64_t rows = 0;
  size_t width = 0;           // numbers of an example
  std::vector<float> x;       // [examples, width], or the rows that windows share
  std::vector<size_t> first;  // of windows: where each begins in x; else empty
  TokenRows texts;            // of texts, which get their padding one by one

  /// Writes an example to `out` [width].
  void copy(int64_t i, std::span<float> out) const {
    const auto at = static_cast<size_t>(i);
    if (texts.offsets.size() > 1) {
      const auto end = std::copy(texts.tokens.begin() + texts.offsets[at],
                                 texts.tokens.begin() + texts.offsets[at + 1], out.begin());
      std::fill(end, out.end(), static_cast<float>(kPadding));
      return;
    }
    std::copy_n(x.begin() + static_cast<int64_t>(first.empty() ? at * width : first[at]), width, out.begin());
  }
};

/// What one thread needs.
struct Work {
  RowRegression::Memory memory;
  Numbers x;
  std::vector<float> row;  // the last one

  std::span<const double> of(const EncodedRows& given, int64_t from, int64_t count = 1) {
    x.clear();
    row.resize(given.width);
    for (int64_t i = from; i < from + count; ++i) {
      given.copy(i, row);
      x.insert(x.end(), row.begin(), row.end());
    }
    return x;
  }
};

/// Runs answer(first, count, work) for the rows in blocks on some threads. Returns whether it was true of all
/// blocks.
template <class Answer>
bool over_blocks(int64_t rows, int64_t threads, Answer answer) {
  constexpr int64_t kFewest = 64;  // rows that are worth a thread
  const int64_t used = std::clamp<int64_t>(rows / kFewest, 1, threads);
  std::atomic<bool> sound = true;
  std::vector<std::exception_ptr> failed(static_cast<size_t>(used));
  const auto part = [&](int64_t t) {
    Work work;
    try {
      const int64_t end = rows * (t + 1) / used;
      for (int64_t i = rows * t / used; i < end && sound; i += RowRegression::kMostRows)
        if (!answer(i, std::min(RowRegression::kMostRows, end - i), work)) sound = false;
    } catch (...) {
      failed[static_cast<size_t>(t)] = std::current_exception();
      sound = false;
    }
  };
  std::vector<std::jthread> others;
  for (int64_t t = 1; t < used; ++t) others.emplace_back(part, t);
  part(0);
  others.clear();  // waits for them
  for (const std::exception_ptr& one : failed)
    if (one) std::rethrow_exception(one);
  return sound;
}

/// The same with answer(i, work) for each row.
template <class Answer>
bool over_rows(int64_t rows, int64_t threads, Answer answer) {
  return over_blocks(rows, threads, [&](int64_t first, int64_t count, Work& work) {
    bool sound = true;
    for (int64_t i = first; i < first + count && sound; ++i) sound = answer(i, work);
    return sound;
  });
}

Numbers empty_numbers(int64_t rows) { return Numbers(static_cast<size_t>(rows)); }

/// The ends of the intervals at each level.
struct Ends {
  std::vector<Numbers> lower, upper;

  Ends(size_t levels, int64_t rows) : lower(levels, empty_numbers(rows)), upper(lower) {}

  Columns columns(const std::vector<double>& levels) {
    Columns all;
    for (size_t k = 0; k < levels.size(); ++k)
      std::ranges::move(
          interval_columns(std::move(lower[k]), std::move(upper[k]), level_ending(levels[k], levels.size())),
          std::back_inserter(all));
    return all;
  }
};

struct Answerer {
  const ServedFile& served;
  const TableRequest& request;
  const EncodedRows& given;
  const InputCells& cells;

  size_t levels() const { return request.levels.size(); }

  std::optional<TableAnswers> operator()(const RowRegression& rows) const {
    NumberAnswers a;
    a.mean = a.sd = empty_numbers(given.rows);
    if (served.epistemic) a.aleatoric = a.epistemic = a.mean;
    if (!rows.gaussian()) a.median = a.mean;
    std::vector<RowRegression::Level> at;
    for (const double level : request.levels) at.push_back(rows.at_level(level));
    Ends ends(levels(), given.rows);
    const auto keep = [&](size_t i, const RowAnswer& one, Work& work) {
      a.mean[i] = one.mean;
      a.sd[i] = one.sd();
      if (served.epistemic) {
        a.aleatoric[i] = std::sqrt(one.aleatoric_var);
        a.epistemic[i] = std::sqrt(one.epistemic_var);
      }
      bool finite = std::isfinite(one.mean) && std::isfinite(one.sd()) && !one.zeroed;
      if (!finite) return false;
      if (!rows.gaussian()) a.median[i] = rows.quantile(one, 0.5, work.memory);
      for (size_t k = 0; k < at.size(); ++k) {
        const RowInterval range = rows.interval(one, at[k], work.memory);
        ends.lower[k][i] = range.lower;
        ends.upper[k][i] = range.upper;
        finite = finite && std::isfinite(range.lower) && std::isfinite(range.upper);
      }
      return finite;
    };
    const bool sound =
        over_blocks(given.rows, request.threads, [&](int64_t first, int64_t count, Work& work) {
          rows.answer_together(work.of(given, first, count), count, work.memory);
          bool finite = true;
          for (int64_t i = 0; i < count && finite; ++i)
            finite = keep(static_cast<size_t>(first + i), rows.answer_of(i, work.memory), work);
          return finite;
        });
    if (!sound) return {};
    TableAnswers all{columns_of(std::move(a), served.epistemic), {served.parts_note.value_or("")}};
    for (size_t k = 0; k < at.size(); ++k)
      all.notes.push_back(raised_note(schema_of(served.encoder).task, at[k].level, ends.lower[k]));
    std::erase(all.notes, "");
    std::ranges::move(ends.columns(request.levels), std::back_inserter(all.columns));
    return all;
  }

  std::optional<TableAnswers> operator()(const RowClasses& rows) const {
    const auto asked = [](double level) { return level != FitOptions{}.level; };
    if (!rows.calibrated() && std::ranges::any_of(request.levels, asked)) return {};  // has a note
    const std::vector<std::string>& names = schema_of(served.encoder).task.levels;
    const size_t k = names.size();
    ClassAnswers a{std::vector(k, empty_numbers(given.rows)), empty_numbers(given.rows),
                   empty_numbers(given.rows), empty_numbers(given.rows)};
    Numbers thresholds;
    if (rows.calibrated())
      for (const double level : request.levels) thresholds.push_back(rows.threshold(level));
    std::vector<std::vector<unsigned char>> sets(
        thresholds.size(), std::vector<unsigned char>(static_cast<size_t>(given.rows) * k));
    const bool sound = over_rows(given.rows, request.threads, [&](int64_t row, Work& work) {
      const auto i = static_cast<size_t>(row);
      Numbers& p = work.memory.out;
      p.resize(k);
      const RowClasses::Entropies e = rows.answer(work.of(given, row), p, work.memory.scratch);
      for (size_t c = 0; c < k; ++c) a.probabilities[c][i] = p[c];
      a.entropy[i] = e.predictive;
      a.mutual_information[i] = e.mutual_information;
      a.label[i] = static_cast<double>(std::ranges::max_element(p) - p.begin());
      const double u = request.deterministic_sets || sets.empty() ? 0 : uniform_of(cells, work.row);
      for (size_t s = 0; s < sets.size(); ++s)
        mark_set(p, u, thresholds[s], std::span(sets[s]).subspan(i * k, k));
      return std::isfinite(e.predictive) && std::isfinite(e.mutual_information) && e.zeroed == 0;
    });
    if (!sound) return {};
    TableAnswers all{columns_of(std::move(a), names), {}};
    for (size_t s = 0; s < sets.size(); ++s)
      all.columns.push_back(set_column(sets[s], names, level_ending(request.levels[s], levels())));
    return all;
  }

  std::optional<TableAnswers> operator()(const RowRates& rows) const {
    Numbers mean = empty_numbers(given.rows), var = mean;
    Ends ends(levels(), given.rows);
    const bool sound = over_rows(given.rows, request.threads, [&](int64_t row, Work& work) {
      const auto i = static_cast<size_t>(row);
      work.memory.scratch.reserve(rows->scratch());
      const auto [rate, zeroed] = rows->answer(work.of(given, row).data(), work.memory.scratch.data());
      mean[i] = rate.rate_mean();
      var[i] = rate.rate_var();
      bool plain = zeroed == 0 && std::isfinite(mean[i]) && std::isfinite(var[i]);
      for (size_t k = 0; k < levels() && plain; ++k) {
        const double level = request.levels[k];
        ends.lower[k][i] = count_quantile(rate, (1 - level) / 2);
        ends.upper[k][i] = count_quantile(rate, (1 + level) / 2);
        // A mean above the interval of the rate has a note.
        plain = mean[i] <= std::exp(rate.mean + normal_quantile((1 + level) / 2) * std::sqrt(rate.var));
      }
      return plain;
    });
    if (!sound) return {};
    TableAnswers all{columns_of_counts(std::move(mean), var), {}};
    std::ranges::move(ends.columns(request.levels), std::back_inserter(all.columns));
    return all;
  }
};

/// Encodes the rows of a table; nullopt if one is bad (Encoder::inputs).
std::optional<EncodedRows> encoded(const Encoder& encoder, const ServedInputs& inputs) {
  const Table& table = std::get<Table>(inputs);
  EncodedRows all{table.rows, encoder.schema().features.size(), {}, {}, {}};
  all.x.resize(static_cast<size_t>(all.rows) * all.width);
  std::vector<BadRow> bad;
  encoder.inputs(table, all.x, &bad);
  return bad.empty() ? std::optional(std::move(all)) : std::nullopt;
}

std::optional<EncodedRows> encoded(const WindowEncoder& encoder, const ServedInputs& inputs) {
  std::vector<BadRow> bad;
  WindowRows windows = encoder.encode(std::get<WindowTable>(inputs), &bad);
  if (!bad.empty()) return {};
  const size_t d = encoder.schema().features.size();
  const int64_t window = encoder.options().window;
  EncodedRows all{std::ssize(windows.last), static_cast<size_t>(window) * d, std::move(windows.rows), {}, {}};
  for (const int64_t last : windows.last) all.first.push_back(static_cast<size_t>(last - window + 1) * d);
  return all;
}

std::optional<EncodedRows> encoded(const TextEncoder& encoder, const ServedInputs& inputs) {
  TokenRows texts = encoder.tokens_of(std::get<Table>(inputs));
  const int64_t rows = std::ssize(texts.offsets) - 1;
  return EncodedRows{rows, static_cast<size_t>(encoder.options().longest), {}, {}, std::move(texts)};
}

}  // namespace

ServedInputs served_inputs(const ServedEncoder& encoder, Table table) {
  if (const auto* rows = std::get_if<Encoder>(&encoder)) return rows->as_trained(std::move(table));
  const auto* windows = std::get_if<WindowEncoder>(&encoder);
  if (windows == nullptr) return table;
  return window_table(windows->rows().as_trained(std::move(table)), windows->options(), windows->step(), "");
}

std::optional<TableAnswers> table_answers(const ServedFile& served, const ServedInputs& inputs,
                                          const TableRequest& request) {
  const ServedRows rows = served_rows(served);
  const InputCells cells = input_cells(served.encoder, served.missing, served.notation);
  const std::optional<EncodedRows> given =
      std::visit([&](const auto& encoder) { return encoded(encoder, inputs); }, served.encoder);
  if (!given) return {};
  return std::visit(Answerer{served, request, *given, cells}, rows);
}

}  // namespace slimbayes
