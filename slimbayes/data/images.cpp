// Reads and encodes images. Pixels stay bytes in memory, a quarter of the size of float32. A batch is scaled,
// and in training augmented, when it is requested.
#include "slimbayes/data/images.h"

#include <ATen/ATen.h>
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <memory>

#include "slimbayes/core/check.h"
#include "slimbayes/core/json_reader.h"
#include "slimbayes/data/table/arrow.h"
#include "slimbayes/data/table/cell.h"
#include "slimbayes/data/table/cifar.h"
#include "slimbayes/storage/atomic_file.h"
#include "slimbayes/storage/error.h"

namespace slimbayes {

namespace {

namespace fs = std::filesystem;

constexpr int64_t kSide = 32;          // of the image in a CIFAR record
constexpr uint64_t kGzipRatio = 1000;  // black images compress well

/// The content of a file, unpacked. The tensors from tensor() are views of it and share its ownership: the
/// content is freed with the last of them.
struct Bytes {
  std::shared_ptr<const std::string> text;

  int64_t size() const { return static_cast<int64_t>(text->size()); }
  int64_t at(int64_t i) const { return static_cast<unsigned char>((*text)[static_cast<size_t>(i)]); }
  int64_t word(int64_t i) const { return at(i) << 24 | at(i + 1) << 16 | at(i + 2) << 8 | at(i + 3); }

  /// Returns a uint8 view of these sizes that starts at byte `first`.
  at::Tensor tensor(int64_t first, at::IntArrayRef sizes) const {
    auto* data = const_cast<char*>(text->data()) + first;  // never written to
    return at::from_blob(
        data, sizes, [keep = text](void*) {}, at::TensorOptions().dtype(at::kByte));
  }
};

Bytes contents(const fs::path& path, const TableLimits& limits) {
  const std::string name = path.string();
  const std::vector<std::byte> file = read_bytes(path);
  if (file.empty()) throw DataError(name, "expected images; received an empty file; check the path");
  if (path.extension() == ".gz" || path.extension() == ".GZ")
    return {std::make_shared<const std::string>(
        gunzip(file, name, TableBound::of(limits, file.size(), kGzipRatio)))};
  return {std::make_shared<const std::string>(reinterpret_cast<const char*>(file.data()), file.size())};
}

/// Returns the sizes in the header of an IDX file of bytes. Throws DataError for another number of
/// dimensions, a size of 0, or a file of another length than the sizes say.
std::vector<int64_t> idx_sizes(const Bytes& bytes, int64_t dimensions, const std::string& name) {
  const int64_t head = 4 + 4 * dimensions;
  const bool right = bytes.size() >= head && bytes.word(0) == (0x0800 | dimensions);
  if (!right)
    throw DataError(
        name,
        fmt::format("expected an IDX file of bytes in {} dimensions (its head is 00 00 08 {:02x}); received "
                    "another file; check the path (fit reads other formats by --format)",
                    dimensions, dimensions));
  std::vector<int64_t> sizes;
  double all = static_cast<double>(head);
  for (int64_t i = 0; i < dimensions; ++i) sizes.push_back(bytes.word(4 + 4 * i));
  double product = 1;
  for (int64_t size : sizes) product *= static_cast<double>(size);
  all += product;
  if (product == 0)
    throw DataError(name, fmt::format("expected at least one entry; received {}, as its head says",
                                      fmt::join(sizes, " x ")));
  if (all != static_cast<double>(bytes.size()))
    throw DataError(name,
                    fmt::format("expected {} bytes, as its head says ({}); received {}; the file is cut "
                                "short or damaged: get it again",
                                all, fmt::join(sizes, " x "), bytes.size()));
  return sizes;
}

Images read_idx(const fs::path& path, const TableLimits& limits, bool with_labels) {
  const std::string name = path.string();
  const Bytes bytes = contents(path, limits);
  const std::vector<int64_t> sizes = idx_sizes(bytes, 3, name);
  Images images{name, bytes.tensor(16, {sizes[0], 1, sizes[1], sizes[2]}), {}};
  const fs::path beside = labels_beside(path);
  std::error_code ignored;
  if (!with_labels || beside == path || !fs::exists(beside, ignored)) return images;
  const Bytes labels = contents(beside, limits);
  const int64_t n = idx_sizes(labels, 1, beside.string())[0];
  if (n != sizes[0])
    throw DataError(beside.string(),
                    fmt::format("expected {} labels, one for each image of {}; received {}; the two files do "
                                "not belong together",
                                sizes[0], name, n));
  images.labels = labels.tensor(8, {n}).to(at::kLong);
  return images;
}

Images read_cifar(const fs::path& path, bool hundred, const TableLimits& limits, bool with_labels) {
  const std::string name = path.string();
  const Bytes bytes = contents(path, limits);
  int64_t labels = 1;
  if (hundred && bytes.size() % (1 + kCifarPixels) != 0) labels = 2;
  const int64_t record = labels + kCifarPixels;
  if (bytes.size() % record != 0)
    throw DataError(
        name,
        fmt::format("expected records of {} bytes{} (label, 32 x 32 planes of red, green, blue); received "
                    "{} bytes, {} more than whole records; the file is cut short or of another format",
                    1 + kCifarPixels, hundred ? fmt::format(" or {}", 2 + kCifarPixels) : "", bytes.size(),
                    bytes.size() % record));
  const int64_t n = bytes.size() / record;
  const at::Tensor records = bytes.tensor(0, {n, record});
  Images images{
      name, records.as_strided({n, 3, kSide, kSide}, {record, kSide * kSide, kSide, 1}, labels), {}};
  if (!with_labels) return images;
  images.labels = records.select(1, labels - 1).to(at::kLong);
  const int64_t classes = hundred ? 100 : 10, most = images.labels.max().item<int64_t>();
  if (most >= classes)
    throw DataError(name,
                    fmt::format("expected labels below {}; received {}; check the path (fit reads other "
                                "formats by --format)",
                                classes, most));
  return images;
}

/// Gives batches of scaled images, augmented in training.
class ImageSource : public Source {
 public:
  ImageSource(at::Tensor pixels, at::Tensor target, at::Tensor mean, at::Tensor sd, const Augmentation& how)
      : pixels_(std::move(pixels)),
        target_(std::move(target)),
        mean_(std::move(mean)),
        sd_(std::move(sd)),
        how_(how) {}

