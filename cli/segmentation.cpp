// predict and evaluate for models of segmentation, whose rows are pixels: all images are answered block by
// block, so that the pixels of all of them are never in memory.
#include "cli/segmentation.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <filesystem>
#include <numeric>
#include <utility>
#include <vector>

#include "cli/commands.h"
#include "cli/files.h"
#include "cli/progress.h"
#include "cli/report.h"
#include "cli/terminal.h"
#include "cli/text_table.h"
#include "slimbayes/core/check.h"
#include "slimbayes/model/maps.h"
#include "slimbayes/model/segmentation.h"
#include "slimbayes/storage/atomic_file.h"
#include "slimbayes/storage/error.h"
#include "slimbayes/storage/printable.h"

namespace slimbayes::cli {
namespace {

namespace fs = std::filesystem;

PredictOptions with_progress(AnswerProgress& shown) {
  PredictOptions options;
  options.progress = [&shown](double share) { shown.report(share); };
  return options;
}

/// Makes the folder of --maps if it is absent, and writes the legend of the classes there.
void start_maps(const std::string& folder, const Model& model) {
  if (folder.empty()) return;
  std::error_code failed;
  fs::create_directories(folder, failed);
  if (failed) throw DataError(folder, "expected a folder that can be made for --maps; " + failed.message());
  const fs::path legend = fs::path(folder) / "classes.csv";
  check_writable(legend);
  write_table(legend, legend_of(model));
}

void check_flags(const PredictRequest& r) {
  const std::pair<bool, const char*> flags[] = {{!r.keep.empty(), "--keep"},
                                                {r.keep_outside, "--keep-outside"},
                                                {r.parts, "--parts"},
                                                {!r.quantiles.empty(), "--quantiles"},
                                                {!r.split.empty(), "--split"}};
  for (const auto& [given, flag] : flags)
    check(!given, "predict", "only --out, --maps, --json and --on-bad-row with segmentation", flag,
          "leave it out");
}

}  // namespace

void predict_pixels(const PredictRequest& r, const Model& model) {
  check_flags(r);
  const Examples images = read_for(model, r.data, data_source(), /*with_target=*/true, nullptr, {},
                                   column_changes(r.rename, r.fill));
  start_maps(r.maps, model);
  ImageSummaries all;
  {
    AnswerProgress shown("predict");
    all = image_summaries(model, images, with_progress(shown), r.maps);
  }
  if (!all.bad.empty()) {
    if (r.on_bad_row == "error") throw_bad_example(images, all.bad.front());
    log_line("note: " +
             bad_examples_text(images, all.bad, r.on_bad_row == "skip" ? "left out" : "left blank"));
  }
  if (r.on_bad_row == "skip") all.table = take_rows(all.table, rows_without(all.bad, count(images)));
  if (r.json)
    print_rows({.task = std::string(name_of(model.schema().task.kind))}, std::move(all.table), 1);
  else
    print_or_write(r.out, std::move(all.table), 1);
}

Evaluation report_by_pixel(const EvaluateRequest& r, const Model& model, const Examples& images,
                           std::vector<BadRow>& bad) {
  if (!r.ood.empty())
    refuse("evaluate", "no --ood with segmentation, whose scores belong to pixels",
           "'" + foreign_text(r.ood) + "'",
           "predict gives the mean entropy and mutual information of each image");
  AnswerProgress shown("evaluate");
  return segmentation_report(model, images, with_progress(shown), &bad);
}

std::string segmentation_text(const Evaluation& report) {
  if (!report.pixels || !report.classes || !report.classes->confusion) return "";
  const PixelScores& scores = *report.pixels;
  const auto& confusion = *report.classes->confusion;
  std::vector<std::vector<Cell>> rows = {{{"class"}, {"IoU"}, {"accuracy"}, {"pixels"}}};
  for (size_t c = 0; c < confusion.size(); ++c) {
    const std::string& name = report.classes->classes[c];
    if (!scores.iou.contains(name)) continue;
    const int64_t pixels = std::accumulate(confusion[c].begin(), confusion[c].end(), int64_t{0});
    rows.push_back({{shown(name)},
                    {decimals(scores.iou.at(name))},
                    {decimals(scores.class_accuracy.at(name))},
                    {fmt::format("{}", pixels)}});
  }
  std::string text = "\n" + text_table(rows);
  std::vector<std::string> absent;
  for (const std::string& name : scores.absent) absent.push_back(shown(name));
  if (!absent.empty())
    text += fmt::format("no pixel has the class {}: left out of miou and mpa\n", fmt::join(absent, ", "));
  text +=
      fmt::format("{} labelled pixels; {} without a class are left out\n", scores.pixels, scores.unlabelled);
  const ErrorsReport& errors = scores.errors;
  if (!errors.auroc || !errors.aupr_err) return text + errors.absent.value_or("") + "\n";
  std::vector<std::vector<Cell>> found = {{{"finding wrong pixels by"}, {"AUROC"}, {"AUPR-Err"}}};
  for (const auto& [score, auroc] : *errors.auroc)
    found.push_back({{score}, {decimals(auroc)}, {decimals(errors.aupr_err->at(score))}});
  found.push_back({{"chance"}, {"0.5000"}, {decimals(errors.rate)}});
  return text + "\n" + text_table(found);
}

}  // namespace slimbayes::cli
