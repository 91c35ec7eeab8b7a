#include "slimbayes/data/input_encoder.h"

#include <ATen/ATen.h>
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <numeric>

#include "slimbayes/catalog/nearest.h"
#include "slimbayes/core/check.h"
#include "slimbayes/core/json_reader.h"
#include "slimbayes/data/gaps.h"
#include "slimbayes/data/table/cell.h"
#include "slimbayes/data/target.h"
#include "slimbayes/storage/error.h"

namespace slimbayes {

namespace {

/// Combines one function per alternative for std::visit.
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
  check(table != nullptr, "input", "a table, as this model was fitted on", what_of(examples));
  return *table;
}

const WindowTable& windows_in(const Examples& examples) {
  const auto* windows = std::get_if<WindowTable>(&examples);
  check(windows != nullptr, "input", "windows of a table, as this model was fitted on", what_of(examples));
  return *windows;
}

const Images& images_in(const Examples& examples) {
  const auto* images = std::get_if<Images>(&examples);
  check(images != nullptr, "input", "images, as this model was fitted on", what_of(examples),
        "give the IDX file of the images");
  return *images;
}

WindowOptions window_options(const FitOptions& options) {
  return {options.window, options.horizon, options.time, options.group, options.fill_gaps};
}

std::vector<int64_t> numbers_to(size_t n) {
  std::vector<int64_t> numbers(n);
  std::iota(numbers.begin(), numbers.end(), 0);
  return numbers;
}

/// Returns the windows of a table; if `target` is a column's name, only those whose target is in the table.
WindowTable windows_of(Table table, const WindowOptions& options, std::optional<double> step,
                       const std::string& target) {
  TimeSeries series = find_series(table, options, step);
  if (options.fill_gaps) fill_gaps(table, series, options);
  Windows found = find_windows(table, std::move(series), options);
  std::vector<int64_t> chosen = numbers_to(found.last.size());
  if (!target.empty()) {
    chosen = windows_with_target(table, found, target);
    const int64_t needed = options.window + options.horizon, all = std::ssize(found.last);
    check(!chosen.empty(), "windows",
          fmt::format("windows whose {} is in the table, {} after the last that they see (runs of {} rows)",
                      in_quotes(target), counted(options.horizon, "row"), needed),
          fmt::format("none in {}; the longest run without a gap has {}", counted(all, "window"),
                      counted(found.longest, "row")),
          found.longest < needed ? "give more rows" : "give rows that have it");
    if (const int64_t without = all - std::ssize(chosen); without > 0)
      found.notes.push_back(
          fmt::format("{} of {} {} no {} to compare with, at the end of a run or where it is "
                      "missing: left out",
                      without, counted(all, "window"), without == 1 ? "has" : "have", in_quotes(target)));
  }
  return {std::make_shared<const Table>(std::move(table)), std::make_shared<const Windows>(std::move(found)),
          std::move(chosen)};
}

/// Returns the rows of the table whose targets these windows predict.
Table target_rows(const WindowTable& windows) {
  std::vector<int64_t> rows;
  for (int64_t i : windows.chosen) {
    const int64_t place = windows.windows->target[static_cast<size_t>(i)];
    check(place >= 0, "windows", "windows whose target lies in the table", "one beyond its end");
    rows.push_back(windows.windows->order[static_cast<size_t>(place)]);
  }
  return take_rows(*windows.table, rows);
}

SplitOptions split_options(const FitOptions& o) {
  std::vector<std::string> not_inputs = o.ignore;
  if (!o.target.empty()) not_inputs.push_back(o.target);
  const bool calibrated = o.calibrate != "none";
  return {o.valid_fraction, o.test_fraction, o.split, not_inputs, calibrated ? o.calibration_fraction : 0};
}

/// Returns the targets as the user wrote them: shifted by 0 and scaled by 1.
at::Tensor given_values(const Table& table, const std::string& target, Task task) {
  task.y_shift = 0;
  task.y_scale = 1;
  return target_values(table, target, task);
}

const std::string kLabel = "label", kNone;

}  // namespace

