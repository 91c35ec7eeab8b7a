#include "tests/methods/served_answer.h"

#include <ATen/ATen.h>
#include <fmt/format.h>

#include <algorithm>
#include <array>

#include "slimbayes/engine/classes/class_model.h"
#include "slimbayes/engine/row_model.h"
#include "slimbayes/engine/spec/row_spec_file.h"
#include "tests/methods/contract.h"

namespace slimbayes::contract {

namespace {

struct Answered {
  const at::Tensor& x;  // [n, d] float64

  int64_t rows() const { return x.size(0); }
  const double* row(int64_t i) const { return x.const_data_ptr<double>() + i * x.size(1); }

  Predictive operator()(const engine::RowSpec& spec) const {
    const auto model = engine::row_model(spec);
    require(model != nullptr && model->inputs() == x.size(1), "a row model that cannot be made");
    engine::Doubles scratch(model->scratch());
    std::vector<double> out(static_cast<size_t>(model->numbers()));
    at::Tensor all = at::empty({3, rows()}, at::kDouble);
    int64_t zeroed = 0;
    for (int64_t i = 0; i < rows(); ++i) {
      zeroed += model->answer(row(i), 1, out.data(), 1, scratch.data());
      for (int64_t j = 0; j < 3; ++j) all[j][i] = out[static_cast<size_t>(j)];
    }
    return Regression{all[0], all[1], all[2], zeroed};
  }

  Predictive operator()(const engine::ClassSpec& spec) const {
    const auto model = engine::class_model(spec);
    require(model != nullptr && model->inputs() == x.size(1), "a class model that cannot be made");
    engine::Doubles scratch(model->scratch());
    at::Tensor p = at::empty({rows(), model->classes()}, at::kDouble),
               expected = at::empty({rows()}, at::kDouble);
    for (int64_t i = 0; i < rows(); ++i)
      expected[i] = model->answer(row(i), p.mutable_data_ptr<double>() + i * p.size(1), scratch.data())
                        .expected_entropy;
    return Classes{p, -at::special_xlogy(p, p).sum(1), expected};
  }

  Predictive operator()(const engine::RateSpec& spec) const {
    const auto model = engine::rate_model(spec);
    require(model != nullptr && model->inputs() == x.size(1), "a rate model that cannot be made");
    engine::Doubles scratch(model->scratch());
    at::Tensor mean = at::empty({rows()}, at::kDouble), var = at::empty({rows()}, at::kDouble);
    for (int64_t i = 0; i < rows(); ++i) {
      const LogRate rate = model->answer(row(i), scratch.data()).rate;
      mean[i] = rate.mean;
      var[i] = rate.var;
    }
    return Counts{{mean, var}};
  }
};

/// The inputs of all rows as the encoder of serving gives them, [n, d]: windows step after step, texts with
/// their padding.
at::Tensor flat_inputs(const Dataset& rows) {
  const at::Tensor x = rows.all().inputs[0].to(at::kDouble).reshape({rows.size(), -1});
  if (!rows.schema.input.tokens) return x.contiguous();
  return at::constant_pad_nd(x, {0, rows.schema.input.sizes[0] - x.size(1)}).contiguous();
}

std::vector<at::Tensor> kinds_of(const Predictive& answer) {
  if (const auto* p = std::get_if<Regression>(&answer)) return {p->mean, p->aleatoric_var, p->epistemic_var};
  if (const auto* p = std::get_if<Classes>(&answer)) return {p->probabilities, p->expected_entropy};
  const LogNormalRate& rate = std::get<Counts>(answer).rate;
  return {rate.log_mean, rate.log_var};
}

}  // namespace

Dataset as_encoded(const Dataset& data) {
  return changed(data, [](Batch& rows) { rows.inputs[0] = rows.inputs[0].to(at::kFloat); });
}

std::optional<Predictive> served_answer(const Fitted& fitted, const Dataset& rows) {
  const std::optional<engine::AnswerSpec> spec = fitted.answer_spec();
  if (!spec) return {};
  TensorFile file = fitted.save();
  const auto stored = nlohmann::json::parse(engine::store_rows(*spec, file).dump());
  const engine::AnswerSpec read = engine::stored_rows(stored, parse_tensor_file(to_bytes(file), "served"));
  const at::Tensor x = flat_inputs(rows);
  return std::visit(Answered{x}, read);
}

void serves(const Fitted& fitted, const Dataset& data, bool expected) {
  const Dataset rows = data.schema.input.tokens ? data : as_encoded(data);
  const std::optional<Predictive> served = served_answer(fitted, rows);
  require(served.has_value() == expected,
          expected ? "no form to serve" : "a form to serve that is not listed");
  if (!served) return;
  const Predictive answer = fitted.predict(rows);
  require(answer.index() == served->index(), "the answer of another task");
  const std::vector<at::Tensor> mine = kinds_of(*served), other = kinds_of(answer);
  for (size_t k = 0; k < mine.size(); ++k) {
    const double most = other[k].abs().max().item<double>();
    const at::Tensor off = (mine[k] - other[k]).abs() - (2e-6 * other[k].abs() + 1e-8 * most);
    require((off <= 0).all().item<bool>(),
            fmt::format("answers that differ by {} beyond rounding when served", off.max().item<double>()));
  }
}

bool is_served(std::string_view method, TaskKind task) {
  constexpr std::array numbers = {
      "auto",     "dbk",       "dbk-exact", "vbll",     "sv-dkl",   "pp-dkl",
      "sv-rbf",   "sv-dbk",    "dnn",       "bll",      "rich-bll", "last-layer-laplace",
      "gp-exact", "dkl-exact", "ridge",     "constant", "ensemble", "ntk-sketch"};
  constexpr std::array classes = {"auto",     "vbll",        "sv-dkl",
                                  "sv-rbf",   "sv-dbk",      "dnn",
                                  "bll",      "rich-bll",    "last-layer-laplace",
                                  "logistic", "extra-trees", "constant",
                                  "ensemble", "ntk-sketch"};
  constexpr std::array counts = {"auto", "vbll", "sv-dkl", "sv-rbf", "sv-dbk", "constant", "ensemble"};
  const auto among = [&](const auto& names) { return std::ranges::find(names, method) != names.end(); };
  switch (task) {
    case TaskKind::regression:
      return among(numbers);
    case TaskKind::classification:
      return among(classes);
    case TaskKind::counts:
      return among(counts);
    default:
      return false;
  }
}

bool is_served(std::string_view method, TaskKind task, std::string_view network) {
  constexpr std::array without_network = {"ridge", "logistic", "extra-trees", "constant"};
  if (method == "bag-of-words") return true;
  const bool known = (network == "lstm" || network == "bag_of_words") && method != "ntk-sketch";
  return is_served(method, task) &&
         (known || std::ranges::find(without_network, method) != without_network.end());
}

}  // namespace slimbayes::contract
