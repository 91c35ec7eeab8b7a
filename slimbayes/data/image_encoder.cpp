// Encodes images. Pixels are kept as bytes; a batch is scaled, and in training augmented, when it is
// requested.
#include "slimbayes/data/image_encoder.h"

#include <ATen/ATen.h>
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <memory>

#include "slimbayes/core/check.h"
#include "slimbayes/storage/error.h"

namespace slimbayes {

namespace {

/// The mean and sd that standardise the pixels of each channel. [c, 1, 1] float32
struct PixelScale {
  at::Tensor mean, sd;
};

/// Gives batches of scaled images, augmented in training.
class ImageSource : public Source {
 public:
  ImageSource(at::Tensor pixels, at::Tensor target, PixelScale scale, const Augmentation& how)
      : pixels_(std::move(pixels)), target_(std::move(target)), scale_(std::move(scale)), how_(how) {}

  int64_t size() const override { return pixels_.size(0); }

  Batch rows(const at::Tensor& indices, const RowContext& context) const override {
    at::Tensor x = pixels_.index_select(0, indices);
    if (context.training) x = varied(x, indices, context.stream);
    Batch batch;
    batch.inputs = {x.to(at::kFloat).sub_(scale_.mean).div_(scale_.sd)};
    if (target_.defined()) batch.target = target_.index_select(0, indices);
    return batch;
  }

 private:
  /// Returns the images x [b, c, h, w] after a random shift and flip of each. `indices` [b] are their rows.
  /// The result for an image depends on its row and the stream alone, not on the rest of the batch.
  at::Tensor varied(const at::Tensor& x, const at::Tensor& indices, const Stream& stream) const {
    if (how_.crop == 0 && !how_.flip) return x;
    const at::Tensor wide = at::constant_pad_nd(x, {how_.crop, how_.crop, how_.crop, how_.crop});
    const int64_t places = 2 * how_.crop + 1;
    at::Tensor out = at::empty_like(x);
    for (int64_t i = 0; i < x.size(0); ++i) {
      const Stream own = stream.split(static_cast<uint64_t>(indices[i].item<int64_t>()));
      const auto place = [&](uint64_t axis) {
        return static_cast<int64_t>(own.uniform(axis) * static_cast<double>(places));
      };
      at::Tensor image = wide[i].narrow(1, place(0), x.size(2)).narrow(2, place(1), x.size(3));
      if (how_.flip && own.uniform(uint64_t{2}) < 0.5) image = image.flip(2);
      out[i].copy_(image);
    }
    return out;
  }

  at::Tensor pixels_, target_;  // [n, c, h, w] uint8; [n] class numbers, float64
  PixelScale scale_;
  Augmentation how_;
};

at::Tensor per_channel(const std::vector<double>& values) {
  return at::tensor(values, at::kFloat).view({-1, 1, 1});
}

void check_labelled(const Images& training) {
  const std::filesystem::path beside = labels_beside(training.source);
  check(training.labels.defined(), "ImageEncoder::fit", "a label for each image",
        fmt::format("none beside '{}'", training.source),
        beside == std::filesystem::path(training.source)
            ? "name the file so that the name of its labels follows: train-images-idx3-ubyte has "
              "train-labels-idx1-ubyte"
            : fmt::format("the labels of an IDX file lie in '{}', .gz or not", beside.filename().string()));
}

}  // namespace

ImageEncoder ImageEncoder::fit(const Images& training) {
  constexpr const char* kFunction = "ImageEncoder::fit";
  check_shape(training.pixels, {-1, -1, -1, -1}, kFunction, "pixels");
  check(training.pixels.size(0) > 0, kFunction, "at least one image", "none");
  check_labelled(training);
  ImageEncoder encoder;
  encoder.size_ = training.pixels.sizes().slice(1).vec();
  // Mean and sd are computed from how often each byte value occurs. These counts are exact, so the result
  // does not depend on the order of the images.
  const int64_t channels = encoder.size_[0];
  for (int64_t c = 0; c < channels; ++c) {
    const at::Tensor counts = at::bincount(training.pixels.select(1, c).reshape({-1}), {}, 256);
    const at::Tensor share = counts.to(at::kDouble) / counts.sum(), level = at::arange(256, at::kDouble);
    const double mean = (share * level).sum().item<double>();
    const double var = (share * (level - mean).square()).sum().item<double>();
    encoder.mean_.push_back(mean);
    encoder.sd_.push_back(var > 0 ? std::sqrt(var) : 1);
  }
  Task& task = encoder.schema_.task;
  const at::Tensor known = std::get<0>(at::_unique2(training.labels));
  for (int64_t i = 0; i < known.size(0); ++i)
    task.levels.push_back(fmt::format("{}", known[i].item<int64_t>()));
  check(task.levels.size() >= 2, kFunction, "labels of at least two classes", task.levels.front());
  encoder.complete_schema();
  return encoder;
}

Dataset ImageEncoder::dataset(const Images& images, bool with_target,
                              const Augmentation& augmentation) const {
  if (images.pixels.sizes().slice(1) != at::IntArrayRef(size_))
    throw DataError(images.source,
                    fmt::format("expected images of {}; received {} (channels x height x width)",
                                fmt::join(size_, " x "), fmt::join(images.pixels.sizes().slice(1), " x ")));
  const at::Tensor classes = with_target && images.labels.defined() ? target(images) : at::Tensor();
  return {schema_,
          std::make_shared<ImageSource>(images.pixels, classes,
                                        PixelScale{per_channel(mean_), per_channel(sd_)}, augmentation)};
}

at::Tensor ImageEncoder::target(const Images& images) const {
  std::vector<int64_t> numbers;
  for (const std::string& level : schema_.task.levels) numbers.push_back(std::stoll(level));
  const at::Tensor known = at::tensor(numbers, at::kLong);
  const at::Tensor place = at::searchsorted(known, images.labels).clamp_max(known.size(0) - 1);
  const at::Tensor strange = known.index_select(0, place).ne(images.labels).nonzero();
  if (strange.size(0) > 0)
    throw DataError(
        images.source,
        fmt::format("expected labels of the training images ({}); received {} at image {}; where the split "
                    "held a whole class out, fit with another --split-seed",
                    fmt::join(schema_.task.levels, ", "), images.labels[strange[0][0]].item<int64_t>(),
                    strange[0][0].item<int64_t>() + 1));
  return place.to(at::kDouble);
}

void ImageEncoder::complete_schema() {
  Task& task = schema_.task;
  task.kind = TaskKind::classification;
  task.likelihood = LikelihoodKind::softmax;
  task.outputs = std::ssize(task.levels);
  schema_.input.sizes = size_;
}

}  // namespace slimbayes
