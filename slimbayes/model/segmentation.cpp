#include "slimbayes/model/segmentation.h"

#include <ATen/ATen.h>
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>
#include <string>

#include "slimbayes/answers/answers.h"
#include "slimbayes/answers/pixel_totals.h"
#include "slimbayes/answers/pixels.h"
#include "slimbayes/core/check.h"
#include "slimbayes/method/batches.h"
#include "slimbayes/model/maps.h"

namespace slimbayes {

namespace {

void add_answers(const Model& model, const Examples& images, const Answers& a, PixelTotals& totals) {
  if (a.rows.empty()) return;
  const Examples answered = a.bad.empty() ? images : take(images, a.rows);
  totals.add(std::get<Classes>(a.answer), target_as_given(model.encoder(), answered).flatten());
}

Evaluation finished_report(const PixelTotals& totals, int64_t images, size_t left_out) {
  Evaluation report = totals.report();
  report.n = images - static_cast<int64_t>(left_out);
  if (left_out > 0) report.left_out = left_out;
  return report;
}

/// The columns of image_summaries() with one empty cell for each of `n` images.
Table empty_summaries(const std::vector<std::string>& levels, bool labelled, int64_t n) {
  std::vector<std::string> names = {"image", "entropy", "mutual_information"};
  for (const std::string& level : levels) names.push_back("share_" + level);
  if (labelled) names.emplace_back("accuracy");
  Table table;
  table.rows = n;
  for (const std::string& name : names) {
    const auto empty = std::vector<double>(static_cast<size_t>(n), std::numeric_limits<double>::quiet_NaN());
    table.columns.push_back({name, ColumnKind::numeric, empty, {}});
  }
  return table;
}

/// Returns the numbers of one image's line, behind its number. `y` [h w] may be undefined.
std::vector<double> line_of_image(const Classes& p, const at::Tensor& y) {
  const at::Tensor predicted = predicted_class(p);
  std::vector<double> line = {p.predictive_entropy.mean().item<double>(),
                              mutual_information(p).mean().item<double>()};
  const at::Tensor count = at::bincount(predicted, {}, p.probabilities.size(1));
  for (int64_t c = 0; c < count.size(0); ++c)
    line.push_back(count[c].item<double>() / static_cast<double>(predicted.size(0)));
  if (!y.defined()) return line;
  const at::Tensor known = y != kVoid;  // a mean of none is NaN, an empty cell
  line.push_back(predicted.eq(y).masked_select(known).to(at::kDouble).mean().item<double>());
  return line;
}

}  // namespace

void over_image_blocks(const Model& model, const Examples& images, const PredictOptions& options,
                       const std::function<void(const ImageBlock& block)>& each) {
  const int64_t n = count(images);
  check(n > 0, "answer", "at least one image", "none");
  for (int64_t low = 0; low < n; low += kImagesAtOnce) {
    const int64_t high = std::min(n, low + kImagesAtOnce);
    std::vector<int64_t> places(static_cast<size_t>(high - low));
    std::iota(places.begin(), places.end(), low);
    const auto share = [n](int64_t done) { return static_cast<double>(done) / static_cast<double>(n); };
    Examples some = take(images, places);
    Answers answers = model.answers(some, {}, options.within(share(low), share(high)));
    each({low, std::move(some), std::move(answers)});
  }
}

Evaluation segmentation_report(const Model& model, const Examples& images, const PredictOptions& options,
                               std::vector<BadRow>* bad) {
  PixelTotals totals(model.schema().task.levels);
  size_t left_out = 0;
  over_image_blocks(model, images, options, [&](const ImageBlock& block) {
    add_answers(model, block.images, block.answers, totals);
    left_out += block.answers.bad.size();
    for (BadRow one : block.answers.bad) {
      one.row += block.first;
      if (bad == nullptr) throw_bad_example(images, one);
      bad->push_back(std::move(one));
    }
  });
  return finished_report(totals, count(images), left_out);
}

Evaluation segmentation_report(const Model& model, const Examples& images, const Answers& answers) {
  check_same(images, answers);
  PixelTotals totals(model.schema().task.levels);
  add_answers(model, images, answers, totals);
  return finished_report(totals, count(images), answers.bad.size());
}

ImageSummaries image_summaries(const Model& model, const Examples& images, const PredictOptions& options,
                               const std::filesystem::path& maps) {
  const Task& task = model.schema().task;
  const bool labelled = std::get<Images>(images).labels.defined();
  const int64_t pixels = rows_per_example(task), n = count(images);
  ImageSummaries all{empty_summaries(task.levels, labelled, n), {}};
  over_image_blocks(model, images, options, [&](const ImageBlock& block) {
    const at::Tensor y = labelled ? target_as_given(model.encoder(), block.images) : at::Tensor();
    for (BadRow one : block.answers.bad) {
      one.row += block.first;
      all.bad.push_back(std::move(one));
    }
    for (int64_t i = 0; i < std::ssize(block.answers.rows); ++i) {
      const int64_t place = block.answers.rows[static_cast<size_t>(i)], image = block.first + place;
      const Predictive own = take(block.answers.answer, at::arange(i * pixels, (i + 1) * pixels));
      const auto& p = std::get<Classes>(own);
      const std::vector<double> line = line_of_image(p, labelled ? y[place] : y);
      for (size_t c = 0; c < line.size(); ++c)
        all.table.columns[c + 1].values[static_cast<size_t>(image)] = line[c];
      if (!maps.empty()) write_maps(model, p, image, n, maps);
    }
  });
  for (int64_t i = 0; i < n; ++i)
    all.table.columns[0].values[static_cast<size_t>(i)] = static_cast<double>(i + 1);
  return all;
}

}  // namespace slimbayes
