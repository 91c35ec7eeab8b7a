#include "slimbayes/data/input_encoder.h"

#include <ATen/ATen.h>
#include <fmt/format.h>

#include <utility>

#include "slimbayes/catalog/json_reader.h"
#include "slimbayes/core/check.h"
#include "slimbayes/data/rows/row_tensors.h"
#include "slimbayes/data/table/cell.h"
#include "slimbayes/data/text/text_dataset.h"
#include "slimbayes/data/windows/window_dataset.h"
#include "slimbayes/encoding/target.h"
#include "slimbayes/storage/printable.h"

namespace slimbayes {

namespace {

/// Makes one visitor for std::visit from several lambdas, one for each type of encoder.
template <class... Functions>
struct Overloaded : Functions... {
  using Functions::operator()...;
};
template <class... Functions>
Overloaded(Functions...) -> Overloaded<Functions...>;  // C++20 needs no guide; clang 14 does

const char* what_of(const Examples& examples) {
  return std::holds_alternative<Images>(examples) ? "images" : "a table";
}

const Table& table_in(const Examples& examples) {
  const auto* table = std::get_if<Table>(&examples);
  if (table == nullptr) refuse("input", "a table, as this model was fitted on", what_of(examples));
  return *table;
}

const WindowTable& windows_in(const Examples& examples) {
  const auto* windows = std::get_if<WindowTable>(&examples);
  if (windows == nullptr)
    refuse("input", "windows of a table, as this model was fitted on", what_of(examples));
  return *windows;
}

const Images& images_in(const Examples& examples) {
  const auto* images = std::get_if<Images>(&examples);
  if (images == nullptr)
    refuse("input", "images, as this model was fitted on", what_of(examples),
           "give the IDX file of the images");
  return *images;
}

/// Returns the targets in the user's units: encoded as target_values does, but with a shift of 0 and a scale
/// of 1, and without bounds.
at::Tensor given_values(const Table& table, const std::string& target, Task task) {
  task.bounds.reset();
  task.y_shift = 0;
  task.y_scale = 1;
  return target_tensor(table, target, task);
}

/// Returns the weight of each row of the windows' table: that of the window which predicts it, else 1. [rows]
std::vector<double> weights_of_rows(const WindowTable& windows, std::span<const double> weights) {
  std::vector<double> of_rows(static_cast<size_t>(windows.table->rows), 1);
  for (size_t k = 0; k < windows.selected.size(); ++k) {
    const int64_t place = windows.windows->target[static_cast<size_t>(windows.selected[k])];
    if (place < 0) continue;
    of_rows[static_cast<size_t>(windows.windows->order[static_cast<size_t>(place)])] = weights[k];
  }
  return of_rows;
}

const std::string kLabel = "label", kNone;

}  // namespace

InputKind kind_of(const InputEncoder& encoder) {
  constexpr InputKind kKinds[] = {InputKind::table, InputKind::windows, InputKind::images, InputKind::text};
  if (schema_of(encoder).task.grid) return InputKind::segmentation;
  return kKinds[encoder.index()];
}

const Schema& schema_of(const InputEncoder& encoder) {
  return std::visit([](const auto& e) -> const Schema& { return e.schema(); }, encoder);
}

const std::string& target_of(const InputEncoder& encoder) {
  return std::visit(Overloaded{[](const ImageEncoder&) -> const std::string& { return kLabel; },
                               [](const auto& e) -> const std::string& { return e.target_name(); }},
                    encoder);
}

Reading reading_of(const InputEncoder& encoder, bool with_target) {
  return std::visit(Overloaded{[&](const Encoder& e) { return e.reading(with_target); },
                               [&](const TextEncoder& e) { return e.reading(with_target); },
                               [](const WindowEncoder& e) { return e.reading(); },
                               [](const ImageEncoder&) { return Reading{}; }},
                    encoder);
}

Examples examples_of(Examples given, const InputEncoder& encoder, bool with_target) {
  if (const auto* e = std::get_if<WindowEncoder>(&encoder)) {
    if (!std::holds_alternative<Table>(given)) return windows_in(given);
    return window_table(e->rows().as_trained(std::get<Table>(std::move(given))), e->options(), e->step(),
                        with_target ? e->target_name() : "");
  }
  if (std::holds_alternative<ImageEncoder>(encoder))
    images_in(given);
  else
    table_in(given);
  if (const auto* e = std::get_if<Encoder>(&encoder)) return e->as_trained(std::get<Table>(std::move(given)));
  return given;
}

InputEncoder fit_encoder(const Examples& examples, const std::vector<int64_t>& train, const FitOptions& o,
                         const std::string& scale, const TableStatistics* all,
                         std::span<const double> weights, const std::vector<int64_t>* input_rows) {
  if (const auto* images = std::get_if<Images>(&examples))
    return ImageEncoder::fit(take_images(*images, train), o.pixel_divisor);
  if (!o.text.empty())
    return TextEncoder::fit(table_in(examples), train,
                            {.column = o.text, .vocabulary = o.vocabulary, .longest = o.longest},
                            {.name = o.target,
                             .likelihood = o.likelihood,
                             .scale = o.target_scale,
                             .weights = weights,
                             .bounds = bounds_named(o.bounds)});
  EncoderOptions inputs{.target = o.target,
                        .scale = scale,
                        .ignore = ignored_columns(o),
                        .scale_on = o.scale_on,
                        .likelihood = o.likelihood,
                        .names = o.categorical,
                        .target_scale = o.target_scale,
                        .bounds = bounds_named(o.bounds)};
  if (const auto* w = std::get_if<WindowTable>(&examples)) {
    std::vector<int64_t> places;
    for (int64_t i : train) places.push_back(w->selected[static_cast<size_t>(i)]);
    if (!weights.empty()) inputs.weights = weights_of_rows(*w, weights);
    return WindowEncoder::fit({w->table, w->windows, std::move(places)}, inputs);
  }
  inputs.weights.assign(weights.begin(), weights.end());
  if (!o.domain.empty()) inputs.domain = parse_domain(o.domain);
  return Encoder::fit(table_in(examples), train, inputs, all, input_rows);
}

Dataset dataset_of(const InputEncoder& encoder, const Examples& examples, bool with_target,
                   std::vector<BadRow>* bad) {
  return std::visit(
      Overloaded{
          [&](const Encoder& e) { return row_dataset(e, table_in(examples), with_target, bad); },
          [&](const WindowEncoder& e) { return window_dataset(e, windows_in(examples), with_target, bad); },
          [&](const ImageEncoder& e) { return e.dataset(images_in(examples), with_target); },
          [&](const TextEncoder& e) { return text_dataset(e, table_in(examples), with_target); }},
      encoder);
}

Dataset training_dataset(const InputEncoder& encoder, const Examples& examples,
                         const Augmentation& augmentation) {
  if (const auto* images = std::get_if<ImageEncoder>(&encoder))
    return images->dataset(images_in(examples), true, augmentation);
  return dataset_of(encoder, examples, true);
}

at::Tensor target_as_given(const InputEncoder& encoder, const Examples& examples) {
  const Task& task = schema_of(encoder).task;
  if (const auto* e = std::get_if<ImageEncoder>(&encoder)) {
    const Images& images = images_in(examples);
    if (!images.labels.defined())
      refuse("evaluate", "a label for each image",
             fmt::format("none beside '{}'", foreign_text(images.source)),
             fmt::format("the labels of an IDX file lie in '{}', .gz or not",
                         foreign_text(labels_beside(images.source).filename().string())));
    return e->target(images);
  }
  if (std::holds_alternative<WindowEncoder>(encoder))
    return given_values(target_rows(windows_in(examples)), target_of(encoder), task);
  return given_values(table_in(examples), target_of(encoder), task);
}

void check_targets(const InputEncoder& encoder, const Examples& examples) {
  if (std::holds_alternative<ImageEncoder>(encoder)) return;
  const auto* windows = std::get_if<WindowTable>(&examples);
  check_standardised(windows ? *windows->table : table_in(examples), target_of(encoder),
                     schema_of(encoder).task);
}

std::vector<std::string> notes_of(const InputEncoder& encoder) {
  if (const auto* e = std::get_if<Encoder>(&encoder)) return e->notes();
  if (const auto* e = std::get_if<WindowEncoder>(&encoder)) return e->rows().notes();
  return {};
}

std::vector<std::string> notes_for(const InputEncoder& encoder, const Examples& examples) {
  return std::visit(Overloaded{[&](const Encoder& e) { return e.notes_for(table_in(examples)); },
                               [&](const WindowEncoder& e) {
                                 const WindowTable& w = windows_in(examples);
                                 std::vector<std::string> notes = w.windows->notes;
                                 for (std::string& note : e.notes_for(*w.table, *w.windows))
                                   notes.push_back(std::move(note));
                                 return notes;
                               },
                               [](const ImageEncoder&) { return std::vector<std::string>{}; },
                               [&](const TextEncoder& e) { return e.notes_for(table_in(examples)); }},
                    encoder);
}

std::optional<Outside> outside(const InputEncoder& encoder, const Examples& examples) {
  const auto* e = std::get_if<Encoder>(&encoder);
  return e == nullptr ? std::nullopt : outside(*e, table_in(examples));
}

nlohmann::json to_json(const InputEncoder& encoder) {
  return std::visit([](const auto& e) { return e.to_json(); }, encoder);
}

InputEncoder input_encoder_from_json(const nlohmann::json& json) {
  check(json.is_object(), "load", "an encoder", "another value", "the model file is damaged");
  const nlohmann::json kind = json.value("kind", nlohmann::json());
  if (kind.is_null()) return Encoder::from_json(json);
  const std::string name = JsonReader(json, "load").text("kind");
  const auto read = [&]() -> InputEncoder {
    if (name == "windows") return WindowEncoder::from_json(json);
    if (name == "images" || name == "segmentation") return ImageEncoder::from_json(json);
    if (name != "text")
      refuse("load", "an encoder of windows, images, segmentation or text", in_quotes(name.substr(0, 40)),
             "the model file is damaged, or of a later version");
    return TextEncoder::from_json(json);
  };
  const InputEncoder encoder = read();
  check(schema_of(encoder).task.kind != TaskKind::events, "load", "a task that a target has", "events",
        "the model file is damaged");
  return encoder;
}

}  // namespace slimbayes
