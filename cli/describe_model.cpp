// The output of `describe` for a model file. The file is not trusted: any entry may be missing or have an
// unexpected type, and is then left out.
#include <fmt/format.h>

#include <algorithm>
#include <filesystem>
#include <map>
#include <tuple>
#include <utility>
#include <vector>

#include "cli/candidates_text.h"
#include "cli/describe_text.h"
#include "cli/encoder_text.h"
#include "cli/layers_text.h"
#include "cli/terminal.h"
#include "slimbayes/catalog/network/networks.h"
#include "slimbayes/storage/error.h"
#include "slimbayes/storage/json_depth.h"
#include "slimbayes/storage/model_kind.h"
#include "slimbayes/storage/printable.h"
#include "slimbayes/storage/tensor_file.h"

namespace slimbayes::cli {
namespace {

using nlohmann::json;

/// Returns a metadata entry as JSON if it holds an object or a list, else as a text. JSON that is nested
/// deeper than 32 levels stays a text: printing is recursive, and a hostile file could exhaust the stack.
json metadata_value(const std::string& text) {
  constexpr int kDeepest = 32;
  if (!nests_at_most(text, kDeepest)) return text;
  const json value = json::parse(text, nullptr, false);
  return value.is_object() || value.is_array() ? value : json(text);
}

/// Returns the first words of a list, comma-separated, as many as fit on about one line; "..." stands for the
/// rest.
std::string shortened(const json& words) {
  std::string text;
  for (const json& word : words) {
    if (text.size() > 80) return text + ", ...";
    text += (text.empty() ? "" : ", ") + plain(word);
  }
  return text;
}

/// Returns the combinations of options that --tune tried, one per line, and marks the chosen one; "" if the
/// model was not tuned.
std::string tuning_text(const json& tuning) {
  if (!tuning.is_object() || !tuning.contains("tried") || !tuning["tried"].is_array()) return "";
  const json best = tuning.value("best", json());
  std::string text = "\ntuning\n";
  for (const json& entry : tuning["tried"]) {
    if (!entry.is_object()) continue;
    std::string line;
    for (const auto& item : entry.items())
      line += fmt::format(
          "{}{} {}", line.empty() ? "" : ", ", shown(item.key()),
          item.value().is_number() ? fmt::format("{:.5g}", item.value().get<double>()) : plain(item.value()));
    text += fmt::format("  {}{}\n", line, entry == best ? "  <- chosen" : "");
  }
  return text;
}

/// Returns the domain of a model of events in the form of --domain, such as "0:1,0:2"; "" for other models.
std::string domain_text(const json& encoder) {
  const json columns = encoder.value("columns", json());
  if (encoder.value("task", json()) != json(name_of(TaskKind::events)) || !columns.is_array()) return "";
  std::string text;
  for (const json& column : columns) {
    if (!column.is_object()) return "";
    const json shift = column.value("shift", json()), scale = column.value("scale", json());
    if (!shift.is_number() || !scale.is_number()) return "";
    const auto middle = shift.get<double>(), half = scale.get<double>();
    text += fmt::format("{}{:.6g}:{:.6g}", text.empty() ? "" : ",", middle - half, middle + half);
  }
  return text;
}

/// Returns the kind of input of the model whose encoder this is; a table if the encoder does not tell
/// another.
InputKind kind_of(const json& encoder) {
  const json kind = encoder.is_object() ? encoder.value("kind", json()) : json();
  for (InputKind known : {InputKind::windows, InputKind::images, InputKind::text, InputKind::segmentation}) {
    if (kind == json(name_of(known))) return known;
  }
  return InputKind::table;
}

/// Returns the calibration groups of a column, as the end of calibration_text(): "" if there are none.
std::string calibration_groups_text(const json& by, std::string_view noun) {
  constexpr size_t kShown = 12;
  if (!by.is_object() || !by.contains("groups") || !by["groups"].is_array()) return "";
  std::string text;
  size_t shown = 0;
  for (const json& one : by["groups"]) {
    if (!one.is_object() || shown == kShown) break;
    const json cell = one.value("cell", json()), most = one.value("most_level", json());
    text += fmt::format("{}{} {} {}s{}", shown++ == 0 ? "" : ", ", cell.is_null() ? "missing" : plain(cell),
                        plain(one.value("rows", json())), noun,
                        most.is_number() ? fmt::format(" (up to {:.4g} %)", 100 * most.get<double>()) : "");
  }
  if (by["groups"].size() > shown) text += fmt::format(" and {} more", by["groups"].size() - shown);
  return fmt::format("; by {}, each group by itself up to its level, above it by all {}s: {}",
                     plain(by.value("column", json())), noun, text);
}

/// Returns how the intervals or the sets of classes were calibrated, as one line; "" if they were not.
std::string calibration_text(const json& facts, std::string_view noun) {
  const auto found = facts.find("calibration");
  if (found == facts.end() || !found->is_object()) return "";
  const json groups = found->value("groups", json());
  if (const json seen = found->value("seen", json()); !seen.is_null())
    return fmt::format("adaptive, begun on {} {}s of its own, at present after {}",
                       plain(found->value("rows", json())), noun, plain(seen));
  return fmt::format("split {}, calibrated on {} {}s of its own{}{}", plain(found->value("method", json())),
                     plain(found->value("rows", json())), noun,
                     groups.is_null() ? "" : fmt::format(" in {} groups of identical inputs", plain(groups)),
                     calibration_groups_text(found->value("by", json()), noun));
}

/// Returns how cross-fitting estimated the noise of the model, as one line; "" if cross-fitting was not used.
std::string noise_text(const json& facts) {
  const json noise = facts.value("noise", json());
  if (!noise.is_object() || !noise.contains("folds") || noise["folds"] == 0) return "";
  const json sd = noise.value("sd", json());
  return fmt::format("{}-fold cross-fitting on {} rows: an sd of at least {} in the target's units",
                     plain(noise["folds"]), plain(noise.value("rows", json())),
                     sd.is_number() ? fmt::format("{:.4g}", sd.get<double>()) : plain(sd));
}

/// Returns two sections of the output: one line per column of the data, of which `weights` may be that of the
/// weights, and the notes that the encoder gave.
std::string encoder_sections(const json& encoder, const std::string& weights) {
  if (!encoder.is_object()) return "";
  const json rows = encoder.value("rows", json());
  const std::string columns = columns_text(encoder, weights);
  std::string text = columns.empty() ? "" : "\ncolumns\n" + columns;
  const json notes = (rows.is_object() ? rows : encoder).value("notes", json::array());
  if (!notes.is_array() || notes.empty()) return text;
  text += "\nnotes\n";
  for (const json& note : notes) text += indented(plain(note), 2);
  return text;
}

/// Returns one line on what the model reads, for windows, images or text; "" for rows of a table.
std::string input_text(const json& encoder) {
  const json kind = encoder.value("kind", json());
  const auto fact = [&](const char* key) { return plain(encoder.value(key, json())); };
  const auto list = [&](const char* key) {
    const json words = encoder.value(key, json::array());
    return words.is_array() ? shortened(words) : "";
  };
  if (kind == "windows") {
    const std::string groups = list("group");
    return fmt::format("windows of {} row{}, the target {} ahead, time {}{}{}", fact("window"),
                       fact("window") == "1" ? "" : "s", fact("horizon"), list("time"),
                       groups.empty() ? "" : ", series by " + groups,
                       encoder.value("fill_gaps", json()) == true ? ", gaps filled" : "");
  }
  if (kind == "images") return fmt::format("images of {} (channels, height, width)", list("size"));
  if (kind == "segmentation")
    return fmt::format("images of {} (channels, height, width), a class for each pixel", list("size"));
  if (kind != "text") return "";
  const json words = encoder.value("words", json::array());
  return fmt::format("text in {}, {} words, at most {} tokens", fact("column"), words.size(),
                     fact("longest"));
}

/// Returns a value as one line: a number with at most six significant digits.
std::string rounded_value(const json& value) {
  return value.is_number_float() ? fmt::format("{:.6g}", value.get<double>()) : plain(value);
}

/// Returns an entry of the file as a line with name and value. If the value is a list of sentences, each has
/// a line of its own, and only the first line has the name. For the network "auto", adds the network that it
/// stands for with this kind of input. An empty text gives no line.
std::string line_of(const std::string& name, const json& value, InputKind kind) {
  if (value.is_string() && value.get_ref<const std::string&>().empty()) return "";
  const auto line = [](const std::string& head, const std::string& text) {
    return fmt::format("  {:<18} {}\n", shown(head), text);
  };
  if (!value.is_array()) {
    const bool automatic = name == "network" && value == "auto";
    return line(name, rounded_value(value) + (automatic ? ": " + network_name("auto", kind) : ""));
  }
  std::string text;
  for (const json& one : value) text += line(text.empty() ? name : "", plain(one));
  return text;
}

/// Returns the section on the parts of the split: the number of rows in each. All are 0 after an update,
/// which gives up the split.
std::string rows_section(const std::map<std::string, int64_t>& rows, std::string_view noun, bool shard) {
  if (rows.empty()) return "";
  std::string text = fmt::format("\n{}s\n", noun);
  if (std::ranges::all_of(rows, [](const auto& part) { return part.second == 0; }))
    return text +
           (shard ? "  a shard: it has learned the rows in summary alone; merge it with the model it came "
                    "from\n"
                  : "  the model gave up its split in an update, forget or merge, or was fitted with "
                    "--cache; summary has what it "
                    "learned\n");
  for (const auto& [part, size] : rows) text += fmt::format("  {:<18} {}\n", shown(part), size);
  return text;
}

/// Returns the options by which the model reads the cells of a text file, as flags; "" for plain numbers and
/// ISO dates.
std::string notation_text(const json& fit) {
  std::string text;
  for (const auto& [name, flag, plain_value] : {std::tuple{"thousands", "--thousands", ""},
                                                {"decimal", "--decimal", "."},
                                                {"separator", "--separator", ","},
                                                {"date_format", "--date-format", ""}}) {
    const json given = fit.is_object() ? fit.value(name, json()) : json();
    if (given.is_string() && given != plain_value)
      text += fmt::format("{}{} '{}'", text.empty() ? "" : " ", flag, plain(given));
  }
  return text;
}

/// Returns the column of the weights; "" for a model without weights.
std::string weights_column(const json& fit) {
  const json name = fit.is_object() ? fit.value("weights", json()) : json();
  return name.is_string() ? name.get<std::string>() : "";
}

/// Returns the column of the weights and what they are, such as "w, as importance"; "" for a model without
/// weights.
std::string weights_text(const json& fit) {
  const std::string name = weights_column(fit);
  if (name.empty()) return "";
  return fmt::format("{}, as {}", plain(json(name)), plain(fit.value("weights_are", json("importance"))));
}

}  // namespace

/// Returns whether the tensor of this name in a model file is no trained parameter: rows or sums of them,
/// what is known of the training data, running averages, or the noise of the target.
bool is_data(const std::string& name) {
  constexpr std::string_view kParts[] = {
      "data.",        "statistics.", "calibration.", "adaptive.",   "learned.",  "events.",   "images.",
      "prior_factor", "sampled",     "running_mean", "running_var", "noise_var", "log_noise", "ood."};
  return std::ranges::any_of(kParts,
                             [&](std::string_view part) { return name.find(part) != std::string::npos; });
}

ModelFacts model_facts(const TensorFile& file, const std::string& path) {
  check_model_kind(file, path);
  if (!file.metadata.contains("method"))
    throw DataError(path, fmt::format("expected a model of slimbayes fit; received a {}; name the model",
                                      foreign_text(file.metadata.at("kind").substr(0, 40))));
  ModelFacts facts;
  for (const auto& [name, text] : file.metadata)
    if (name != kServeKey) facts.metadata[name] = metadata_value(text);
  FileFacts& own = facts.file;
  own.file = path;
  std::error_code failed;
  const auto bytes = std::filesystem::file_size(path, failed);
  own.bytes = failed ? 0 : bytes;
  for (const auto& [name, tensor] : file.tensors) {
    int64_t size = 1;
    for (int64_t extent : tensor.shape) size *= extent;
    if (name.starts_with(kRowsPrefix)) continue;
    if (name.starts_with("split.")) {
      own.rows[name.substr(6)] = size;
      continue;
    }
    own.tensors[name] = tensor.shape;
    if (!is_data(name)) own.parameters += size;
  }
  const json network = facts.metadata.value("network", json());
  if (const auto cost = pass_cost(network); cost && *cost > 0) own.multiply_adds = *cost;
  const json options = facts.metadata.value("options", json());
  const bool spectral = options.is_object() && options.value("flow", json()) == "spectral";
  if (auto layers = inducing_layers(network, own.tensors, spectral); !layers.empty())
    own.layers = std::move(layers);
  if (auto layers = foreign_score_layers(network, own.tensors); !layers.empty())
    own.ood_layers = std::move(layers);
  return facts;
}

std::string model_text(const ModelFacts& all) {
  const json& facts = all.metadata;
  const FileFacts& file = all.file;
  std::string text = plain(file.file) + "\n";
  const auto row = [&](const std::string& name, const std::string& value) {
    if (!value.empty()) text += fmt::format("  {:<12} {}\n", name, value);
  };
  const json whole = facts.value("encoder", json());
  const InputKind kind = kind_of(whole);
  const std::string_view noun = noun_of(kind);
  bool classes = false;
  row("kind", plain(facts["kind"]));
  row("method", plain(facts["method"]));
  row("parameters", fmt::format("{}", file.parameters));
  if (file.multiply_adds)
    row("one pass",
        fmt::format("{} multiply-adds, of a row (of texts a word) and full matrices", *file.multiply_adds));
  row("file size", fmt::format("{} bytes", file.bytes));
  if (whole.is_object()) {
    const json& encoder = whole;
    const json task = encoder.value("task", json());
    const json& facts_of_task = task.is_object() ? task : encoder;  // a table's encoder holds them itself
    row("input", input_text(encoder));
    row("calendar", calendar_text(encoder));
    const char* unscaled = facts_of_task.contains("encoded_sd") ? " (centred, not scaled)" : "";
    if (encoder.contains("target")) row("target", plain(encoder["target"]) + unscaled);
    const json given = facts.value("fit", json());
    if (given.is_object()) row("bounds", given.value("bounds", ""));
    if (facts_of_task.contains("likelihood")) row("likelihood", plain(facts_of_task["likelihood"]));
    const json levels = facts_of_task.value("levels", json());
    classes = levels.is_array() && !levels.empty();
    if (classes) row("classes", shortened(levels));
    row("domain", domain_text(encoder));
    if (encoder.contains("scale_on"))
      row("scaled on", plain(encoder["scale_on"]) + " rows, held-out rows too");
  }
  const json fit = facts.value("fit", json()), marks = fit.is_object() ? fit.value("na", json()) : json();
  if (marks.is_array() && !marks.empty()) row("also missing", shortened(marks));
  row("weights", weights_text(fit));
  row("notation", notation_text(fit));
  row(classes ? "sets" : "interval", calibration_text(facts, noun));
  row("noise", noise_text(facts));
  text += encoder_sections(whole, weights_column(fit));
  const std::string candidates = candidates_text(facts);
  text += rows_section(file.rows, noun, facts.contains("shard"));
  for (const char* group : {"summary", "options"}) {
    if (!facts.contains(group) || !facts[group].is_object() || facts[group].empty()) continue;
    text += fmt::format("\n{}\n", group);
    for (const auto& item : facts[group].items())
      if (candidates.empty() || item.key() != "facts")  // the table has the facts on the candidates
        text += line_of(item.key(), item.value(), kind);
  }
  text += candidates;
  text += layers_text(file.tensors, file.layers.value_or(std::vector<InducingLayer>{}),
                      file.ood_layers.value_or(std::vector<ForeignScoreLayer>{}));
  return text + (facts.contains("tuning") ? tuning_text(facts["tuning"]) : "");
}

}  // namespace slimbayes::cli
