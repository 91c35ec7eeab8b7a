#include "slimbayes/data/input_scores.h"

#include <ATen/ATen.h>

#include <algorithm>
#include <cmath>
#include <functional>
#include <limits>

#include "slimbayes/core/check.h"

namespace slimbayes {
namespace {

Scores named(const std::vector<double>& beyond, const std::vector<double>& distance) {
  return {{"outside", at::tensor(beyond, at::kDouble)}, {"distance", at::tensor(distance, at::kDouble)}};
}

Scores window_scores(const WindowEncoder& encoder, const WindowTable& w) {
  const std::optional<Outside> far = outside(encoder.rows(), *w.table);
  if (!far) return {};
  const int64_t window = encoder.options().window;
  std::vector<double> beyond, distance;
  for (int64_t i : w.selected) {
    const int64_t last = w.windows->last[static_cast<size_t>(i)];
    double most = 0, length = 0;
    for (int64_t place = last - window + 1; place <= last; ++place) {
      const auto row = static_cast<size_t>(w.windows->order[static_cast<size_t>(place)]);
      most = std::max(most, far->beyond[row]);
      length = std::hypot(length, far->distance[row]);
    }
    beyond.push_back(most);
    distance.push_back(std::min(length, std::numeric_limits<double>::max()) /
                       std::sqrt(static_cast<double>(window)));
  }
  return named(beyond, distance);
}

/// Calls `each` with the encoded images of one batch after the other: x [b, c, h, w], float64.
void over_images(const Dataset& images, const std::function<void(const at::Tensor& x)>& each) {
  constexpr int64_t kBatchImages = 512;
  for (int64_t low = 0; low < images.size(); low += kBatchImages)
    each(images.rows(at::arange(low, std::min(low + kBatchImages, images.size()))).inputs[0].to(at::kDouble));
}

}  // namespace

Scores input_scores(const InputEncoder& encoder, const Examples& examples, const at::Tensor& mean) {
  if (const auto* windows = std::get_if<WindowEncoder>(&encoder)) {
    const auto* given = std::get_if<WindowTable>(&examples);
    check(given != nullptr, "input_scores", "windows", "other examples", "see Model::examples");
    return window_scores(*windows, *given);
  }
  if (const auto far = outside(encoder, examples)) return named(far->beyond, far->distance);
  if (!std::holds_alternative<ImageEncoder>(encoder)) return {};
  check(mean.defined(), "input_scores", "the mean of the training images", "none");
  std::vector<at::Tensor> distance;
  over_images(dataset_of(encoder, examples, false), [&](const at::Tensor& x) {
    distance.push_back((x - mean).square().mean({1, 2, 3}).sqrt());
  });
  return {{"distance", distance.empty() ? at::empty({0}, at::kDouble) : at::cat(distance)}};
}

at::Tensor pixel_mean(const Dataset& images) {
  check(images.size() > 0, "pixel_mean", "at least one image", "none");
  at::Tensor sum;
  over_images(images, [&](const at::Tensor& x) { sum = sum.defined() ? sum + x.sum(0) : x.sum(0); });
  return sum / static_cast<double>(images.size());
}

}  // namespace slimbayes
