#pragma once

#include <ATen/ATen.h>
#include <fmt/format.h>

#include <cmath>
#include <filesystem>
#include <fstream>
#include <set>
#include <string>
#include <tuple>
#include <vector>

#include "slimbayes/core/answers.h"
#include "slimbayes/core/check.h"
#include "slimbayes/data/outside.h"
#include "slimbayes/data/table/csv.h"
#include "slimbayes/data/target.h"
#include "slimbayes/storage/error.h"
#include "slimbayes/train/checkpoint.h"
#include "slimbayes/workflow/answer_table.h"
#include "slimbayes/workflow/model.h"
#include "tests/fuzz/mutator.h"
#include "tests/fuzz/small_inputs.h"
#include "tests/storage/sample.h"

// The files that are mutated: small fitted models of every method and task on tables, and
// of every kind of network on windows, images and texts; checkpoints of fits and of series
// of fits, and tables. Using a mutant (answers, a report, update,
// forget, merge) must end in a finite answer or in DataError, std::invalid_argument or
// NumericalError. Any other exception is a failure of the test.

namespace slimbayes::trial {

/// Returns a table with a column of each kind, a missing cell, and a target for every likelihood.
inline Table small_table(int64_t rows = 40) {
  std::string csv = "x,z,colour,when,on,y,yes,label,count\n";
  for (int64_t i = 0; i < rows; ++i) {
    const auto u = static_cast<double>(i) / static_cast<double>(rows);
    csv += fmt::format("{},{},{},2024-01-{:02},{},{},{},{},{}\n", u,
                       i == 3 ? "" : fmt::format("{}", (i * 7) % 11),
                       i % 3 == 0   ? "red"
                       : i % 3 == 1 ? "green"
                                    : "blue",
                       1 + i % 28, i % 2 ? "true" : "false",
                       std::sin(3 * u) + 0.1 * static_cast<double>(i % 5), i % 4 < 2 ? "yes" : "no",
                       i % 3 == 0   ? "low"
                       : i % 3 == 1 ? "mid"
                                    : "high",
                       (i * 5) % 7);
  }
  return parse_csv(csv, ',', {"small.csv"});
}

struct Subject {
  std::string name;
  FitOptions fit;
};

/// Options that make a fit of this method a matter of milliseconds.
inline json small_options(const MethodInfo& info) {
  json options = json::object();
  const std::vector<std::pair<std::string, int>> sizes = {{"steps", 3},  {"hidden", 4},  {"rank", 3},
                                                          {"blocks", 1}, {"members", 2}, {"iterations", 2}};
  for (const OptionDoc& doc : options_of(info, json::object())) {
    for (const auto& [name, size] : sizes)
      if (doc.name == name) options[name] = size;
  }
  return options;
}

inline FitOptions small_fit(const MethodInfo& info, LikelihoodKind likelihood) {
  FitOptions fit;
  fit.method = info.name;
  fit.likelihood = likelihood;
  fit.test_fraction = 0.2;
  fit.noise_folds = 0;
  fit.options = small_options(info);
  fit.target = likelihood == LikelihoodKind::cox         ? ""
               : likelihood == LikelihoodKind::bernoulli ? "yes"
               : likelihood == LikelihoodKind::softmax   ? "label"
               : likelihood == LikelihoodKind::poisson   ? "count"
                                                         : "y";
  if (likelihood == LikelihoodKind::cox) {
    fit.domain = "0:1,0:12";
    fit.ignore = {"colour", "when", "on", "y", "yes", "label", "count"};
  } else {
    for (const char* name : {"y", "yes", "label", "count"})
      if (name != fit.target) fit.ignore.emplace_back(name);
  }
  return fit;
}

/// Returns the table for a fit. For events the missing cell is filled, because a coordinate must not be
/// missing.
inline Table table_for(const FitOptions& fit) {
  Table table = small_table();
  if (fit.likelihood == LikelihoodKind::cox) table.columns[1].values[3] = 5;
  return table;
}

/// Returns every method with every likelihood that it takes, and every regression once more with noise folds
/// and conformal calibration.
inline std::vector<Subject> subjects() {
  std::vector<Subject> all;
  for (const MethodInfo& info : method_catalog()) {
    using enum LikelihoodKind;
    for (LikelihoodKind likelihood : {gaussian, bernoulli, softmax, poisson, cox}) {
      if (!takes(info, task_of(likelihood))) continue;
      all.push_back({fmt::format("{} {}", info.name, name_of(likelihood)), small_fit(info, likelihood)});
    }
    Subject calibrated{info.name + " calibrated", small_fit(info, LikelihoodKind::gaussian)};
    calibrated.fit.calibrate = "conformal";
    calibrated.fit.calibration_fraction = 0.3;
    calibrated.fit.level = 0.5;
    calibrated.fit.noise_folds = 2;
    all.push_back(calibrated);
  }
  return all;
}

/// A fit of another kind of input than a table's rows; images have no target.
inline FitOptions small_fit(const char* method, InputKind kind, const std::string& target = "") {
  FitOptions fit;
  fit.method = method;
  fit.target = target;
  fit.test_fraction = 0.2;
  fit.noise_folds = 0;
  fit.options = small_options(find_method(method));
  if (kind == InputKind::windows) {
    fit.window = 4;
    fit.time = {"when"};
    fit.group = {"place"};
    for (const char* name : {"y", "label", "count"})
      if (name != target) fit.ignore.emplace_back(name);
  } else if (kind == InputKind::text) {
    fit.text = "text";
    fit.vocabulary = 12;
    fit.longest = 6;
  } else {
    fit.format = "idx";
    fit.crop = 1;
    fit.flip = true;
  }
  return fit;
}

/// What such a fit learns from. The windows of a table are found by who asks for them.
inline Examples examples_for(const FitOptions& fit) {
  switch (input_kind(fit)) {
    case InputKind::windows:
      return small_series();
    case InputKind::images:
      return small_images();
    case InputKind::text:
      return small_reviews();
    case InputKind::table:
      break;
  }
  return table_for(fit);
}

/// Every network for windows, images and texts but resnet18, whose layers convnet has; every task, some
/// calibrated; an ensemble, whose file holds several networks.
inline std::vector<Subject> input_subjects() {
  using enum InputKind;
  const auto calibrated = [](FitOptions fit) {
    fit.calibrate = "conformal";
    fit.calibration_fraction = 0.2;
    fit.level = 0.5;
    return fit;
  };
  std::vector<Subject> all = {{"windows dbk lstm", calibrated(small_fit("dbk", windows, "y"))},
                              {"windows vbll lstm classes", small_fit("vbll", windows, "label")},
                              {"windows vbll transformer counts", small_fit("vbll", windows, "count")},
                              {"windows ensemble", small_fit("ensemble", windows, "y")},
                              {"images vbll", calibrated(small_fit("vbll", images))},
                              {"images dnn", small_fit("dnn", images)},
                              {"text vbll classes", small_fit("vbll", text, "yes")},
                              {"text dbk", small_fit("dbk", text, "stars")},
                              {"windows bll", small_fit("bll", windows, "y")},
                              {"text rich-bll", small_fit("rich-bll", text, "stars")}};
  all[2].fit.options["network"] = "transformer";
  all[2].fit.likelihood = LikelihoodKind::poisson;
  return all;
}

/// Returns false for an error that was meant for a user. Throws std::logic_error if it speaks of the JSON
/// library.
inline bool refused(const std::exception& error) {
  if (std::string_view(error.what()).find("json.exception") != std::string_view::npos)
    throw std::logic_error(fmt::format("the message '{}'", error.what()));
  return false;
}

/// Returns true if `use` returns, false if it throws an error meant for a user. Other exceptions pass
/// through.
template <class Use>
bool answers(Use use) {
  try {
    use();
    return true;
  } catch (const DataError& error) {
    return refused(error);
  } catch (const std::invalid_argument& error) {
    return refused(error);
  } catch (const NumericalError& error) {
    return refused(error);
  }
}

struct NotFinite : std::logic_error {
  using std::logic_error::logic_error;
};

inline void check_answers(const Model& model, const Examples& given) {
  const Examples examples = model.examples(given);
  const Answers a = model.answers(examples, {{0.5}});
  for (const std::string& fault : non_finite(a.answer, a.levels[0].interval))
    if (!fault.empty()) throw NotFinite(fault);
  const auto far = outside(model.encoder(), examples);
  notes_for(model.encoder(), examples);
  const AnswerTable table = answer_table(model, examples, a);
  if (!std::holds_alternative<WindowTable>(examples)) return;
  for (const double time : table.table.find("forecast_time")->values)
    if (!std::isfinite(time)) throw NotFinite("the time of a forecast");
}

/// Lets a model learn examples and forget them again, forget what it knows of them, and join a shard of them.
inline void try_changes(const Model& model, const Examples& examples) {
  answers([&] {
    const Model more = Model::from_file(model.with(examples).to_file(), "more");
    answers([&] { check_answers(more, examples); });
    more.known_rows(examples);
    more.without(examples);
  });
  answers([&] { check_answers(model.without(model.learned_among(examples)), examples); });
  answers([&] { check_answers(model.merged(model.shard(examples)), examples); });
}

/// Reads a model file, then asks the model for answers, for a report and for its own file.
inline bool try_model(const Bytes& bytes, const Examples& examples) {
  return answers([&] {
    const Model model = Model::from_file(parse_tensor_file(bytes, "mutant"), "mutant");
    answers([&] { check_answers(model, examples); });
    std::vector<BadRow> bad;
    answers([&] { model.evaluate(examples, 0.5, &bad); });
    try_changes(model, examples);
    Model::from_file(model.to_file(), "again");
  });
}

/// Stops a fit after a given number of rounds.
class StopAfter : public Callback {
 public:
  explicit StopAfter(int rounds) : left_(rounds) {}
  void report(const Progress&) override { --left_; }
  bool stop() override { return left_ <= 0; }

