#include "slimbayes/methods/plain/tree.h"

#include <ATen/ATen.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>
#include <optional>
#include <utility>

#include "slimbayes/core/check.h"

namespace slimbayes {

ClassRows::ClassRows(const at::Tensor& inputs, const at::Tensor& targets, int64_t classes_of_task,
                     int64_t most)
    : rows(inputs.size(0)), columns(inputs.size(1)), classes(classes_of_task) {
  const at::Tensor by_column = inputs.to(at::kFloat).t().contiguous(),
                   numbers = targets.to(at::kInt).contiguous();
  x.assign(by_column.const_data_ptr<float>(), by_column.const_data_ptr<float>() + by_column.numel());
  y.assign(numbers.const_data_ptr<int32_t>(), numbers.const_data_ptr<int32_t>() + numbers.numel());
  const int64_t all = std::max(rows, most);
  n_log_n.resize(static_cast<size_t>(all + 1), 0.0);
  for (int64_t n = 2; n <= all; ++n)
    n_log_n[static_cast<size_t>(n)] = static_cast<double>(n) * std::log(static_cast<double>(n));
}

namespace {

/// A cut of the rows of a node.
struct Cut {
  int32_t column = -1;
  float threshold = 0;
  double gain = -std::numeric_limits<double>::infinity();  // log likelihood of the classes on both sides
};

class Grower {
 public:
  Grower(const ClassRows& rows, std::vector<int32_t> of, int64_t tried, const Stream& stream)
      : rows_(rows),
        of_(std::move(of)),
        tried_(tried),
        stream_(stream),
        columns_(static_cast<size_t>(rows.columns)),
        counts_(static_cast<size_t>(rows.classes)),
        left_(static_cast<size_t>(rows.classes)) {
    std::iota(columns_.begin(), columns_.end(), 0);
  }

  /// Grows the nodes in the order of their numbers. A stack in place of recursion: a tree may be as deep as
  /// it has rows.
  Tree grow() {
    std::vector<Part> waiting = {{0, of_.size(), -1}};
    while (!waiting.empty()) {
      const Part part = waiting.back();
      waiting.pop_back();
      const auto number = static_cast<int32_t>(tree_.nodes.size());
      if (part.above >= 0) tree_.nodes[static_cast<size_t>(part.above)].right = number;
      const Cut cut = pure(part) ? Cut{} : best_cut(part);
      if (cut.column < 0) {
        add_leaf();
        continue;
      }
      tree_.nodes.push_back({cut.column, cut.threshold, 0});
      const size_t middle = divided(part, cut);
      waiting.push_back({middle, part.end, number});
      waiting.push_back({part.begin, middle, -1});
    }
    return std::move(tree_);
  }

 private:
  struct Part {
    size_t begin, end;  // of of_
    int32_t above;      // the node whose right child this is; -1: a left child or the root
  };

  /// Counts the classes of the rows and returns whether there is only one.
  bool pure(const Part& part) {
    std::ranges::fill(counts_, 0);
    for (size_t i = part.begin; i < part.end; ++i) ++counts_[class_of(of_[i])];
    return static_cast<size_t>(std::ranges::max(counts_)) == part.end - part.begin;
  }

  /// Returns the best of the cuts of `tried` columns that are not constant; none if all are.
  Cut best_cut(const Part& part) {
    Cut best;
    const size_t all = columns_.size();
    int64_t found = 0;
    for (size_t i = 0; i < all && found < tried_; ++i) {
      if (tried_ < rows_.columns) {
        const size_t j = i + static_cast<size_t>(stream_.bits(drawn_++) % (all - i));
        std::swap(columns_[i], columns_[j]);
      }
      const std::optional<Cut> cut = random_cut(part, columns_[i]);
      if (!cut) continue;
      ++found;
      if (cut->gain > best.gain) best = *cut;
    }
    return best;
  }

