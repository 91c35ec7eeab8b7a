#include "slimbayes/serve/served_rows.h"

#include <string_view>

#include "slimbayes/engine/spec/row_spec_file.h"
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
  const Shape input = schema.input.sizes.empty() ? Shape{{std::ssize(schema.features)}} : schema.input;
  check_fits(inputs_of(rows) == input.numel(), "a model of the encoder's inputs", "one of others");
  for (const NetworkSpec* network : engine::networks_in(parts.rows)) {
    const auto* embedding = network->layers.empty() ? nullptr : std::get_if<Embedding>(&network->layers[0]);
    const bool embeds = embedding == nullptr || embedding->tokens == schema.tokens;
    check_fits(network->input == input && embeds, "a network of the encoder's inputs", "one of others");
  }
  return rows;
}

}  // namespace slimbayes