 private:
  int left_;
};

/// A stopped fit with the files it left: its checkpoint and the checkpoints of its parts.
struct Stopped {
  std::string name;
  FitOptions fit;
  std::vector<std::pair<std::string, TensorFile>> files;
};

inline CheckpointPolicy checkpoint_in(const Folder& folder, bool resume) {
  return {folder / "m.ckpt", resume, "{}", 0};
}

inline Stopped stopped_fit(const std::string& name, FitOptions fit, int rounds) {
  const Folder folder;
  StopAfter callback(rounds);
  fit_model(examples_for(fit), fit, nullptr, &callback, checkpoint_in(folder, false));
  Stopped out{name, std::move(fit), {}};
  for (const auto& entry : std::filesystem::directory_iterator(folder.path()))
    out.files.emplace_back(entry.path().filename().string(), read_tensor_file(entry.path()));
  std::ranges::sort(out.files, {}, [](const auto& file) { return file.first; });
  if (out.files.empty()) throw std::logic_error(name + " left no checkpoint");
  return out;
}

/// Returns stopped fits of every structure: plain fits, noise folds, an ensemble, a search, and a search over
/// ensembles.
inline std::vector<Stopped> stopped_fits() {
  const auto fit = [](const char* method, int folds) {
    FitOptions small = small_fit(find_method(method), LikelihoodKind::gaussian);
    small.options["steps"] = 20;
    small.options["patience"] = 0;
    small.noise_folds = folds;
    return small;
  };
  std::vector<Stopped> all;
  all.push_back(stopped_fit("dnn", fit("dnn", 0), 4));
  all.push_back(stopped_fit(
      "vbll softmax",
      [&] {
        FitOptions classes = small_fit(find_method("vbll"), LikelihoodKind::softmax);
        classes.options["steps"] = 20;
        return classes;
      }(),
      4));
  all.push_back(stopped_fit("dbk folds", fit("dbk", 3), 28));
  all.push_back(stopped_fit("ensemble folds", fit("ensemble", 2), 25));
  FitOptions search = fit("dbk", 0);
  search.tune = {"alpha"};
  all.push_back(stopped_fit("search", search, 28));
  search.method = "ensemble";
  search.noise_folds = 2;
  search.options["members"] = 2;
  search.options["of"] = "dbk";
  all.push_back(stopped_fit("search of ensembles", search, 65));
  return all;
}

/// Checkpoints with what those of tables lack: running averages beside the parameters, a plan by the texts'
/// lengths.
inline std::vector<Stopped> stopped_input_fits() {
  std::vector<Stopped> all;
  for (const auto& [method, kind, target] :
       {std::tuple{"dnn", InputKind::images, ""}, {"vbll", InputKind::text, "yes"}}) {
    FitOptions fit = small_fit(method, kind, target);
    fit.options["steps"] = 20;
    fit.options["patience"] = 0;
    all.push_back(stopped_fit(fmt::format("{} {}", name_of(kind), method), fit, 4));
  }
  return all;
}

inline void write(const std::filesystem::path& path, const Bytes& bytes) {
  std::ofstream out(path, std::ios::binary);
  out.write(reinterpret_cast<const char*>(bytes.data()), static_cast<std::streamsize>(bytes.size()));
}

/// Mutates one of a stopped fit's files and resumes the fit from them.
inline bool try_checkpoint(const Stopped& stopped, std::mt19937_64& random) {
  const Folder folder;
  const size_t which = below(random, stopped.files.size());
  for (size_t i = 0; i < stopped.files.size(); ++i) {
    const auto& [name, file] = stopped.files[i];
    write(folder / name, i == which ? mutant_of(file, random) : to_bytes(file));
  }
  const Examples examples = examples_for(stopped.fit);
  return answers([&] {
    const Model model = fit_model(examples, stopped.fit, nullptr, nullptr, checkpoint_in(folder, true));
    check_answers(model, examples);
    Model::from_file(model.to_file(), "again");
  });
}

/// Reads a table with this file ending and mutated bytes. It must be rectangular, with finite numbers and
/// valid category codes.
inline bool try_table(const Folder& folder, const std::string& ending, std::mt19937_64& random) {
  const auto path = folder / ("t." + ending);
  write_table(path, small_table());
  std::ifstream in(path, std::ios::binary);
  const std::string text{std::istreambuf_iterator<char>(in), {}};
  Bytes bytes = raw(text);
  for (size_t i = 0, n = 1 + below(random, 4); i < n; ++i) mutate(bytes, random);
  write(path, bytes);
  return answers([&] {
    const Table table = read_table(path);
    for (const Column& column : table.columns) {
      if (static_cast<int64_t>(column.values.size()) != table.rows) throw NotFinite("a ragged table");
      for (const double x : column.values) {
        const bool level = column.kind != ColumnKind::categorical || std::isnan(x) ||
                           (x >= 0 && x < static_cast<double>(column.levels.size()));
        if (std::isinf(x) || !level) throw NotFinite("a cell of " + column.name);
      }
    }
  });
}

}  // namespace slimbayes::trial
