#include "slimbayes/methods/table_model.h"

#include <ATen/ATen.h>
#include <fmt/format.h>

#include "slimbayes/catalog/nearest.h"
#include "slimbayes/core/check.h"
#include "slimbayes/core/metrics.h"
#include "slimbayes/core/stored.h"
#include "slimbayes/methods/registry.h"
#include "slimbayes/storage/error.h"

namespace slimbayes {

namespace {

at::Tensor indices(const std::vector<int64_t>& rows) {
  return at::tensor(rows, at::TensorOptions().dtype(at::kLong));
}

std::vector<int64_t> row_list(const at::Tensor& x) {
  at::Tensor flat = x.to(at::kLong).contiguous();
  return {flat.const_data_ptr<int64_t>(), flat.const_data_ptr<int64_t>() + flat.numel()};
}

/// A split's row lists lie in the file as `split.train`, ... beside the method's tensors.
constexpr const char* kSplitNames[] = {"split.train", "split.valid", "split.test"};
constexpr std::vector<int64_t> SplitRows::*kSplitLists[] = {&SplitRows::train, &SplitRows::valid,
                                                            &SplitRows::test};

}  // namespace

TableModel fit_table(const Table& table, const TableFit& fit, const Table* valid, Callback* callback,
                     CheckpointPolicy checkpoint) {
  const MethodInfo& info = find_method(fit.method);
  const Row& row = registry_row(fit.method);
  TableModel model;
  model.method_ = info.name;
  model.options_ = info.resolve(fit.options);
  std::unique_ptr<Method> method = row.make(model.options_);

  std::vector<std::string> not_inputs = fit.ignore;
  not_inputs.push_back(fit.target);
  SplitOptions split{valid ? 0.0 : fit.valid_fraction, fit.test_fraction, fit.split, not_inputs};
  std::vector<std::string> names;
  for (const Column& column : table.columns) names.push_back(column.name);
  check(table.find(fit.target) != nullptr, "fit_table", fmt::format("a target column '{}'", fit.target),
        "a table without it", nearest_hint(fit.target, names));
  model.split_ = split_rows(table, split, Stream(fit.split_seed).split("split"));
  model.encoder_ = std::make_shared<const Encoder>(Encoder::fit(
      table, model.split_.train, {fit.target, fit.scale.empty() ? info.input_scale : fit.scale, fit.ignore}));
  model.table_hash_ = table_hash(table);

  Dataset all = model.encoder_->dataset(table, true);
  Split parts{all.subset(indices(model.split_.train)),
              valid ? model.encoder_->dataset(*valid, true) : all.subset(indices(model.split_.valid))};
  model.fitted_ = method->fit(parts, {Stream(fit.seed), callback, std::move(checkpoint)});
  return model;
}

Regression TableModel::predict(const Table& table, const PredictOptions& options) const {
  const Task& task = encoder_->schema().task;
  Predictive answer = fitted_->predict(encoder_->dataset(table, false), options);
  return rescaled(std::get<Regression>(answer), task.y_shift, task.y_scale);
}

Scores TableModel::ood(const Table& table) const { return fitted_->ood(encoder_->dataset(table, false)); }

nlohmann::json TableModel::evaluate(const Table& table, double level) const {
  const Task& task = encoder_->schema().task;
  at::Tensor y = encoder_->target(table) * task.y_scale + task.y_shift;
  return regression_report(predict(table), y, task.y_scale, level);
}

TensorFile TableModel::to_file() const {
  TensorFile file = fitted_->save();
  file.metadata["kind"] = "model";
  file.metadata["method"] = method_;
  file.metadata["options"] = options_.dump();
  file.metadata["encoder"] = encoder_->to_json().dump();
  file.metadata["table_hash"] = table_hash_;
  for (size_t i = 0; i < std::size(kSplitNames); ++i) {
    file.tensors[kSplitNames[i]] = to_stored(indices(split_.*kSplitLists[i]));
  }
  return file;
}

TableModel TableModel::from_file(const TensorFile& source, const std::string& name) {
  TensorFile file = source;
  TableModel model;
  try {
    check(stored_text(file, "kind") == "model", "load", "a model file", "a " + stored_text(file, "kind"));
    model.method_ = stored_text(file, "method");
    model.options_ = stored_json(file, "options");
    model.encoder_ = std::make_shared<const Encoder>(Encoder::from_json(stored_json(file, "encoder")));
    model.table_hash_ = stored_text(file, "table_hash");
    for (size_t i = 0; i < std::size(kSplitNames); ++i) {
      model.split_.*kSplitLists[i] = row_list(stored_tensor(file, kSplitNames[i]));
      file.tensors.erase(kSplitNames[i]);
    }
    model.fitted_ = registry_row(model.method_).load(file);
  } catch (const nlohmann::json::exception& error) {
    throw DataError(name, fmt::format("its metadata cannot be read ({}); fit it again", error.what()));
  } catch (const std::invalid_argument& error) {
    throw DataError(name, error.what());
  }
  return model;
}

TableModel TableModel::load(const std::filesystem::path& path) {
  return from_file(read_tensor_file(path), path.string());
}

void TableModel::save(const std::filesystem::path& path) const { write_tensor_file(path, to_file()); }

}  // namespace slimbayes
