#pragma once

#include <cstdint>
#include <map>
#include <nlohmann/json_fwd.hpp>
#include <span>
#include <string>
#include <vector>

#include "slimbayes/data/table/table.h"
#include "slimbayes/encoding/moments.h"

namespace slimbayes {

/// What the encoder learns from the training cells of a column.
struct ColumnStatistics {
  int64_t rows = 0, present = 0;           // cells; those that are not missing
  Moments moments = {};                    // of the numbers, booleans or times
  double low = 0, high = 0;                // their range
  std::map<double, int64_t> numbers = {};  // of a target: the cells with each number, if these are few
  bool numbering = false;                  // whether the column numbers the rows (numbering_columns)
  bool free_text = false;                  // whether the cells differ as in an identifier (is_free_text)
  std::vector<int64_t> counts = {};        // by level, of a categorical column
  std::vector<double> weights = {};        // by level: sum of the weights; empty: as `counts`
};

/// Returns the statistics of the cells in these rows. `weights` has the weight of each row of the table, for
/// `moments` and `weights` alone; empty: each counts once.
ColumnStatistics column_statistics(const Column& column, const std::vector<int64_t>& rows,
                                   std::span<const double> weights = {});

/// Collects the statistics of a column whose cells come in parts. They are those of column_statistics() up to
/// rounding.
class StatisticsOfParts {
 public:
  /// What is collected of a column: of a target also the number of cells with each value, of free text only
  /// how many cells there are.
  enum Kind : uint8_t { input, target, free_text };
  explicit StatisticsOfParts(Kind kind = input) : kind_(kind) {}

  void add(const Column& column, const std::vector<int64_t>& rows);

  /// Adds the cells that another object has collected, of the same kind.
  void add(const StatisticsOfParts& other);

  /// Returns the statistics. counts[i] is that of levels()[i], in alphabetical order.
  ColumnStatistics statistics() const;
  std::vector<std::string> levels() const;

  /// Returns all of this for another process, and this from what another process has returned.
  nlohmann::json as_json() const;
  static StatisticsOfParts from_json(const nlohmann::json& json);

 private:
  void add_levels(const Column& column, const std::vector<int64_t>& rows);
  void count_number(double value, int64_t cells);
  void join_moments(int64_t count, long double mean, long double squares);
  size_t place_of(const std::string& level);

  Kind kind_;
  int64_t rows_ = 0, present_ = 0;
  long double mean_ = 0, squares_ = 0;  // squares of the distances from the mean, summed
  double low_ = 0, high_ = 0;
  std::map<double, int64_t> numbers_;
  bool many_numbers_ = false;
  std::vector<int64_t> counts_;
  std::map<std::string, size_t, std::less<>> places_;  // in counts_; at most kMostLevels levels are counted
};

}  // namespace slimbayes
