// Encodes images. Pixels are kept as bytes; a batch is scaled, and in training augmented, when it is
// requested.
#include "slimbayes/data/images/image_encoder.h"

#include <ATen/ATen.h>
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <memory>

#include "slimbayes/answers/pixels.h"
#include "slimbayes/core/check.h"
#include "slimbayes/storage/error.h"
#include "slimbayes/storage/printable.h"

namespace slimbayes {

namespace {

/// The mean that is subtracted from the pixels of each channel, and the sd that they are divided by.
/// [c, 1, 1] float32
struct PixelScale {
  at::Tensor mean, sd;
};

/// Returns the class numbers of label maps [n, h, w] uint8 with kVoid for the label `classes`. [n, h w]
/// float64
at::Tensor class_numbers(const at::Tensor& maps, int64_t classes) {
  return maps.flatten(1).to(at::kDouble).masked_fill(maps.flatten(1) == classes, kVoid);
}

/// Returns `size` places from `first` on, those outside 0 to size - 1 reflected at the edges. [size] int64
at::Tensor reflected(int64_t first, int64_t size) {
  if (size == 1) return at::zeros({1}, at::kLong);
  const int64_t period = 2 * (size - 1);
  const at::Tensor place = at::remainder(at::arange(first, first + size), period);
  return at::minimum(place, period - place);
}

/// Gives batches of scaled images, augmented in training.
class ImageSource : public Source {
 public:
  /// `target` [n] holds class numbers, or [n, h, w] uint8 label maps with the label `classes` for void.
  ImageSource(at::Tensor pixels, at::Tensor target, int64_t classes, PixelScale scale,
              const Augmentation& how)
      : pixels_(std::move(pixels)),
        target_(std::move(target)),
        classes_(classes),
        scale_(std::move(scale)),
        how_(how) {}

  int64_t size() const override { return pixels_.size(0); }

  Batch rows(const at::Tensor& indices, const RowContext& context) const override {
    at::Tensor x = pixels_.index_select(0, indices), y;
    if (target_.defined()) y = target_.index_select(0, indices);
    const bool maps = y.defined() && y.dim() == 3;
    if (context.training && maps) {  // a map moves with its image, as one more channel
      x = varied(at::cat({x, y.unsqueeze(1)}, 1), indices, context.stream);
      y = x.select(1, -1);
      x = x.narrow(1, 0, x.size(1) - 1);
    } else if (context.training) {
      x = varied(x, indices, context.stream);
    }
    Batch batch;
    batch.inputs = {x.to(at::kFloat).sub_(scale_.mean).div_(scale_.sd)};
    batch.target = maps ? class_numbers(y, classes_) : y;
    return batch;
  }

 private:
  /// Returns the images x [b, c, h, w] after a random shift and flip of each. `indices` [b] are their rows.
  /// The result for an image depends on its row and the stream alone, not on the rest of the batch. The
  /// uncovered edge is the reflected image.
  at::Tensor varied(const at::Tensor& x, const at::Tensor& indices, const Stream& stream) const {
    if (how_.crop == 0 && !how_.flip) return x;
    at::Tensor out = at::empty_like(x);
    for (int64_t i = 0; i < x.size(0); ++i) {
      const Stream own = stream.split(static_cast<uint64_t>(indices[i].item<int64_t>()));
      const auto shift = [&](uint64_t axis) {
        return static_cast<int64_t>(own.uniform(axis) * static_cast<double>(2 * how_.crop + 1)) - how_.crop;
      };
      at::Tensor image = x[i].index_select(1, reflected(shift(0), x.size(2)))
                             .index_select(2, reflected(shift(1), x.size(3)));
      if (how_.flip && own.uniform(uint64_t{2}) < 0.5) image = image.flip(2);
      out[i].copy_(image);
    }
    return out;
  }

