#pragma once

#include <ATen/ATen.h>

#include <memory>
#include <utility>

#include "slimbayes/core/random.h"
#include "slimbayes/explain/explained_rows.h"
#include "slimbayes/fit/fit_model.h"
#include "tests/data/tables.h"

namespace slimbayes {

/// Rows x1, x2, x3, y with independent normal inputs: y = 3 x1 + noise of sd exp(x2 / 2), and x3 says
/// nothing.
inline Table explained_table(int64_t rows, uint64_t seed = 1) {
  const Stream stream(seed);
  Table table = table_of({numbers("x1", {}), numbers("x2", {}), numbers("x3", {}), numbers("y", {})});
  table.rows = rows;
  for (int64_t i = 0; i < rows; ++i) {
    const auto k = static_cast<uint64_t>(i);
    const double x1 = stream.split("x1").normal(k), x2 = stream.split("x2").normal(k);
    table.columns[0].values.push_back(x1);
    table.columns[1].values.push_back(x2);
    table.columns[2].values.push_back(stream.split("x3").normal(k));
    table.columns[3].values.push_back(3 * x1 + std::exp(x2 / 2) * stream.split("y").normal(k));
  }
  return table;
}

/// Ridge regression of y on the table.
inline Model explained_ridge(const Table& table) {
  FitOptions fit;
  fit.target = "y";
  fit.method = "ridge";
  return fit_model(table, fit);
}

/// Answers with what made the targets of explained_table(): the mean depends on x1 alone, the noise on x2
/// alone, and the epistemic variance on nothing. `encoder` and `task` are those of the model that it stands
/// in.
class TrueFitted : public Fitted {
 public:
  explicit TrueFitted(const Model& model) : model_(model) {}

  Predictive predict(const Dataset& data, const PredictOptions&) const override {
    const at::Tensor x = data.all().inputs.at(0).to(at::kDouble);
    const auto& columns = std::get<Encoder>(model_.encoder()).columns();
    const auto raw = [&](int64_t i) {
      const auto& feature = columns[static_cast<size_t>(i)];
      return x.select(1, i) * feature.scale + feature.shift;
    };
    const Task& task = model_.schema().task;
    const at::Tensor mean = (3 * raw(0) - task.y_shift) / task.y_scale,
                     var = raw(1).exp() / (task.y_scale * task.y_scale);
    return Regression{mean, var, at::full_like(mean, 0.01)};
  }
  TensorFile save() const override { return {}; }
  const Summary& summary() const override { return summary_; }

 private:
  Model model_;
  Summary summary_;
};

/// The model of the table that knows the truth.
inline Model true_model(const Table& table) {
  const Model ridge = explained_ridge(table);
  ModelParts parts = ridge.parts();
  parts.fitted = std::make_shared<TrueFitted>(ridge);
  parts.noise = {};
  return Model(std::move(parts));
}

/// The table without its target.
inline Table without_target(Table table) {
  std::erase_if(table.columns, [](const Column& column) { return column.name == "y"; });
  return table;
}

}  // namespace slimbayes
