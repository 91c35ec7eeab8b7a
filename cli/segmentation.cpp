// predict and evaluate for models of segmentation, whose rows are pixels: all images are answered block by
// block, so that the pixels of all of them are never in memory.
#include "cli/segmentation.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <filesystem>
#include <utility>
#include <vector>

#include "cli/commands.h"
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
using nlohmann::json;

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
  const std::pair<bool, const char*> flags[] = {
      {!r.keep.empty(), "--keep"}, {r.keep_outside, "--keep-outside"}, {r.parts, "--parts"}};
  for (const auto& [given, flag] : flags)
    check(!given, "predict", "only --out, --maps and --on-bad-row with segmentation", flag, "leave it out");
}

std::string decimals(const json& number) { return fmt::format("{:.4f}", number.get<double>()); }

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
  const bool skips = r.on_bad_row == "skip";
  print_or_write(r.out, skips ? take_rows(all.table, rows_without(all.bad, count(images))) : all.table, 1);
}

json report_by_pixel(const EvaluateRequest& r, const Model& model, const Examples& images,
                     std::vector<BadRow>& bad) {
  if (!r.ood.empty())
    refuse("evaluate", "no --ood with segmentation, whose scores belong to pixels",
           "'" + foreign_text(r.ood) + "'",
           "predict gives the mean entropy and mutual information of each image");
  AnswerProgress shown("evaluate");
  return segmentation_report(model, images, with_progress(shown), &bad);
}

std::string segmentation_text(const json& report) {
  if (!report.contains("iou")) return "";
  std::vector<std::vector<Cell>> rows = {{{"class"}, {"IoU"}, {"accuracy"}, {"pixels"}}};
  const json& confusion = report.at("confusion");
  for (size_t c = 0; c < confusion.size(); ++c) {
    const std::string name = report.at("classes")[c];
    if (!report.at("iou").contains(name)) continue;
    int64_t pixels = 0;
    for (const json& cell : confusion[c]) pixels += cell.get<int64_t>();
    rows.push_back({{shown(name)},
                    {decimals(report.at("iou")[name])},
                    {decimals(report.at("class_accuracy")[name])},
                    {fmt::format("{}", pixels)}});
  }
  std::string text = "\n" + text_table(rows);
  std::vector<std::string> absent;
  for (const json& name : report.at("absent")) absent.push_back(shown(name.get<std::string>()));
  if (!absent.empty())
    text += fmt::format("no pixel has the class {}: left out of miou and mpa\n", fmt::join(absent, ", "));
  text += fmt::format("{} labelled pixels; {} without a class are left out\n",
                      report.at("pixels").get<int64_t>(), report.at("void").get<int64_t>());
  const json& errors = report.at("errors");
  if (!errors.contains("auroc")) return text + errors.at("absent").get<std::string>() + "\n";
  std::vector<std::vector<Cell>> found = {{{"finding wrong pixels by"}, {"AUROC"}, {"AUPR-Err"}}};
  for (const auto& item : errors.at("auroc").items())
    found.push_back({{item.key()}, {decimals(item.value())}, {decimals(errors.at("aupr_err")[item.key()])}});
  found.push_back({{"chance"}, {"0.5000"}, {decimals(errors.at("rate"))}});
  return text + "\n" + text_table(found);
}

}  // namespace slimbayes::cli