  /// Cuts a column at a random place; nothing if it is constant.
  std::optional<Cut> random_cut(const Part& part, int32_t column) {
    const float* x = column_of(column);
    float low = x[of_[part.begin]], high = low;
    for (size_t i = part.begin + 1; i < part.end; ++i) {
      low = std::min(low, x[of_[i]]);
      high = std::max(high, x[of_[i]]);
    }
    if (low == high) return {};
    const double share = stream_.uniform(drawn_++);
    auto threshold = static_cast<float>(low + share * (static_cast<double>(high) - low));
    if (threshold >= high) threshold = low;  // rounding: both sides get rows
    std::ranges::fill(left_, 0);
    for (size_t i = part.begin; i < part.end; ++i)
      if (x[of_[i]] <= threshold) ++left_[class_of(of_[i])];
    double gain = 0;
    int32_t lefts = 0, rights = 0;
    for (size_t k = 0; k < left_.size(); ++k) {
      const int32_t right = counts_[k] - left_[k];
      gain += rows_.n_log_n[static_cast<size_t>(left_[k])] + rows_.n_log_n[static_cast<size_t>(right)];
      lefts += left_[k];
      rights += right;
    }
    gain -= rows_.n_log_n[static_cast<size_t>(lefts)] + rows_.n_log_n[static_cast<size_t>(rights)];
    return Cut{column, threshold, gain};
  }

  size_t divided(const Part& part, const Cut& cut) {
    const float* x = column_of(cut.column);
    const auto begin = of_.begin();
    const auto middle = std::partition(begin + static_cast<std::ptrdiff_t>(part.begin),
                                       begin + static_cast<std::ptrdiff_t>(part.end),
                                       [&](int32_t row) { return x[row] <= cut.threshold; });
    return static_cast<size_t>(middle - begin);
  }

  void add_leaf() {
    tree_.nodes.push_back({-1, 0, leaves_++});
    tree_.counts.insert(tree_.counts.end(), counts_.begin(), counts_.end());
  }

  size_t class_of(int32_t row) const { return static_cast<size_t>(rows_.y[static_cast<size_t>(row)]); }
  const float* column_of(int32_t column) const { return rows_.x.data() + column * rows_.rows; }

  const ClassRows& rows_;
  std::vector<int32_t> of_;
  int64_t tried_;
  const Stream& stream_;
  uint64_t drawn_ = 0;
  std::vector<int32_t> columns_, counts_, left_;
  Tree tree_;
  int32_t leaves_ = 0;
};

}  // namespace

Tree grown_tree(const ClassRows& rows, std::vector<int32_t> of, int64_t tried, const Stream& stream) {
  internal_check(!of.empty(), "grown_tree", "a tree needs rows");
  return Grower(rows, std::move(of), tried, stream).grow();
}

int64_t repeated_count(double total, int64_t most) {
  return std::max<int64_t>(1, std::llround(std::min(total, static_cast<double>(most))));
}

std::vector<int32_t> repeated_rows(const std::vector<int32_t>& of, const std::vector<double>& weights,
                                   int64_t most, const Stream& stream) {
  internal_check(!of.empty(), "repeated_rows", "a tree needs rows");
  double total = 0;
  for (const int32_t row : of) total += weights[static_cast<size_t>(row)];
  const int64_t count = repeated_count(total, most);
  const double factor = static_cast<double>(count) / total, start = stream.split("start").uniform(0);
  const at::Tensor order = stream.split("order").permutation(std::ssize(of));
  std::vector<int32_t> rows;
  rows.reserve(static_cast<size_t>(count));
  double end = 0;  // of the stretch of a row: it comes once for each mark start, start + 1, ... below
  for (int64_t i = 0; i < std::ssize(of); ++i) {
    const int32_t row = of[static_cast<size_t>(order.const_data_ptr<int64_t>()[i])];
    end += factor * weights[static_cast<size_t>(row)];
    while (std::ssize(rows) < count && start + static_cast<double>(std::ssize(rows)) < end)
      rows.push_back(row);
  }
  while (std::ssize(rows) < count) rows.push_back(of.back());  // rounding of the sum
  return rows;
}

}  // namespace slimbayes
