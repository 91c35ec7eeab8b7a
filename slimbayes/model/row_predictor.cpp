#include "slimbayes/model/row_predictor.h"

#include <ATen/ATen.h>
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <optional>

#include "slimbayes/core/check.h"
#include "slimbayes/data/table/cell.h"
#include "slimbayes/encoding/row_encoder.h"
#include "slimbayes/engine/row_model.h"
#include "slimbayes/serve/row_regression.h"

namespace slimbayes {

namespace {

std::shared_ptr<const engine::RowModel> row_model_of(const Model& model) {
  const Task& task = model.schema().task;
  if (task.kind != TaskKind::regression)
    refuse("RowPredictor", "a model of a regression", name_of(task.kind));
  if (!std::holds_alternative<Encoder>(model.encoder()))
    refuse("RowPredictor", "a model of rows of a table", name_of(kind_of(model.encoder())));
  check(model.group_calibration().empty(), "RowPredictor", "a calibration of all rows together",
        "one with `.calibrate_by`", "Model::answers has its intervals");
  std::shared_ptr<const engine::RowModel> rows = model.fitted().row_model();
  if (!rows)
    refuse("RowPredictor", "a model that the engine knows", model.method(),
           "Model::predict answers rows by libtorch");
  return rows;
}

CalibrationScores calibration_of(const ConformalScores& scores) {
  if (scores.groups == 0) return {};
  const at::Tensor value = scores.value.to(at::kDouble).contiguous(), group = scores.group.contiguous();
  const double* v = value.const_data_ptr<double>();
  const int64_t* g = group.const_data_ptr<int64_t>();
  CalibrationScores out{{v, v + value.numel()}, {g, g + group.numel()}, scores.groups};
  if (scores.weight.defined()) {
    const at::Tensor weight = scores.weight.contiguous();
    const double* w = weight.const_data_ptr<double>();
    out.weight.assign(w, w + weight.numel());
  }
  return out;
}

}  // namespace

struct RowPredictor::State {
  RowRegression rows;
  RowEncoder encoder;
  std::vector<float> encoded;
  std::vector<double> x;
  RowRegression::Memory memory;
  std::optional<RowAnswer> last;  // of the row in `memory`
  RowRegression::Level level;     // what interval() prepared for the level that it was asked for last

  explicit State(const Model& model)
      : rows(row_model_of(model), model.schema().task, model.noise().var,
             calibration_of(model.calibration())),
        encoder(std::get<Encoder>(model.encoder())),
        encoded(static_cast<size_t>(rows.inputs())),
        x(encoded.size()) {}

  RowAnswer answer() {
    last.reset();
    last = rows.answer(x, memory);
    return *last;
  }
};

RowPredictor::RowPredictor(const Model& model) : state_(std::make_unique<State>(model)) {}
RowPredictor::RowPredictor(RowPredictor&&) noexcept = default;
RowPredictor::~RowPredictor() = default;

const std::vector<std::string>& RowPredictor::columns() const { return state_->encoder.names(); }
int64_t RowPredictor::inputs() const { return state_->rows.inputs(); }

RowAnswer RowPredictor::operator()(std::span<const double> cells) {
  State& s = *state_;
  if (!s.encoder.categorical().empty())
    refuse("RowPredictor", "a model whose inputs are numbers",
           "categories in column " + in_quotes(s.encoder.categorical()),
           "serve::Model answers rows of texts");
  s.encoder.encode(cells, s.encoded);
  std::ranges::copy(s.encoded, s.x.begin());
  return s.answer();
}

RowAnswer RowPredictor::encoded(std::span<const float> x) {
  State& s = *state_;
  if (x.size() != s.x.size())
    refuse("RowPredictor", fmt::format("{} inputs", s.x.size()), std::to_string(x.size()));
  if (!std::ranges::all_of(x, [](float one) { return std::isfinite(one); }))
    refuse("RowPredictor", "finite inputs", "NaN or infinity", "RowPredictor's operator() takes cells");
  std::ranges::copy(x, s.x.begin());
  return s.answer();
}

RowInterval RowPredictor::interval(double level) {
  State& s = *state_;
  check(s.last.has_value(), "RowPredictor", "an answer before its interval", "none yet");
  if (level != s.level.level) s.level = s.rows.at_level(level);
  return s.rows.interval(*s.last, s.level, s.memory);
}

}  // namespace slimbayes
