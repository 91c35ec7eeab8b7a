#include "slimbayes/model/joint/joint_model.h"

#include <ATen/ATen.h>
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <bit>
#include <cmath>
#include <iterator>
#include <limits>

#include "slimbayes/answers/joint/box_probability.h"
#include "slimbayes/answers/joint/copula.h"
#include "slimbayes/answers/joint/region.h"
#include "slimbayes/catalog/nearest.h"
#include "slimbayes/core/check.h"
#include "slimbayes/data/table/cell.h"
#include "slimbayes/encoding/target_cells.h"
#include "slimbayes/model/example_uniforms.h"
#include "slimbayes/model/joint/marginal.h"
#include "slimbayes/storage/model_kind.h"

namespace slimbayes {

namespace {

constexpr int64_t kFewRows = 100;  // whose probabilities are integrated finely
constexpr double kInfinite = std::numeric_limits<double>::infinity();

TaskKind task_of(const Model& model) { return model.schema().task.kind; }

void add_new(std::vector<std::string>& to, const std::vector<std::string>& more) {
  for (const std::string& one : more)
    if (std::ranges::find(to, one) == to.end()) to.push_back(one);
}

/// Returns draws of class numbers: for row i and draw s the first class at which the sum of the probabilities
/// reaches u[s, i]. [S, m]
at::Tensor class_draws(const Classes& p, const at::Tensor& u) {
  const at::Tensor sums = p.probabilities.to(at::kDouble).cumsum(1);  // [m, C]
  return (u.unsqueeze(2) > sums.unsqueeze(0)).sum(2).clamp_max(sums.size(1) - 1).to(at::kDouble);
}

/// Returns a number in (0, 1) for each row that depends on its inputs and the target alone, and of which
/// those of two targets are independent. [m]
at::Tensor target_uniforms(const Model& model, const Examples& rows) {
  at::Tensor u = example_uniforms(dataset_of(model.encoder(), rows, false)).contiguous();
  double* of = u.mutable_data_ptr<double>();
  for (int64_t i = 0; i < u.numel(); ++i)
    of[i] = Stream(std::bit_cast<uint64_t>(of[i])).split(model.target()).uniform(0);
  return u;
}

/// The box of the normal scores [m, k] in which conditions hold, and the probability of the classes [m].
struct Box {
  at::Tensor lower, upper, classes;
  std::vector<bool> bounded;  // [k] which targets a condition names
};

/// Narrows the box to the scores at which the condition holds for the target in column `j`.
void narrow(Box& box, size_t j, const Predictive& p, const JointCondition& condition) {
  const auto column = static_cast<int64_t>(j);
  at::Tensor& bounds = condition.holds == JointCondition::Holds::above ? box.lower : box.upper;
  const at::Tensor old = bounds.select(1, column), at = score_at(p, condition.value);
  old.copy_(condition.holds == JointCondition::Holds::above ? at::maximum(old, at) : at::minimum(old, at));
  box.bounded[j] = true;
}

/// Returns the number of the class that the condition names: the one of this text, else the only one that is
/// the same number, such as 1 of 1.0.
int64_t class_named(const Model& model, const JointCondition& condition) {
  const std::vector<std::string>& levels = model.schema().task.levels;
  const auto same_number = [&](const std::string& level) { return is_mark(condition.label, {&level, 1}); };
  auto found = std::ranges::find(levels, condition.label);
  if (found == levels.end() && std::ranges::count_if(levels, same_number) == 1)
    found = std::ranges::find_if(levels, same_number);
  if (found == levels.end())
    refuse("probability", fmt::format("a class of the target {}", in_quotes(model.target())),
           in_quotes(condition.label), nearest_hint(condition.label, levels));
  return found - levels.begin();
}

/// Returns the probability that several classes of one target hold at once, which is 0 for two different
/// ones. `classes` are the class numbers asked of the target.
at::Tensor class_probability(const Classes& p, const std::vector<int64_t>& classes) {
  const at::Tensor first = p.probabilities.select(1, classes.front()).to(at::kDouble);
  const bool one = std::ranges::all_of(classes, [&](int64_t c) { return c == classes.front(); });
  return one ? first : at::zeros_like(first);
}

}  // namespace

JointModel::JointModel(JointParts parts) : parts_(std::move(parts)) {
  check(parts_.models.size() > 1, "JointModel", "models of two targets or more", "fewer");
  std::vector<std::string> names;
  for (const Model& model : parts_.models) {
    check(kind_of(model.encoder()) == InputKind::table && !model.target().empty(), "JointModel",
          "models of a target for each row of a table", "another one");
    if (std::ranges::find(names, model.target()) != names.end())
      refuse("JointModel", "one model for each target", in_quotes(model.target()) + " twice");
    if (has_scores(task_of(model))) scored_.push_back(names.size());
    names.push_back(model.target());
  }
  const auto k = std::ssize(scored_);
  if (k == 0 && !parts_.correlation.matrix.defined())
    parts_.correlation.matrix = at::zeros({0, 0}, at::kDouble);
  check_shape(parts_.correlation.matrix, {k, k}, "JointModel", "the correlation");
}

std::vector<std::string> JointModel::targets() const {
  std::vector<std::string> names;
  for (const Model& model : parts_.models) names.push_back(model.target());
  return names;
}

size_t JointModel::place_of(const std::string& target) const {
  const std::vector<std::string> names = targets();
  const auto found = std::ranges::find(names, target);
  if (found == names.end())
    refuse("probability", "a target of the model", in_quotes(target), nearest_hint(target, names));
  return static_cast<size_t>(found - names.begin());
}

JointModel JointModel::on(std::string_view device) const {
  JointParts parts = parts_;
  for (Model& model : parts.models) model = model.on(device);
  return JointModel(std::move(parts));
}

Reading JointModel::reading(bool with_targets) const {
  Reading all = parts_.models.front().reading(with_targets);
  for (const Model& model : parts_.models) {
    const Reading own = model.reading(with_targets);
    all.kinds.insert(own.kinds.begin(), own.kinds.end());
    for (auto list : {&Reading::names, &Reading::numbers, &Reading::labels, &Reading::bits})
      add_new(all.*list, own.*list);
  }
  // A column that one model does not need may be the input or the target of another.
  std::erase_if(all.unused, [&](const std::string& name) { return all.kinds.contains(name); });
  return all;
}

JointAnswers JointModel::answers(const Examples& rows, const AnswerRequest& ask,
                                 const PredictOptions& options) const {
  JointAnswers out;
  const size_t k = parts_.models.size();
  const auto share = [k](size_t done) { return static_cast<double>(done) / static_cast<double>(k); };
  for (size_t t = 0; t < k; ++t)
    out.marginal.push_back(parts_.models[t].answers(rows, ask, options.within(share(t), share(t + 1))));
  out.rows = out.marginal.front().rows;
  for (const Answers& one : out.marginal) {
    std::vector<int64_t> both;
    std::ranges::set_intersection(out.rows, one.rows, std::back_inserter(both));
    out.rows = std::move(both);
  }
  if (out.rows.empty()) return out;
  PredictOptions silent = options;  // all shares are told
  silent.progress = {};
  for (size_t t = 0; t < k; ++t) {
    const bool all = out.marginal[t].rows.size() == out.rows.size();
    out.joint.push_back(all ? out.marginal[t].answer : parts_.models[t].answer(take(rows, out.rows), silent));
  }
  return out;
}

at::Tensor JointModel::draws(const JointAnswers& answers, int64_t draws, const Stream& stream) const {
  if (draws < 1) refuse("draws", "at least one draw", fmt::format("{}", draws));
  const auto m = std::ssize(answers.rows);
  at::Tensor out = at::empty({draws, m, std::ssize(parts_.models)}, at::kDouble);
  if (m == 0) return out;
  at::Tensor z;  // [draws, m, k]
  if (!scored_.empty()) z = copula_scores(parts_.correlation.matrix, m, draws, stream.split("scores"));
  for (size_t t = 0, j = 0; t < parts_.models.size(); ++t) {
    at::Tensor to = out.select(2, static_cast<int64_t>(t));
    if (const auto* classes = std::get_if<Classes>(&answers.joint[t]))
      to.copy_(class_draws(*classes, stream.split("classes").split(t).uniform({draws, m})));
    else
      to.copy_(marginal_quantiles(answers.joint[t], z.select(2, static_cast<int64_t>(j++))));
  }
  return out;
}

JointRegion JointModel::region(const JointAnswers& answers, double level) const {
  check(!scored_.empty(), "region", "a target of numbers or counts", "targets of classes alone",
        "their sets are in the answers to each");
  JointRegion out{.level = level, .conformal = parts_.region.groups > 0, .lower = {}, .upper = {}};
  out.factor = out.conformal ? conformal_factor(parts_.region, level)
                             : region_factor(parts_.correlation.matrix, level);
  // So that a row whose score equals the factor lies inside, whatever was rounded (conformal_interval).
  const double reach = out.conformal ? out.factor * (1 + 1e-9) : out.factor;
  std::vector<at::Tensor> lower, upper;
  const at::Tensor none = at::zeros({std::ssize(answers.rows)}, at::kDouble);
  for (const size_t t : scored_) {
    if (answers.rows.empty()) {
      lower.push_back(none);
      upper.push_back(none);
    } else if (std::holds_alternative<Counts>(answers.joint[t]) && reach >= kFarthestCount) {
      lower.push_back(none);  // a score there may be that of any count
      upper.push_back(at::full_like(none, kInfinite));
    } else {
      lower.push_back(marginal_quantile(answers.joint[t], -reach));
      upper.push_back(marginal_quantile(answers.joint[t], reach));
    }
  }
  out.lower = at::stack(lower, 1);
  out.upper = at::stack(upper, 1);
  return out;
}

at::Tensor JointModel::probability(const JointAnswers& answers,
                                   const std::vector<JointCondition>& conditions) const {
  check(!conditions.empty(), "probability", "at least one condition", "none");
  const auto m = std::ssize(answers.rows), k = std::ssize(scored_);
  Box box{at::full({m, k}, -kInfinite, at::kDouble), at::full({m, k}, kInfinite, at::kDouble),
          at::ones({m}, at::kDouble), std::vector<bool>(scored_.size())};
  std::vector<std::vector<int64_t>> classes(parts_.models.size());
  for (const JointCondition& condition : conditions) {
    const size_t t = place_of(condition.target);
    const Model& model = parts_.models[t];
    const bool is = condition.holds == JointCondition::Holds::is;
    if (is != (task_of(model) == TaskKind::classification))
      refuse("probability",
             fmt::format("a {} of the target {}", is ? "bound" : "class", in_quotes(condition.target)),
             is ? "a class" : "a bound", fmt::format("its answers are {}", name_of(task_of(model))));
    if (!is && !std::isfinite(condition.value))
      refuse("probability", fmt::format("a finite bound of the target {}", in_quotes(condition.target)),
             fmt::format("{}", condition.value));
    if (is) classes[t].push_back(class_named(model, condition));
    const auto j = static_cast<size_t>(std::ranges::find(scored_, t) - scored_.begin());
    if (!is && m > 0) narrow(box, j, answers.joint[t], condition);
  }
  if (m == 0) return box.classes;
  at::Tensor p = box.classes;
  for (size_t t = 0; t < classes.size(); ++t)
    if (!classes[t].empty()) p = p * class_probability(std::get<Classes>(answers.joint[t]), classes[t]);
  std::vector<int64_t> columns;
  for (size_t j = 0; j < box.bounded.size(); ++j)
    if (box.bounded[j]) columns.push_back(static_cast<int64_t>(j));
  if (columns.empty()) return p;
  const at::Tensor of = at::tensor(columns, at::kLong);
  const at::Tensor lower = box.lower.index_select(1, of), upper = box.upper.index_select(1, of);
  const at::Tensor empty = (lower >= upper).any(1);  // of conditions that exclude each other
  const at::Tensor room = empty.unsqueeze(1);
  const at::Tensor r = parts_.correlation.matrix.index_select(0, of).index_select(1, of);
  const at::Tensor inside = box_probability(at::where(room, at::full_like(lower, -kInfinite), lower),
                                            at::where(room, at::full_like(upper, kInfinite), upper), r,
                                            m <= kFewRows ? BoxLattice::fine : BoxLattice::rows);
  return at::where(empty, at::zeros_like(p), p * inside);
}

at::Tensor JointModel::scores(const Table& table, const JointAnswers& answers) const {
  const auto m = std::ssize(answers.rows);
  at::Tensor out = at::full({m, std::ssize(scored_)}, kMissing, at::kDouble);
  if (m == 0) return out;
  const Examples rows = take(table, answers.rows);
  for (size_t j = 0; j < scored_.size(); ++j) {
    const Model& model = parts_.models[scored_[j]];
    const Column& column = target_column(std::get<Table>(rows), model.target());
    if (!of_numbers(column))
      refuse("scores", fmt::format("numbers in the target {}", in_quotes(model.target())),
             fmt::format("a {} column", kind_name(column.kind)));
    const at::Tensor y = at::tensor(column.values, at::kDouble), known = y.isfinite();
    if (!known.any().item<bool>()) continue;
    const Predictive& p = answers.joint[scored_[j]];
    const bool counts = std::holds_alternative<Counts>(p);
    const at::Tensor u = counts ? target_uniforms(model, rows) : at::Tensor();
    const at::Tensor filled = at::where(known, y, y.masked_select(known)[0]);  // any value: it is not read
    const at::Tensor z = marginal_scores(p, filled, u);
    out.select(1, static_cast<int64_t>(j)).copy_(at::where(known, z, at::full_like(z, kMissing)));
  }
  return out;
}

std::variant<Model, JointModel> load_any(const std::filesystem::path& path) {
  const TensorFile file = read_tensor_file(path);
  if (is_joint(file)) return JointModel::from_file(file, path.string());
  return Model::from_file(file, path.string());
}

KnownRows known_rows(const Table& table, const std::string& target) {
  const Column& column = target_column(table, target);
  KnownRows out;
  for (int64_t row = 0; row < table.rows; ++row)
    if (!std::isnan(column.values[static_cast<size_t>(row)])) out.places.push_back(row);
  out.table = std::ssize(out.places) == table.rows ? table : take_rows(table, out.places);
  return out;
}

}  // namespace slimbayes