  at::Tensor pixels_, target_;  // [n, c, h, w] uint8; [n] class numbers float64, or maps [n, h, w] uint8
  int64_t classes_;
  PixelScale scale_;
  Augmentation how_;
};

at::Tensor per_channel(const std::vector<double>& values) {
  return at::tensor(values, at::kFloat).view({-1, 1, 1});
}

/// The labels that occur: their names by ascending label, and for each image the place of its name. [n] int64
struct NamedLabels {
  std::vector<std::string> names;
  at::Tensor place;
};

/// Returns the labels of images that have one each. A label without a name is called by its number. Throws
/// std::invalid_argument for a label beyond the names.
NamedLabels labels_in(const Images& images) {
  const auto [labels, place, counts] = at::_unique2(images.labels, /*sorted=*/true, /*return_inverse=*/true);
  NamedLabels out{{}, place};
  for (int64_t i = 0; i < labels.size(0); ++i) {
    const auto label = labels[i].item<int64_t>();
    const int64_t named = std::ssize(images.classes);
    if (!(named == 0 || (label >= 0 && label < named)))
      refuse("ImageEncoder", fmt::format("labels of the {} classes, from 0", named),
             fmt::format("{}", label));
    out.names.push_back(named == 0 ? fmt::format("{}", label) : images.classes[static_cast<size_t>(label)]);
  }
  return out;
}

void check_labelled(const Images& training) {
  const std::filesystem::path beside = labels_beside(training.source);
  if (!training.labels.defined())
    refuse("ImageEncoder::fit", "a label for each image",
           fmt::format("none beside '{}'", foreign_text(training.source)),
           beside == std::filesystem::path(training.source)
               ? "name the file so that the name of its labels follows: train-images-idx3-ubyte has "
                 "train-labels-idx1-ubyte"
               : fmt::format("the labels of an IDX file lie in '{}', .gz or not",
                             foreign_text(beside.filename().string())));
}

}  // namespace

ImageEncoder ImageEncoder::fit(const Images& training, double divisor) {
  constexpr const char* kFunction = "ImageEncoder::fit";
  check_shape(training.pixels, {-1, -1, -1, -1}, kFunction, "pixels");
  check(training.pixels.size(0) > 0, kFunction, "at least one image", "none");
  check_labelled(training);
  if (!(divisor == 0 || (divisor >= 1 && divisor <= 255)))
    refuse(kFunction, "a `.pixel_divisor` of 0 or from 1 to 255", fmt::format("{}", divisor));
  ImageEncoder encoder;
  encoder.size_ = training.pixels.sizes().slice(1).vec();
  // Mean and sd are computed from how often each byte value occurs. These counts are exact, so the result
  // does not depend on the order of the images.
  const int64_t channels = encoder.size_[0];
  if (divisor > 0) {
    encoder.mean_.assign(static_cast<size_t>(channels), 0);
    encoder.sd_.assign(static_cast<size_t>(channels), divisor);
  }
  for (int64_t c = 0; divisor == 0 && c < channels; ++c) {
    const at::Tensor counts = at::bincount(training.pixels.select(1, c).reshape({-1}), {}, 256);
    const at::Tensor share = counts.to(at::kDouble) / counts.sum(), level = at::arange(256, at::kDouble);
    const double mean = (share * level).sum().item<double>();
    const double var = (share * (level - mean).square()).sum().item<double>();
    encoder.mean_.push_back(mean);
    encoder.sd_.push_back(var > 0 ? std::sqrt(var) : 1);
  }
  Task& task = encoder.schema_.task;
  task.levels = training.classes;
  if (kind_of(training) == InputKind::segmentation) {
    check(task.levels.size() >= 2, kFunction, "names of at least two classes", "one");
    encoder.complete_schema(/*by_pixel=*/true);
    encoder.check_labels(training);
    return encoder;
  }
  if (!training.classes.empty()) encoder.named_ = training.named;
  task.levels = labels_in(training).names;
  check(are_class_names(task.levels), kFunction, "classes with different names",
        "a name twice, or an empty one");
  if (!(task.levels.size() >= 2)) refuse(kFunction, "labels of at least two classes", task.levels.front());
  encoder.complete_schema(/*by_pixel=*/false);
  return encoder;
}

Dataset ImageEncoder::dataset(const Images& images, bool with_target,
                              const Augmentation& augmentation) const {
  if (images.pixels.sizes().slice(1) != at::IntArrayRef(size_))
    throw DataError(images.source,
                    fmt::format("expected images of {}; received {} (channels x height x width)",
                                fmt::join(size_, " x "), fmt::join(images.pixels.sizes().slice(1), " x ")));
  at::Tensor classes;
  if (with_target && images.labels.defined()) {
    check_labels(images);
    classes = schema_.task.grid ? images.labels : target(images);
  }
  return {schema_,
          std::make_shared<ImageSource>(images.pixels, classes, schema_.task.outputs,
                                        PixelScale{per_channel(mean_), per_channel(sd_)}, augmentation)};
}

void ImageEncoder::check_labels(const Images& images) const {
  const bool by_pixel = schema_.task.grid.has_value(), maps = kind_of(images) == InputKind::segmentation;
  const char *map = "a label map for each image", *one = "one label for each image";
  if (by_pixel != maps)
    throw DataError(images.source,
                    fmt::format("expected {}, as in training; received {}; give images of the kind that "
                                "the model was fitted on",
                                by_pixel ? map : one, maps ? map : one));
  if (!by_pixel) return;
  const std::vector<int64_t> sizes = {images.pixels.size(0), size_[1], size_[2]};
  check_shape(images.labels, sizes, "ImageEncoder", "labels");
  if (images.labels.scalar_type() != at::kByte || images.classes != schema_.task.levels ||
      !images.labels.le(schema_.task.outputs).all().item<bool>())
    refuse(
        "ImageEncoder",
        fmt::format("label maps of bytes from 0 to {}, with the classes of training", schema_.task.outputs),
        "others");
}

at::Tensor ImageEncoder::target(const Images& images) const {
  check_labels(images);
  if (schema_.task.grid) return class_numbers(images.labels, schema_.task.outputs);
  const auto [names, place_of_name] = labels_in(images);
  std::vector<int64_t> places;
  for (size_t i = 0; i < names.size(); ++i) {
    const auto found = std::ranges::find(schema_.task.levels, names[i]);
    places.push_back(found - schema_.task.levels.begin());
    if (found != schema_.task.levels.end()) continue;
    const int64_t image = place_of_name.eq(static_cast<int64_t>(i)).nonzero()[0].item<int64_t>();
    throw DataError(
        images.source,
        fmt::format("expected labels of the training images ({}); received {} at image {}; {}",
                    foreign_text(fmt::format("{}", fmt::join(schema_.task.levels, ", "))),
                    foreign_text(names[i]), image + 1,
                    named_ && images.classes.empty()
                        ? "give the names of the classes, which the numbers do not tell"
                        : "where the split held a whole class out, fit with another `.split_seed`"));
  }
  return at::tensor(places, at::kDouble).index_select(0, place_of_name);
}

bool ImageEncoder::are_class_names(std::vector<std::string> names) {
  std::ranges::sort(names);
  return !names.front().empty() && std::ranges::adjacent_find(names) == names.end();
}

void ImageEncoder::complete_schema(bool by_pixel) {
  Task& task = schema_.task;
  if (by_pixel) task.grid = PixelGrid{size_[1], size_[2]};
  task.kind = TaskKind::classification;
  task.likelihood = LikelihoodKind::softmax;
  task.outputs = std::ssize(task.levels);
  schema_.input.sizes = size_;
}

}  // namespace slimbayes