  int64_t size() const override { return pixels_.size(0); }

  Batch rows(const at::Tensor& indices, const RowContext& context) const override {
    at::Tensor x = pixels_.index_select(0, indices);
    if (context.training) x = varied(x, indices, context.stream);
    Batch batch;
    batch.inputs = {x.to(at::kFloat).sub_(mean_).div_(sd_)};
    if (target_.defined()) batch.target = target_.index_select(0, indices);
    return batch;
  }

 private:
  /// Augments images. The result for an image depends on its index and the stream alone, not on the batch.
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

  at::Tensor pixels_, target_;  // [n, c, h, w] uint8, [n] float64
  at::Tensor mean_, sd_;        // [c, 1, 1] float32
  Augmentation how_;
};

std::string replaced(std::string text, std::string_view old, std::string_view with) {
  const size_t at = text.rfind(old);
  return at == std::string::npos ? text : text.replace(at, old.size(), with);
}

at::Tensor per_channel(const std::vector<double>& values) {
  return at::tensor(values, at::kFloat).view({-1, 1, 1});
}

}  // namespace

fs::path labels_beside(const fs::path& images) {
  const std::string name = replaced(replaced(images.filename().string(), "images", "labels"), "idx3", "idx1");
  const fs::path beside = images.parent_path() / name;
  fs::path other = beside;
  if (other.extension() == ".gz")
    other.replace_extension();
  else
    other += ".gz";
  std::error_code ignored;
  return beside != images && !fs::exists(beside, ignored) && fs::exists(other, ignored) ? other : beside;
}

std::string format_of(const fs::path& path) {
  const std::string format = image_format(path);
  std::error_code unknown;
  if (!format.empty() || !is_packed_data(path) || !fs::is_regular_file(path, unknown)) return format;
  return gunzip_head(read_bytes(path), std::ssize(kIdxImages)) == kIdxImages ? "idx" : "";
}

Images read_images(const fs::path& path, std::string_view format, const TableLimits& limits,
                   bool with_labels) {
  if (format == "idx") return read_idx(path, limits, with_labels);
  check(format == "cifar10" || format == "cifar100", "read_images", "the format idx, cifar10 or cifar100",
        in_quotes(std::string(format)));
  return read_cifar(path, format == "cifar100", limits, with_labels);
}

Images take_images(const Images& images, const std::vector<int64_t>& rows) {
  const at::Tensor index = at::tensor(rows, at::kLong);
  const int64_t n = images.pixels.size(0);
  const auto inside = [n](int64_t row) { return row >= 0 && row < n; };
  check(std::ranges::all_of(rows, inside), "take_images", fmt::format("rows from 0 to below {}", n),
        "others");
  Images some{images.source, images.pixels.index_select(0, index), {}};
  if (images.labels.defined()) some.labels = images.labels.index_select(0, index);
  return some;
}

ImageEncoder ImageEncoder::fit(const Images& training) {
  constexpr const char* kFunction = "ImageEncoder::fit";
  check_shape(training.pixels, {-1, -1, -1, -1}, kFunction, "pixels");
  check(training.pixels.size(0) > 0, kFunction, "at least one image", "none");
  check(training.labels.defined(), kFunction, "a label for each image",
        fmt::format("none beside '{}'", training.source),
        labels_beside(training.source) == fs::path(training.source)
            ? "name the file so that the name of its labels follows: train-images-idx3-ubyte has "
              "train-labels-idx1-ubyte"
            : fmt::format("the labels of an IDX file lie in '{}', .gz or not",
                          labels_beside(training.source).filename().string()));
  ImageEncoder encoder;
  encoder.size_ = training.pixels.sizes().slice(1).vec();
  // The statistics come from counts of the byte values, which are exact: the order of the images does not
  // matter.
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
  task.kind = TaskKind::classification;
  task.likelihood = LikelihoodKind::softmax;
  task.outputs = std::ssize(task.levels);
  encoder.schema_.input.sizes = encoder.size_;
  return encoder;
}

Dataset ImageEncoder::dataset(const Images& images, bool with_target,
                              const Augmentation& augmentation) const {
  if (images.pixels.sizes().slice(1) != at::IntArrayRef(size_))
    throw DataError(images.source,
                    fmt::format("expected images of {}; received {} (channels x height x width)",
                                fmt::join(size_, " x "), fmt::join(images.pixels.sizes().slice(1), " x ")));
  const at::Tensor classes = with_target && images.labels.defined() ? target(images) : at::Tensor();
  return {schema_, std::make_shared<ImageSource>(images.pixels, classes, per_channel(mean_), per_channel(sd_),
                                                 augmentation)};
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
        fmt::format("expected labels of the training images ({}); received {} at image {}; where "
                    "the split held a whole class out, fit with another --split-seed",
                    fmt::join(schema_.task.levels, ", "), images.labels[strange[0][0]].item<int64_t>(),
                    strange[0][0].item<int64_t>() + 1));
  return place.to(at::kDouble);
}

