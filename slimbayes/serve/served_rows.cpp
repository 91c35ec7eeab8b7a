#include "slimbayes/serve/served_rows.h"

#include <string_view>

#include "slimbayes/storage/check.h"
#include "slimbayes/storage/memory.h"

namespace slimbayes {

namespace {

/// Returns a model of the engine, unless there is none or its answers need more memory than there is.
template <class Made>
Made usable(Made model) {
  check(model != nullptr, "serve", "a model that the engine can compute in the memory at hand", "another");
  check(static_cast<double>(model->scratch()) * sizeof(double) < static_cast<double>(memory_at_hand()),
        "serve", "a model that the memory at hand can answer", "a larger one");
  return model;
}

void check_fits(bool ok, std::string_view expected, std::string_view received) {
  check(ok, "serve", expected, received, "the model file is damaged");
}

ServedRows rows_of(const ServedFile& parts) {
  const Task& task = schema_of(parts.encoder).task;
  if (const auto* spec = std::get_if<engine::ClassSpec>(&parts.rows)) {
    RowClasses classes(usable(engine::class_model(*spec)), parts.calibration);
    check_fits(classes.classes() == std::ssize(task.levels), "probabilities of the model's classes",
               "those of others");
    return classes;
  }
  if (const auto* spec = std::get_if<engine::RateSpec>(&parts.rows)) return usable(engine::rate_model(*spec));
  return RowRegression(usable(engine::row_model(std::get<engine::RowSpec>(parts.rows))), task,
                       parts.least_noise, parts.calibration);
}

}  // namespace

int64_t inputs_of(const ServedRows& rows) {
  if (const auto* rates = std::get_if<RowRates>(&rows)) return (*rates)->inputs();
  if (const auto* classes = std::get_if<RowClasses>(&rows)) return classes->inputs();
  return std::get<RowRegression>(rows).inputs();
}

ServedRows served_rows(const ServedFile& parts) {
  ServedRows rows = rows_of(parts);
  const Schema& schema = schema_of(parts.encoder);
  const int64_t inputs = schema.input.sizes.empty() ? std::ssize(schema.features) : schema.input.numel();
  check_fits(inputs_of(rows) == inputs, "a model of the encoder's inputs", "one of others");
  return rows;
}

}  // namespace slimbayes
