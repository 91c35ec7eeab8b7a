#pragma once

#include <fmt/format.h>

#include <cmath>
#include <cstdint>
#include <nlohmann/json.hpp>
#include <string>
#include <utility>
#include <vector>

#include "slimbayes/data/table/csv.h"
#include "slimbayes/encoding/target.h"
#include "slimbayes/model/model.h"
#include "tests/fuzz/small_inputs.h"

// The fits whose models and checkpoints are mutated: every method and task on tables, and every kind of
// network on windows, images and texts, each as small as it can be.

namespace slimbayes::trial {

using nlohmann::json;

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
                                                          {"blocks", 1}, {"members", 2}, {"iterations", 2},
                                                          {"sketch", 6}, {"trees", 3}};
  for (const OptionDoc& doc : options_of(info, json::object())) {
    const bool of_one_task = doc.name == "iterations" || doc.name == "trees";
    if (info.candidates && of_one_task) continue;  // auto refuses what no candidate for the task has
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

/// Returns every method for tables with every likelihood that it takes, and once more with noise folds
/// and conformal calibration: of a regression, or else of classes.
inline std::vector<Subject> subjects() {
  std::vector<Subject> all;
  for (const MethodInfo& info : method_catalog()) {
    using enum LikelihoodKind;
    if (!takes(info, InputKind::table)) continue;
    for (LikelihoodKind likelihood : {gaussian, bernoulli, softmax, poisson, cox}) {
      if (!takes(info, task_of(likelihood))) continue;
      all.push_back({fmt::format("{} {}", info.name, name_of(likelihood)), small_fit(info, likelihood)});
    }
    const LikelihoodKind usual = takes(info, TaskKind::regression) ? gaussian : softmax;
    Subject calibrated{info.name + " calibrated", small_fit(info, usual)};
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
    fit.format = kind == InputKind::segmentation ? "camvid" : "idx";
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
    case InputKind::segmentation:
      return horizons(20);
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
                              {"scenes bbb", small_fit("bbb", segmentation)},
                              {"text vbll classes", small_fit("vbll", text, "yes")},
                              {"text dbk", small_fit("dbk", text, "stars")},
                              {"windows bll", small_fit("bll", windows, "y")},
                              {"text rich-bll", small_fit("rich-bll", text, "stars")},
                              {"windows ridge filled", small_fit("ridge", windows, "y")},
                              {"text bag-of-words", calibrated(small_fit("bag-of-words", text, "yes"))}};
  all[11].fit.fill_gaps = true;
  all[2].fit.options["network"] = "transformer";
  all[2].fit.likelihood = LikelihoodKind::poisson;
  return all;
}

}  // namespace slimbayes::trial
