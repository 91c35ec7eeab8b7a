#include "slimbayes/method/row_answers.h"

#include <ATen/ATen.h>
#include <ATen/core/grad_mode.h>
#include <fmt/format.h>

#include <algorithm>
#include <atomic>
#include <cmath>

#include "slimbayes/core/check.h"
#include "slimbayes/core/device.h"
#include "slimbayes/core/threads.h"
#include "slimbayes/method/batches.h"
#include "slimbayes/nn/engine_network.h"

namespace slimbayes {

namespace {

/// Returns the inputs [b, d] of a batch as contiguous float64, after they had the type of the method.
/// `vocabulary`: of tokens.
at::Tensor row_inputs(const Batch& batch, const Shape& shape, int64_t d, int64_t vocabulary,
                      at::ScalarType type, std::string_view function) {
  check(batch.inputs.size() == 1, function, "one input tensor", "several");
  const at::Tensor given = on_cpu(batch.inputs[0]);
  if (shape.tokens) {
    const at::Tensor rows = token_rows(given, on_cpu(batch.mask), d, vocabulary);
    if (!rows.defined())
      refuse(function, fmt::format("up to {} tokens below {}, then padding", d, vocabulary), "other rows");
    return rows.to(at::kDouble);
  }
  const bool fits = given.dim() == 1 + std::ssize(shape.sizes) && given.sizes().slice(1) == shape.sizes;
  if (!fits) {
    std::vector<int64_t> sizes = {-1};
    std::ranges::copy(shape.sizes, std::back_inserter(sizes));
    check_shape(given, sizes, function, "inputs");
  }
  const at::Tensor x = given.to(type).to(at::kDouble).contiguous().view({given.size(0), d});
  const double* from = x.const_data_ptr<double>();
  if (!std::all_of(from, from + x.numel(), [](double one) { return std::isfinite(one); }))
    check_finite(x, function, "inputs");
  return x;
}

/// Answers the rows x [n, d] into columns `first` to first + n of `out` [numbers, all].
int64_t answer_into(const engine::RowModel& model, const at::Tensor& x, int64_t first, at::Tensor& out) {
  const int64_t n = x.size(0), chunks = (n + engine::kChunkRows - 1) / engine::kChunkRows, all = out.size(1);
  const double* from = x.const_data_ptr<double>();
  double* to = out.mutable_data_ptr<double>() + first;
  std::atomic<int64_t> zeroed = 0;
  on_library_threads(chunks, [&](int64_t c) {
    thread_local engine::Doubles memory;
    memory.reserve(model.scratch());
    const int64_t row = c * engine::kChunkRows, rows = std::min(engine::kChunkRows, n - row);
    zeroed += model.answer(from + row * model.inputs(), rows, to + row, all, memory.data());
  });
  return zeroed;
}

Regression regression_of(const engine::RowModel& model, const at::Tensor& out, int64_t zeroed) {
  Regression p{out.select(0, 0), out.select(0, 1), out.select(0, 2), zeroed};
  int64_t at = 3;
  for (const ComponentShape& shape : model.density()) {
    DensityComponent c{shape.weight,   out.select(0, at), out.select(0, at + 1), out.select(0, at + 2),
                       shape.dof,      shape.warp,        shape.shift,           shape.scale,
                       shape.most_var, shape.most,        shape.spare_var};
    p.density.push_back(std::move(c));
    at += 3;
  }
  return p;
}

}  // namespace

bool are_rows(const Dataset& data) {
  const Schema& schema = data.schema;
  if (data.size() == 0) return !schema.input.tokens;
  const Batch one = data.rows(at::zeros({1}, at::kLong));
  if (one.inputs.at(0).scalar_type() != at::kLong) return !one.mask.defined();
  const at::Tensor lengths = data.source->lengths();  // those of a TextEncoder have some
  return schema.input.tokens && lengths.defined() && lengths.max().item<int64_t>() <= schema.input.sizes[0] &&
         token_rows(on_cpu(one.inputs[0]), on_cpu(one.mask), schema.input.sizes[0], schema.tokens).defined();
}

Regression predict_by_rows(const engine::RowModel& model, const Dataset& data, const Shape& input,
                           at::ScalarType type, const PredictOptions& options, std::string_view function) {
  if (!(options.batch > 0)) refuse(function, "a batch of at least one row", std::to_string(options.batch));
  at::Tensor out;
  int64_t first = 0, zeroed = 0;
  over_batches(data, options.on_host(), [&](const Batch& batch) {
    const at::Tensor x = row_inputs(batch, input, model.inputs(), data.schema.tokens, type, function);
    if (!out.defined()) out = at::empty({model.numbers(), std::max(data.size(), x.size(0))}, at::kDouble);
    zeroed += answer_into(model, x, first, out);
    first += x.size(0);
  });
  return regression_of(model, out, zeroed);
}

std::optional<engine::FeatureSpec> feature_spec(const NetworkSpec& network, const std::string& basis,
                                                int64_t rank, const Network::Lookup& lookup,
                                                at::ScalarType type, engine::FeaturesOf of) {
  engine::FeatureSpec spec{.inputs = network.input.numel(),
                           .network = network,
                           .basis = basis,
                           .rank = rank,
                           .of = of,
                           .exact = type == at::kDouble};
  const auto tensors = engine::tensors_of(spec);
  if (!tensors) return {};
  for (const auto& [name, elements] : *tensors) {
    const at::Tensor given = on_cpu(lookup(name).detach()), values = given.to(at::kFloat).contiguous();
    if (!at::equal(values.to(given.scalar_type()), given)) return {};  // trained in float64
    const float* from = values.const_data_ptr<float>();
    spec.values[name] = {from, from + values.numel()};
  }
  return spec;
}

std::vector<double> numbers_of(const at::Tensor& tensor) {
  const at::Tensor own = on_cpu(tensor.detach()).to(at::kDouble).contiguous();
  const double* from = own.const_data_ptr<double>();
  return {from, from + own.numel()};
}

engine::LinearHead head_of(const LinearPosterior& p) {
  at::NoGradGuard no_grad;
  const int64_t r = p.statistics.rank();
  const at::Tensor& given = p.model.prior_factor;  // T
  const at::Tensor eye = at::eye(r, at::kDouble);
  const at::Tensor prior = !given.defined() ? eye : given.dim() == 0 ? eye * given : given;
  engine::LinearHead head;
  head.constant = p.constant;
  head.noise_var = p.model.sigma2;
  head.weights = numbers_of(p.weights);
  head.root = numbers_of(solve_half(p.precision, prior.t()));
  head.constant_var = p.constant_var;
  head.response = numbers_of(at::mv(prior, p.response));
  return head;
}

engine::CorrelatedLogits logits_of(const LaplacePosterior& p, int64_t outputs) {
  engine::CorrelatedLogits logits;
  logits.outputs = outputs;
  if (p.half.defined()) {
    logits.half = numbers_of(p.half);
    return logits;
  }
  logits.of_features = numbers_of(p.of_features);
  logits.of_classes = numbers_of(p.of_classes);
  logits.variances = numbers_of(p.variances);
  return logits;
}

engine::LinearHead of_scaled_features(engine::LinearHead head, int64_t features, double s, double t) {
  const auto h = static_cast<size_t>(features), r = head.weights.size();
  const size_t q = head.root.size() / std::max<size_t>(1, r);
  engine::LinearHead out = head;
  const auto first = [&](const std::vector<double>& v, size_t from, std::vector<double>& to) {
    for (size_t i = 0; i < h; ++i) to.push_back(s * v[from + i]);
  };
  out.weights.clear();
  out.response.clear();
  out.root.clear();
  first(head.weights, 0, out.weights);
  first(head.response, 0, out.response);
  for (size_t j = 0; j < q; ++j) first(head.root, j * r, out.root);
  if (r == h) return out;
  out.constant += t * head.weights[h];
  out.response_constant += t * head.response[h];
  out.root_constant.clear();
  for (size_t j = 0; j < q; ++j) out.root_constant.push_back(t * head.root[j * r + h]);
  return out;
}

}  // namespace slimbayes