InputKind kind_of(const InputEncoder& encoder) {
  constexpr InputKind kKinds[] = {InputKind::table, InputKind::windows, InputKind::images, InputKind::text};
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

void check_examples(const Examples& examples, const FitOptions& options) {
  const InputKind kind = input_kind(options);
  const bool images = std::holds_alternative<Images>(examples);
  check(!images || kind == InputKind::images || kind == InputKind::table, "fit",
        "images without --window and --text", fmt::format("--{}", name_of(kind)), "leave it out");
  check(images || kind != InputKind::images, "fit", "images for --format", "a table");
  if (const auto* table = std::get_if<Table>(&examples); table != nullptr && kind == InputKind::text)
    check(table->find(options.text), "text", fmt::format("a column {} of text", in_quotes(options.text)),
          "a table without it", nearest_hint(options.text, table->names()));
  check_sections(options, images ? InputKind::images : kind);
  if (const auto* given = std::get_if<Images>(&examples)) {
    const int64_t side = std::min(given->pixels.size(2), given->pixels.size(3));
    check(options.crop < side, "fit", fmt::format("a crop below the images' side of {} pixels", side),
          fmt::format("{}", options.crop), "4 is usual for 32 pixels");
  }
  check(!std::holds_alternative<WindowTable>(examples) || kind == InputKind::windows, "fit",
        "a size of window for windows", "none", "set FitOptions::window");
}

Examples examples_of(Examples given, const FitOptions& options) {
  check_examples(given, options);
  const InputKind kind = input_kind(options);
  if (kind != InputKind::windows || !std::holds_alternative<Table>(given)) return given;
  return windows_of(std::get<Table>(std::move(given)), window_options(options), {}, options.target);
}

Examples examples_of(Examples given, const InputEncoder& encoder, bool with_target) {
  if (const auto* e = std::get_if<WindowEncoder>(&encoder)) {
    if (!std::holds_alternative<Table>(given)) return windows_in(given);
    return windows_of(std::get<Table>(std::move(given)), e->options(), e->step(),
                      with_target ? e->target_name() : "");
  }
  if (std::holds_alternative<ImageEncoder>(encoder))
    images_in(given);
  else
    table_in(given);
  return given;
}

SplitRows split_examples(const Examples& examples, const FitOptions& options) {
  SplitOptions split = split_options(options);
  if (const auto* w = std::get_if<WindowTable>(&examples))
    return split_windows(*w->windows, w->chosen, window_options(options), split);
  const Stream stream = Stream(options.split_seed).split("split");
  if (const auto* images = std::get_if<Images>(&examples)) {
    split.noun = noun_of(InputKind::images);
    return split_rows(alike_images(*images), split, stream);
  }
  const Table& table = std::get<Table>(examples);
  return options.text.empty() ? split_rows(table, split, stream)
                              : split_rows(alike_texts(table, options.text), split, stream);
}

RowGroups groups_of(const Examples& examples, const FitOptions& options) {
  const SplitOptions split = split_options(options);
  if (const auto* w = std::get_if<WindowTable>(&examples))
    return {numbers_to(w->chosen.size()), std::ssize(w->chosen)};
  if (const auto* images = std::get_if<Images>(&examples)) return row_groups(alike_images(*images), split);
  const Table& table = std::get<Table>(examples);
  return options.text.empty() ? row_groups(table, split)
                              : row_groups(alike_texts(table, options.text), split);
}

InputEncoder fit_encoder(const Examples& examples, const std::vector<int64_t>& train, const FitOptions& o,
                         const std::string& scale) {
  if (const auto* images = std::get_if<Images>(&examples))
    return ImageEncoder::fit(take_images(*images, train));
  if (!o.text.empty())
    return TextEncoder::fit(table_in(examples), train, {o.text, o.vocabulary, o.longest}, o.target,
                            o.likelihood, o.target_scale);
  EncoderOptions inputs{o.target,     scale, o.ignore,      o.scale_on,
                        o.likelihood, {},    o.categorical, o.target_scale};
  if (const auto* w = std::get_if<WindowTable>(&examples)) {
    std::vector<int64_t> places;
    for (int64_t i : train) places.push_back(w->chosen[static_cast<size_t>(i)]);
    return WindowEncoder::fit(*w->table, *w->windows, window_options(o), places, inputs);
  }
  if (!o.domain.empty()) inputs.domain = parse_domain(o.domain);
  return Encoder::fit(table_in(examples), train, inputs);
}

Dataset dataset_of(const InputEncoder& encoder, const Examples& examples, bool with_target,
                   std::vector<BadRow>* bad, const Augmentation& augmentation) {
  return std::visit(
      Overloaded{
          [&](const Encoder& e) {
            const Table& table = table_in(examples);
            if (bad == nullptr) return e.dataset(table, with_target);
            Batch rows{{e.inputs(table, bad)}};
            if (with_target && e.schema().task.kind != TaskKind::events) rows.target = e.target(table);
            return slimbayes::dataset_of(e.schema(), std::move(rows));
          },
          [&](const WindowEncoder& e) {
            const WindowTable& w = windows_in(examples);
            return e.dataset(*w.table, *w.windows, w.chosen, with_target, bad);
          },
          [&](const ImageEncoder& e) { return e.dataset(images_in(examples), with_target, augmentation); },
          [&](const TextEncoder& e) { return e.dataset(table_in(examples), with_target); }},
      encoder);
}

at::Tensor target_as_given(const InputEncoder& encoder, const Examples& examples) {
  const Task& task = schema_of(encoder).task;
  if (const auto* e = std::get_if<ImageEncoder>(&encoder)) {
    const Images& images = images_in(examples);
    check(images.labels.defined(), "evaluate", "a label for each image",
          fmt::format("none beside '{}'", images.source),
          fmt::format("the labels of an IDX file lie in '{}', .gz or not",
                      labels_beside(images.source).filename().string()));
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
    if (name == "images") return ImageEncoder::from_json(json);
    check(name == "text", "load", "an encoder of windows, images or text", in_quotes(name.substr(0, 40)),
          "the model file is damaged, or of a later version");
    return TextEncoder::from_json(json);
  };
  const InputEncoder encoder = read();
  check(schema_of(encoder).task.kind != TaskKind::events, "load", "a task that a target has", "events",
        "the model file is damaged");
  return encoder;
}

}  // namespace slimbayes
