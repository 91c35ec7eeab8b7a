#include "slimbayes/encoding/windows/single_window.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <exception>
#include <iterator>
#include <limits>
#include <stdexcept>
#include <utility>

#include "slimbayes/data/table/cell.h"
#include "slimbayes/encoding/windows/calendar.h"
#include "slimbayes/storage/check.h"
#include "slimbayes/storage/error.h"

namespace slimbayes {

namespace {

constexpr const char* kSingleWindow = "window";

/// Runs the call for a row of the window, whose number from 1 becomes a part of the message of an error.
template <class Call>
void in_row(size_t row, Call call) {
  const auto place = [row] { return fmt::format("row {} of the window", row + 1); };
  const auto said = [](const std::exception& error) {
    std::string text = without_functions(error.what());
    if (text.starts_with("row: ")) text.erase(0, 5);  // of a DataError of RowEncoder
    return text;
  };
  try {
    call();
  } catch (const std::invalid_argument& error) {
    throw std::invalid_argument(place() + ": " + said(error));
  } catch (const DataError& error) {
    throw DataError(place(), said(error));
  }
}

[[noreturn]] void refuse_series(const std::string& group) {
  refuse(kSingleWindow, fmt::format("rows of one series, as {} tells", in_quotes(group)), "rows of several");
}

bool same_cell(double a, double b) { return a == b || (std::isnan(a) && std::isnan(b)); }

}  // namespace

SingleWindowEncoder::SingleWindowEncoder(const WindowEncoder& encoder, std::vector<std::string> missing,
                                         Notation notation)
    : options_(encoder.options()),
      step_(encoder.step()),
      rows_(encoder.rows(), std::move(missing), std::move(notation)),
      periods_(encoder.periods()),
      features_(std::ssize(encoder.schema().features)) {
  check(!options_.time.empty(), kSingleWindow, "a column of times", "none", "the model file is damaged");
  if (options_.time.size() > 1) parts_.emplace(options_.time);
  for (const std::string& name : options_.time) {
    const auto kind = encoder.keys().find(name);
    Encoder::Feature& column = columns_.emplace_back();
    column.name = name;
    if (kind != encoder.keys().end()) column.kind = kind->second;
  }
  std::ranges::copy(rows_.columns(), std::back_inserter(columns_));
  for (const std::string& name : options_.group) {
    const auto at = std::ranges::find(columns_, name, &Encoder::Feature::name);
    if (at != columns_.end()) groups_.push_back(static_cast<size_t>(at - columns_.begin()));
  }
}

void SingleWindowEncoder::read(std::span<const std::string_view> cells, std::span<double> out) const {
  const size_t width = columns_.size(), times = options_.time.size();
  for (size_t row = 0; row < static_cast<size_t>(window()); ++row)
    in_row(row, [&] {
      const auto given = cells.subspan(row * width, width);
      const auto to = out.subspan(row * width, width);
      for (size_t j = 0; j < times; ++j)
        to[j] = cell_number(columns_[j], given[j], rows_.missing(), rows_.notation());
      rows_.read(given.subspan(times), to.subspan(times));
      // Two categories that training did not have get the same number, but are two series.
      for (const size_t j : groups_)
        if (!columns_[j].levels.empty() && to[j] == static_cast<double>(columns_[j].levels.size()) &&
            trimmed(given[j]) != trimmed(cells[j]))
          refuse_series(columns_[j].name);
    });
}

void SingleWindowEncoder::check_size(size_t numbers) const {
  if (numbers != this->numbers())
    refuse(kSingleWindow, fmt::format("{} rows of {} cells", window(), columns_.size()),
           fmt::format("{} cells", numbers), "columns() names them");
}

/// Returns the time of a row: seconds since 1970, or the number of its time column.
double SingleWindowEncoder::time_of(std::span<const double> row) const {
  const std::span<const double> cells = row.first(options_.time.size());
  for (size_t j = 0; j < cells.size(); ++j)
    if (!std::isfinite(cells[j]))
      refuse(kSingleWindow, fmt::format("a time in {}", in_quotes(options_.time[j])),
             std::isnan(cells[j]) ? "a missing cell" : "an infinite number");
  if (!parts_) return cells[0];
  const RowTime time = parts_->of(cells);
  if (!time.fault.empty()) throw std::invalid_argument(time.fault);
  return time.seconds;
}

/// Encodes a row whose missing cells are replaced by those of `known`; indicators still mark them.
void SingleWindowEncoder::encode_row(std::span<const double> row, std::span<const double> known,
                                     std::span<float> out) const {
  rows_.encode(known, out.first(static_cast<size_t>(rows_.width())));
  if (!options_.fill_gaps) return;
  size_t end = 0;
  for (size_t j = 0; j < known.size(); ++j) {
    const Encoder::Feature& feature = rows_.columns()[j];
    end += static_cast<size_t>(feature.width());
    if (feature.indicator) out[end - 1] = std::isnan(row[j]) ? 1.0F : 0.0F;
  }
}

void SingleWindowEncoder::encode(std::span<const double> numbers, std::span<float> out) const {
  check_size(numbers.size());
  const size_t width = columns_.size(), times = options_.time.size(), d = static_cast<size_t>(features_);
  thread_local std::vector<double> known;
  double before = 0;
  for (size_t row = 0; row < static_cast<size_t>(window()); ++row)
    in_row(row, [&] {
      const std::span<const double> cells = numbers.subspan(row * width, width), own = cells.subspan(times);
      const double time = time_of(cells);
      if (row > 0 && !(std::abs(time - before - step_) <= time_tolerance(step_, time)))
        refuse(kSingleWindow, fmt::format("a time {:g} after that of the row before", step_),
               fmt::format("one {:g} after it", time - before),
               options_.fill_gaps ? "give the rows oldest first; a row that is missing with its time alone"
                                  : "give the rows oldest first, without a gap");
      for (const size_t j : groups_)
        if (!same_cell(cells[j], numbers[j]) && !(options_.fill_gaps && std::isnan(cells[j])))
          refuse_series(columns_[j].name);
      before = time;
      if (row == 0) known.assign(own.begin(), own.end());
      for (size_t j = 0; j < own.size(); ++j)
        if (!options_.fill_gaps || !std::isnan(own[j])) known[j] = own[j];
      const auto to = out.subspan(row * d, d);
      encode_row(own, known, to);
      calendar_features(time, periods_, to.subspan(static_cast<size_t>(rows_.width())));
    });
}

RowDistance SingleWindowEncoder::distance(std::span<const double> numbers) const {
  check_size(numbers.size());
  const size_t width = columns_.size(), times = options_.time.size();
  RowDistance all;
  for (size_t row = 0; row < static_cast<size_t>(window()); ++row) {
    const RowDistance one = rows_.distance(numbers.subspan(row * width + times, width - times));
    if (std::isnan(one.distance)) return one;
    all.beyond = std::max(all.beyond, one.beyond);
    all.distance = std::hypot(all.distance, one.distance);
  }
  all.distance =
      std::min(all.distance, std::numeric_limits<double>::max()) / std::sqrt(static_cast<double>(window()));
  return all;
}

}  // namespace slimbayes
