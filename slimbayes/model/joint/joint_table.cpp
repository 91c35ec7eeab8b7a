// Tables of the answers of a model of several targets (declared in model/answer_table.h).
#include <ATen/ATen.h>
#include <fmt/format.h>

#include <algorithm>
#include <iterator>

#include "slimbayes/core/check.h"
#include "slimbayes/data/table/cell.h"
#include "slimbayes/model/answer_table.h"
#include "slimbayes/model/joint/joint_model.h"

namespace slimbayes {

namespace {

std::string name_in(const std::string& target, const std::string& column) { return target + "." + column; }

Column numeric(std::string name, std::vector<double> values) {
  Column out;
  out.name = std::move(name);
  out.values = std::move(values);
  return out;
}

/// Returns a column of the region: the bounds of the m rows, spread over all of them.
Column bound(const std::string& name, const at::Tensor& bounds, const JointAnswers& answers, int64_t all) {
  std::vector<double> values(static_cast<size_t>(all), kMissing);
  for (size_t i = 0; i < answers.rows.size(); ++i)
    values[static_cast<size_t>(answers.rows[i])] = bounds[static_cast<int64_t>(i)].item<double>();
  return numeric(name, std::move(values));
}

}  // namespace

AnswerTable joint_answer_table(const JointModel& model, const Examples& rows, const JointAnswers& answers,
                               const TableOptions& options, const JointRegion* region) {
  AnswerTable out;
  std::vector<Column>& columns = out.table.columns;
  for (size_t t = 0; t < model.models().size(); ++t) {
    const Model& one = model.models()[t];
    TableOptions own{.kept = {}, .more = {}, .parts = options.parts, .quantiles = options.quantiles};
    if (t == 0) own.kept = options.kept;
    if (one.schema().task.kind == TaskKind::classification) own.quantiles.clear();
    AnswerTable part = answer_table(one, rows, answers.marginal.at(t), own);
    for (size_t c = part.exact; c < part.table.columns.size(); ++c)
      part.table.columns[c].name = name_in(one.target(), part.table.columns[c].name);
    out.table.rows = part.table.rows;
    if (t == 0) out.exact = part.exact;
    std::ranges::move(part.table.columns, std::back_inserter(columns));
  }
  for (size_t j = 0; region != nullptr && j < model.scored().size(); ++j) {
    const std::string& target = model.models()[model.scored()[j]].target();
    const auto column = static_cast<int64_t>(j);
    const int64_t all = out.table.rows;
    columns.push_back(bound(name_in(target, "region_lower"), region->lower.select(1, column), answers, all));
    columns.push_back(bound(name_in(target, "region_upper"), region->upper.select(1, column), answers, all));
  }
  std::ranges::copy(options.more, std::back_inserter(columns));
  for (auto column = columns.begin(); column != columns.end(); ++column)
    if (std::find_if(columns.begin(), column, [&](const Column& c) { return c.name == column->name; }) !=
        column)
      refuse("predict", "other names for `.keep` than those of the answer", in_quotes(column->name),
             "rename that column");
  return out;
}

Table draws_table(const JointModel& model, const Table& rows, const JointAnswers& answers,
                  const at::Tensor& draws) {
  const auto m = std::ssize(answers.rows), targets = std::ssize(model.models());
  check_shape(draws, {-1, m, targets}, "draws_table", "draws");
  const int64_t count = draws.size(0);
  Table out{rows.source, {}, m * count};
  std::vector<double> row, draw;
  for (const int64_t i : answers.rows)
    for (int64_t s = 1; s <= count; ++s) {
      row.push_back(static_cast<double>(row_number(rows, i)));
      draw.push_back(static_cast<double>(s));
    }
  out.columns = {numeric("row", std::move(row)), numeric("draw", std::move(draw))};
  for (size_t t = 0; t < model.models().size(); ++t) {
    const Model& one = model.models()[t];
    if (out.find(one.target()))
      refuse("predict", "targets of other names than the columns row and draw", in_quotes(one.target()),
             "rename that column");
    const at::Tensor own = draws.select(2, static_cast<int64_t>(t)).t().to(at::kDouble).contiguous();
    const auto* first = own.const_data_ptr<double>();
    Column column = numeric(one.target(), {first, first + own.numel()});
    if (one.schema().task.kind == TaskKind::classification) {
      column.kind = ColumnKind::categorical;
      column.levels = one.schema().task.levels;
    }
    out.columns.push_back(std::move(column));
  }
  return out;
}

}  // namespace slimbayes