nlohmann::json ImageEncoder::to_json() const {
  return {{"kind", "images"}, {"size", size_}, {"mean", mean_}, {"sd", sd_}, {"levels", schema_.task.levels}};
}

ImageEncoder ImageEncoder::from_json(const nlohmann::json& json) {
  constexpr const char* kWhere = "ImageEncoder::from_json";
  constexpr int64_t kMostPixels = int64_t{1} << 16;
  const JsonReader read(json, kWhere);
  ImageEncoder encoder;
  Task& task = encoder.schema_.task;
  task.levels = read.texts("levels");
  const auto numbers = [&](const char* key, bool positive) {
    std::vector<double> all;
    const nlohmann::json& list = read.value(key);
    check(list.is_array(), kWhere, fmt::format("a list of numbers in '{}'", key), "another value");
    for (const nlohmann::json& value : list) {
      check(value.is_number() && std::isfinite(value.get<double>()) && (!positive || value.get<double>() > 0),
            kWhere, fmt::format("{} numbers in '{}'", positive ? "positive" : "finite", key), "others",
            "the model file is damaged");
      all.push_back(value.get<double>());
    }
    return all;
  };
  for (double size : numbers("size", true)) {
    check(size == std::floor(size) && size <= kMostPixels, kWhere, "whole sizes of an image",
          fmt::format("{}", size), "the model file is damaged");
    encoder.size_.push_back(static_cast<int64_t>(size));
  }
  encoder.mean_ = numbers("mean", false);
  encoder.sd_ = numbers("sd", true);
  const auto is_label = [](const std::string& level) {
    return !level.empty() && level.size() <= 18 && (level == "0" || level[0] != '0') &&
           std::ranges::all_of(level, [](char c) { return c >= '0' && c <= '9'; });
  };
  // Compares labels as whole numbers: they have no leading zeros, so the longer one is the larger number.
  const auto ascend = [](const std::string& a, const std::string& b) {
    return a.size() < b.size() || (a.size() == b.size() && a < b);
  };
  const auto not_ascending = [&](const std::string& a, const std::string& b) { return !ascend(a, b); };
  constexpr double kLeastSd = 1e-7, kMostSd = 128;  // of pixels from 0 to 255
  const auto of_pixels = [](double mean) { return mean >= 0 && mean <= 255; };
  const auto spread = [](double sd) { return sd >= kLeastSd && sd <= kMostSd; };
  const bool sane = encoder.size_.size() == 3 && std::ssize(encoder.mean_) == encoder.size_[0] &&
                    encoder.sd_.size() == encoder.mean_.size() && task.levels.size() >= 2 &&
                    std::ranges::all_of(task.levels, is_label) &&
                    std::ranges::adjacent_find(task.levels, not_ascending) == task.levels.end() &&
                    std::ranges::all_of(encoder.mean_, of_pixels) && std::ranges::all_of(encoder.sd_, spread);
  check(sane, kWhere,
        "three sizes, a mean and an sd for each channel, and the numbers of the classes in ascending order",
        "others", "the model file is damaged");
  task.kind = TaskKind::classification;
  task.likelihood = LikelihoodKind::softmax;
  task.outputs = std::ssize(task.levels);
  encoder.schema_.input.sizes = encoder.size_;
  return encoder;
}

}  // namespace slimbayes
