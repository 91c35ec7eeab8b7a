// Tables and images from Python. A matrix of numbers is converted once, to the doubles of the table's
// columns; Arrow columns enter without a copy and are converted once when the table is read.
#include <ATen/ATen.h>
#include <arrow/c/abi.h>
#include <pybind11/stl.h>

#include "binding/binding.h"

namespace slimbayes::python {
namespace {

template <class T>
void copy_cells(const char* first, int64_t rows, int64_t stride, double* out) {
  for (int64_t i = 0; i < rows; ++i) {
    T value;
    std::memcpy(&value, first + i * stride, sizeof value);
    out[i] = static_cast<double>(value);
  }
}

/// Converts `rows` cells that lie `stride` bytes apart.
using Copy = void (*)(const char* first, int64_t rows, int64_t stride, double* out);

/// A row-major matrix is converted in blocks of so many rows, which stay in the cache for all columns.
constexpr int64_t kBlock = 512;

/// Returns the function that copies cells of this type; nullptr for a type that is no number.
Copy copier(const py::dtype& type) {
  const auto size = type.itemsize();
  if (type.byteorder() == '>') return nullptr;
  switch (type.kind()) {
    case 'b':
      return copy_cells<bool>;
    case 'f':
      return size == 8 ? copy_cells<double> : size == 4 ? copy_cells<float> : nullptr;
    case 'i':
      return size == 8   ? copy_cells<int64_t>
             : size == 4 ? copy_cells<int32_t>
             : size == 2 ? copy_cells<int16_t>
                         : copy_cells<int8_t>;
    case 'u':
      return size == 8   ? copy_cells<uint64_t>
             : size == 4 ? copy_cells<uint32_t>
             : size == 2 ? copy_cells<uint16_t>
                         : copy_cells<uint8_t>;
    default:
      return nullptr;
  }
}

/// Adds the columns of a matrix [n, d], or one column [n], under these names.
void add_numbers(Frame& frame, const py::array& values, const std::vector<std::string>& names) {
  const Copy copy = copier(values.dtype());
  if (copy == nullptr || values.ndim() < 1 || values.ndim() > 2)
    throw std::invalid_argument(
        "expected a matrix of numbers; received another array; give a data frame for columns of text");
  const int64_t rows = values.shape(0), columns = values.ndim() == 2 ? values.shape(1) : 1;
  if (columns != std::ssize(names)) throw std::invalid_argument("expected a name for each column");
  const auto* first = static_cast<const char*>(values.data());
  const ColumnKind kind = values.dtype().kind() == 'b' ? ColumnKind::boolean : ColumnKind::numeric;
  const int64_t down = values.strides(0), across = values.ndim() == 2 ? values.strides(1) : 0;
  std::vector<double*> out;
  for (const std::string& name : names) {
    frame.columns.push_back({name, kind, std::vector<double>(static_cast<size_t>(rows)), {}});
    out.push_back(frame.columns.back().values.data());  // the buffer stays where it is when the column moves
  }
  const py::gil_scoped_release released;
  for (int64_t i = 0; i < rows; i += kBlock)
    for (size_t j = 0; j < out.size(); ++j)
      copy(first + i * down + static_cast<int64_t>(j) * across, std::min(kBlock, rows - i), down, out[j] + i);
}

void add_capsule(Frame& frame, const py::capsule& capsule) {
  auto* stream = static_cast<ArrowArrayStream*>(PyCapsule_GetPointer(capsule.ptr(), "arrow_array_stream"));
  if (stream == nullptr) throw py::error_already_set();
  add_stream(frame, *stream);
}

/// `classes`: the name of each label; empty where the labels are numbers. `named`: what the names are, the
/// name of a ColumnKind.
Images images_of(const py::array& pixels, const std::optional<py::array>& labels,
                 const std::vector<std::string>& classes, const std::string& named) {
  Images images{"the images", to_tensor(pixels), {}, classes, kind_named(named)};
  if (labels) images.labels = to_tensor(*labels);
  return images;
}

}  // namespace

py::array to_numpy(const at::Tensor& tensor) {
  auto* owner = new at::Tensor(tensor.contiguous());
  const py::capsule free(owner, [](void* p) { delete static_cast<at::Tensor*>(p); });
  const char* type = owner->scalar_type() == at::kBool   ? "bool"
                     : owner->scalar_type() == at::kLong ? "int64"
                                                         : "float64";
  std::vector<py::ssize_t> shape(owner->sizes().begin(), owner->sizes().end());
  return py::array(py::dtype(type), std::move(shape), owner->const_data_ptr(), free);
}

at::Tensor to_tensor(const py::array& given) {
  const py::array array = py::array::ensure(given, py::array::c_style);
  if (array.dtype().byteorder() == '>')
    throw std::invalid_argument(
        "expected numbers in this machine's byte order; received others; convert them by astype");
  const char kind = array.dtype().kind();
  const auto size = array.dtype().itemsize();
  at::ScalarType type = at::kDouble;
  if (kind == 'f' && size == 4)
    type = at::kFloat;
  else if (kind == 'i' && size == 8)
    type = at::kLong;
  else if (kind == 'u' && size == 1)
    type = at::kByte;
  else if (kind != 'f' || size != 8)
    throw std::invalid_argument(
        "expected an array of float32, float64, int64 or uint8; received another type; convert it by astype");
  const std::vector<int64_t> shape(array.shape(), array.shape() + array.ndim());
  at::Tensor own = at::empty(shape, type);
  std::memcpy(own.mutable_data_ptr(), array.data(), static_cast<size_t>(array.nbytes()));
  return own;
}

void bind_data(py::module_& module) {
  py::class_<Frame>(module, "Frame")
      .def(py::init([](std::string source) { return Frame{std::move(source)}; }),
           py::arg("source") = "the frame")
      .def("add_numbers", &add_numbers, py::arg("values"), py::arg("names"))
      .def("add_stream", &add_capsule, py::arg("capsule"));
  py::class_<Images>(module, "Images")
      .def(py::init(&images_of), py::arg("pixels"), py::arg("labels") = py::none(),
           py::arg("classes") = std::vector<std::string>{}, py::arg("named") = "categorical");
  py::class_<Rows>(module, "Rows").def("__len__", [](const Rows& rows) { return count(*rows); });
}

}  // namespace slimbayes::python
