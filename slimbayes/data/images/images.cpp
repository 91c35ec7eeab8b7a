// Reads files of images. Pixels are kept as bytes, a quarter of the memory of float32.
#include "slimbayes/data/images/images.h"

#include <ATen/ATen.h>
#include <fmt/format.h>

#include <algorithm>
#include <fstream>
#include <memory>

#include "slimbayes/core/check.h"
#include "slimbayes/data/table/arrow.h"
#include "slimbayes/data/table/camvid.h"
#include "slimbayes/data/table/cell.h"
#include "slimbayes/data/table/cifar.h"
#include "slimbayes/storage/atomic_file.h"
#include "slimbayes/storage/error.h"
#include "slimbayes/storage/printable.h"

namespace slimbayes {

namespace {

namespace fs = std::filesystem;

constexpr int64_t kSide = 32;          // width and height of a CIFAR image
constexpr uint64_t kGzipRatio = 1000;  // most by which a .gz file may expand: black images compress well

/// The unpacked content of a file. The tensors of tensor() are views of the content and share ownership of
/// it: the memory is freed with the last view.
struct Bytes {
  std::shared_ptr<const std::string> text;

  int64_t size() const { return static_cast<int64_t>(text->size()); }
  int64_t at(int64_t i) const { return static_cast<unsigned char>((*text)[static_cast<size_t>(i)]); }
  int64_t word(int64_t i) const { return at(i) << 24 | at(i + 1) << 16 | at(i + 2) << 8 | at(i + 3); }

  /// Returns a uint8 tensor of the shape `sizes` that views the bytes from index `first` on.
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

/// Returns the sizes in the header of an IDX file with this number of dimensions: {images, height, width} or
/// {labels}. `name` is the path, for messages. Throws DataError for another type of file, another number of
/// dimensions, a size of 0, or a file whose length does not match the sizes.
std::vector<int64_t> idx_sizes(const Bytes& bytes, int64_t dimensions, const std::string& name) {
  const int64_t head = 4 + 4 * dimensions;
  const bool right = bytes.size() >= head && bytes.word(0) == (0x0800 | dimensions);
  if (!right)
    throw DataError(
        name,
        fmt::format("expected an IDX file of bytes in {} dimensions (its head is 00 00 08 {:02x}); received "
                    "another file; check the path (fit reads other formats by `.format`)",
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
                                sizes[0], foreign_text(name), n));
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
        fmt::format("expected records of {} bytes{} (label, 32 x 32 planes of red, green, blue); received {} "
                    "bytes, {} more than whole records; the file is cut short or of another format",
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
                                "formats by `.format`)",
                                classes, most));
  return images;
}

Images read_camvid(const fs::path& path, const TableLimits& limits, bool with_labels) {
  constexpr int64_t kPlanes = 4, kRecord = kPlanes * kCamvidPixels;
  const std::string name = path.string();
  const Bytes bytes = contents(path, limits);
  if (bytes.size() % kRecord != 0)
    throw DataError(name,
                    fmt::format("expected records of {} bytes (planes of labels, red, green, blue, {} x {} "
                                "each); received {} bytes, {} more than whole records; the file is cut short "
                                "or of another format",
                                kRecord, kCamvidHeight, kCamvidWidth, bytes.size(), bytes.size() % kRecord));
  const at::Tensor records = bytes.tensor(0, {bytes.size() / kRecord, kPlanes, kCamvidHeight, kCamvidWidth});
  Images images{name, records.narrow(1, 1, kPlanes - 1), {}};
  images.classes.assign(kCamvidClasses.begin(), kCamvidClasses.end());
  if (!with_labels) return images;
  images.labels = records.select(1, 0);
  const at::Tensor strange = (images.labels > kCamvidVoid).nonzero();
  if (strange.size(0) > 0) {
    const int64_t image = strange[0][0].item<int64_t>();
    const int64_t label = images.labels[image][strange[0][1]][strange[0][2]].item<int64_t>();
    throw DataError(name,
                    fmt::format("expected labels up to {}, which means no class; received {} in image {}; "
                                "the file is damaged or of another format",
                                kCamvidVoid, label, image + 1));
  }
  return images;
}

/// Returns the first `size` bytes of a file, unpacked if its name is that of packed data; fewer if it has
/// fewer.
std::string head_of(const fs::path& path, int64_t size) {
  if (is_packed_data(path)) return gunzip_head(read_bytes(path), size);
  std::string head(static_cast<size_t>(size), '\0');
  std::ifstream file(path, std::ios::binary);
  file.read(head.data(), size);
  head.resize(static_cast<size_t>(file.gcount()));
  return head;
}

std::string replaced(std::string text, std::string_view old, std::string_view with) {
  const size_t at = text.rfind(old);
  return at == std::string::npos ? text : text.replace(at, old.size(), with);
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

InputKind kind_of(const Images& images) {
  const bool maps = images.labels.defined() && images.labels.dim() == 3;
  return maps ? InputKind::segmentation : InputKind::images;
}

std::string format_of(const fs::path& path) {
  const std::string format = image_format(path);
  std::error_code unknown;
  if (!format.empty() || is_table_name(path) || !fs::is_regular_file(path, unknown)) return format;
  const std::string head = head_of(path, kCamvidPixels);
  if (head.starts_with(kIdxImages)) return "idx";
  return begins_as_camvid(head) ? "camvid" : "";
}

Images read_images(const fs::path& path, std::string_view format, const TableLimits& limits,
                   bool with_labels) {
  if (format == "idx") return read_idx(path, limits, with_labels);
  if (format == "camvid") return read_camvid(path, limits, with_labels);
  if (format != "cifar10" && format != "cifar100")
    refuse("read_images", "the format idx, cifar10, cifar100 or camvid", in_quotes(std::string(format)));
  return read_cifar(path, format == "cifar100", limits, with_labels);
}

Images take_images(const Images& images, const std::vector<int64_t>& rows) {
  const at::Tensor index = at::tensor(rows, at::kLong);
  const int64_t n = images.pixels.size(0);
  const auto inside = [n](int64_t row) { return row >= 0 && row < n; };
  if (!std::ranges::all_of(rows, inside))
    refuse("take_images", fmt::format("rows from 0 to below {}", n), "others");
  Images some{images.source, images.pixels.index_select(0, index), {}, images.classes, images.named};
  if (images.labels.defined()) some.labels = images.labels.index_select(0, index);
  return some;
}

}  // namespace slimbayes
