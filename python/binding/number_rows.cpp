// Answers to a few rows of numbers without a table: what a program calls that predicts row after row. A table
// costs several times the answer: names, kinds, notes on cells. Only rows about which nothing could be said
// are answered here; for others the caller takes the way through a table.
#include <pybind11/stl.h>

#include <cmath>
#include <cstring>
#include <optional>

#include "binding/binding.h"
#include "slimbayes/encoding/outside.h"
#include "slimbayes/model/answer_table.h"
#include "slimbayes/model/row_predictor.h"

namespace slimbayes::python {
namespace {

constexpr py::ssize_t kMostRows = 64;

/// Reads the cells of a row at their places.
template <class Number>
void read_cells(const char* row, py::ssize_t across, const std::vector<py::ssize_t>& places, double* out) {
  for (const py::ssize_t place : places) {
    Number value;
    std::memcpy(&value, row + place * across, sizeof value);
    *out++ = static_cast<double>(value);
  }
}

/// A model that answers rows of numbers. Python's lock keeps it to one thread at a time.
class NumberRows {
 public:
  /// `names` are those of the columns of the arrays to come. nullptr: the model has other inputs than
  /// numbers, or is none that RowPredictor takes.
  static std::unique_ptr<NumberRows> of(const SharedModel& model, const std::vector<std::string>& names) {
    const auto* encoder = std::get_if<Encoder>(&model->encoder());
    if (encoder == nullptr || model->schema().task.kind != TaskKind::regression ||
        !model->group_calibration().empty() || model->fitted().row_model() == nullptr)
      return nullptr;
    std::unique_ptr<NumberRows> rows(new NumberRows(model, std::ssize(names)));
    for (const Encoder::Feature& feature : encoder->columns()) {
      const auto found = std::ranges::find(names, feature.name);
      if (found == names.end()) return nullptr;
      if (feature.width() == 0) continue;
      if (feature.kind != ColumnKind::numeric || !feature.levels.empty()) return nullptr;
      rows->features_.push_back(feature);
      rows->places_.push_back(found - names.begin());
    }
    rows->cells_.resize(rows->places_.size());
    return rows;
  }

  /// The means [n], with `parts` also both variances; None where the way through a table may say something.
  py::object predict(const py::array& X, bool parts) {
    const py::ssize_t n = rows_of(X);
    if (n == 0) return py::none();
    py::array_t<double> mean(n), aleatoric(parts ? n : 0), epistemic(parts ? n : 0);
    for (py::ssize_t i = 0; i < n; ++i) {
      const std::optional<RowAnswer> answer = answer_at(X, i);
      if (!answer) return py::none();
      mean.mutable_data()[i] = answer->mean;
      if (!parts) continue;
      aleatoric.mutable_data()[i] = answer->aleatoric_var;
      epistemic.mutable_data()[i] = answer->epistemic_var;
    }
    if (!parts) return mean;
    return py::make_tuple(std::move(mean), std::move(aleatoric), std::move(epistemic));
  }

  /// What a user should read beside every interval.
  const std::vector<std::string>& notes() const { return notes_; }

  /// The ends of the intervals [n] each, or None.
  py::object interval(const py::array& X, double level) {
    const py::ssize_t n = rows_of(X);
    if (n == 0) return py::none();
    py::array_t<double> lower(n), upper(n);
    for (py::ssize_t i = 0; i < n; ++i) {
      if (!answer_at(X, i)) return py::none();
      const RowInterval ends = predictor_.interval(level);
      if (!(std::isfinite(ends.lower) && std::isfinite(ends.upper)) || (positive_ && ends.lower <= 0))
        return py::none();
      lower.mutable_data()[i] = ends.lower;
      upper.mutable_data()[i] = ends.upper;
    }
    return py::make_tuple(std::move(lower), std::move(upper));
  }

 private:
  NumberRows(const SharedModel& model, py::ssize_t columns)
      : predictor_(*model),
        columns_(columns),
        notes_(in_python(std::vector<std::string>{parts_note(*model)})),
        positive_(model->schema().task.low > 0 && !model->schema().task.bounds) {}

  /// Returns the number of rows of an array that can be read here, else 0.
  py::ssize_t rows_of(const py::array& X) const {
    const py::dtype type = X.dtype();
    const bool plain = type.kind() == 'f' && (type.itemsize() == 8 || type.itemsize() == 4) &&
                       type.byteorder() != '>' && X.ndim() == 2 && X.shape(1) == columns_;
    return plain && X.shape(0) <= kMostRows ? X.shape(0) : 0;
  }

  std::optional<RowAnswer> answer_at(const py::array& X, py::ssize_t i) {
    const char* row = static_cast<const char*>(X.data()) + i * X.strides(0);
    (X.itemsize() == 8 ? read_cells<double> : read_cells<float>)(row, X.strides(1), places_, cells_.data());
    for (size_t j = 0; j < cells_.size(); ++j)
      if (!std::isfinite(cells_[j]) ||
          (features_[j].range && half_ranges_beyond(cells_[j], features_[j]) > 0))
        return std::nullopt;
    const RowAnswer a = predictor_(cells_);
    const bool sane = !a.zeroed && std::isfinite(a.mean) && a.aleatoric_var >= 0 && a.epistemic_var >= 0 &&
                      std::isfinite(a.aleatoric_var + a.epistemic_var);
    return sane ? std::optional(a) : std::nullopt;
  }

  RowPredictor predictor_;
  py::ssize_t columns_;
  std::vector<std::string> notes_;
  bool positive_;  // whether an interval that ends at 0 may have a note
  std::vector<Encoder::Feature> features_;
  std::vector<py::ssize_t> places_;
  std::vector<double> cells_;
};

}  // namespace

void bind_number_rows(py::module_& module) {
  py::class_<NumberRows>(module, "NumberRows")
      .def("predict", &NumberRows::predict, py::arg("X"), py::arg("parts"))
      .def_property_readonly("notes", &NumberRows::notes)
      .def("interval", &NumberRows::interval, py::arg("X"), py::arg("level"));
  module.def("number_rows", &NumberRows::of, py::arg("model"), py::arg("names"));
}

}  // namespace slimbayes::python
