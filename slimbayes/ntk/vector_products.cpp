// Computes A^T A for A = Phi_m^T Q by vector-Jacobian products, for networks whose layers are not known.
//
// Column c of A is the gradient of sum_i Q_ic f(x_i), where f(x_i) is the chosen output of row i. One
// autograd graph per batch serves r backward passes. The columns are summed over all batches, which takes r p
// numbers, and then multiplied with each other.
//
// The sketch replaces A by S A, which has `kept` numbers per column instead of p. S is linear, so the
// sketches of the batches' gradients can be summed, too, and E[(S A)^T (S A)] = A^T A. For columns a and b of
// A the variance of an element is at most (|a|^2 |b|^2 + <a, b>^2) / kept. So with M = A^T A the expected
// squared Frobenius error is at most (tr(M)^2 + ||M||_F^2) / kept <= 2 tr(M)^2 / kept.
#include "slimbayes/ntk/vector_products.h"

#include <ATen/ATen.h>
#include <ATen/core/grad_mode.h>
#include <torch/csrc/autograd/autograd.h>

#include <algorithm>
#include <functional>

#include "slimbayes/core/device.h"

namespace slimbayes {

namespace {

constexpr int64_t kSquareColumns = 1 << 16;  // columns of X in one product: r * 0.5 MB

/// Calls add(c, gradients) for each batch of the rows of `share` and each column c of q. `gradients` holds,
/// for each parameter, the gradient of sum_i q_ic f(x_i) over the rows i of the batch, where f(x_i) is the
/// chosen output. It is undefined where the outputs do not depend on the parameter.
void for_each_product(const PlannedRows& planned, const at::Tensor& q, const GradientShare& share,
                      const std::function<void(int64_t, const std::vector<at::Tensor>&)>& add) {
  const auto& [model, rows, plan] = planned;
  const at::Tensor weights = on_device(q, model.device()).to(model.type());
  const int64_t r = q.size(1), first = share.first, end = first + q.size(0);
  for (int64_t from = first; from < end; from += plan.batch) {
    const int64_t to = std::min(end, from + plan.batch);
    const at::Tensor own = weights.slice(0, from - first, to - first);
    const at::AutoGradMode with_graph(true);
    const at::Tensor y = chosen_outputs(model.output(rows.inputs(from, to)), rows, from, to);
    for (int64_t c = 0; c < r; ++c) {
      const auto gradients = torch::autograd::grad({y}, model.parameters, {own.select(1, c)},
                                                   /*retain_graph=*/c + 1 < r, /*create_graph=*/false,
                                                   /*allow_unused=*/true);
      const at::NoGradGuard no_grad;
      add(c, gradients);
    }
  }
}

/// Adds a gradient g of n numbers to its sketch `out`: out[h(k)] += s(k) g[k]. `hashes` holds the bucket h(k)
/// and the sign s(k) as 2 h(k) + [s(k) < 0].
template <class Number>
void add_hashed(const Number* gradient, const int32_t* hashes, int64_t n, double* out) {
  for (int64_t k = 0; k < n; ++k) {
    const auto value = static_cast<double>(gradient[k]);
    out[hashes[k] >> 1] += hashes[k] & 1 ? -value : value;
  }
}

}  // namespace

void add_square(const at::Tensor& x, const at::Tensor& gram) {
  for (int64_t k = 0; k < x.size(1); k += kSquareColumns) {
    const at::Tensor part = x.slice(1, k, std::min(x.size(1), k + kSquareColumns));
    gram.addmm_(part, part.t());
  }
}

at::Tensor weighted_gram(const PlannedRows& planned, const at::Tensor& q, const GradientShare& share) {
  const GradientModel& model = planned.model;
  const int64_t r = q.size(1), p = model.parameter_count();
  const at::Tensor columns = at::zeros({r, p}, model.doubles());  // A^T
  const auto add = [&](int64_t c, const std::vector<at::Tensor>& gradients) {
    const at::Tensor column = columns.select(0, c);
    int64_t offset = 0;
    for (size_t i = 0; i < gradients.size(); ++i) {
      const int64_t size = model.parameters[i].numel();
      if (gradients[i].defined()) column.narrow(0, offset, size).add_(gradients[i].reshape({-1}));
      offset += size;
    }
  };
  share.sum([&] {
    for_each_product(planned, q, share, add);
    return std::vector{columns};
  });
  const at::Tensor gram = at::zeros({r, r}, model.doubles());
  add_square(columns, gram);
  return on_cpu(gram);
}

namespace {

/// Returns the hashes of p numbers to `kept` buckets, as add_hashed takes them. [p] int32, on the CPU
at::Tensor drawn_hashes(int64_t p, int64_t kept, const Stream& stream) {
  const at::Tensor hashes = at::empty({p}, at::kInt);
  int32_t* hash = hashes.mutable_data_ptr<int32_t>();
  for (int64_t k = 0; k < p; ++k) {
    const uint64_t bits = stream.bits(static_cast<uint64_t>(k));
    const uint64_t bucket = (bits >> 1) % static_cast<uint64_t>(kept);
    hash[k] = static_cast<int32_t>(2 * bucket + (bits & 1));
  }
  return hashes;
}

}  // namespace

at::Tensor sketched_gram(const PlannedRows& planned, const at::Tensor& q, int64_t kept, const Stream& stream,
                         const GradientShare& share) {
  const GradientModel& model = planned.model;
  const int64_t r = q.size(1);
  const at::Tensor hashes = on_device(drawn_hashes(model.parameter_count(), kept, stream), model.device()),
                   columns = at::zeros({r, kept}, model.doubles());
  const bool here = model.device().is_cpu();
  const int32_t* hash = here ? hashes.const_data_ptr<int32_t>() : nullptr;
  const auto add_here = [&](int64_t c, const std::vector<at::Tensor>& gradients) {
    double* out = columns.select(0, c).mutable_data_ptr<double>();
    int64_t offset = 0;
    for (size_t i = 0; i < gradients.size(); ++i) {
      const int64_t size = model.parameters[i].numel();
      if (gradients[i].defined()) {
        const at::Tensor g = gradients[i].contiguous();
        if (g.scalar_type() == at::kDouble)
          add_hashed(g.const_data_ptr<double>(), hash + offset, size, out);
        else
          add_hashed(g.to(at::kFloat).const_data_ptr<float>(), hash + offset, size, out);
      }
      offset += size;
    }
  };
  at::Tensor buckets, signs;  // on a device, where a tensor operation adds the same numbers
  if (!here) {
    buckets = hashes.bitwise_right_shift(1).to(at::kLong);
    signs = 1 - 2 * hashes.bitwise_and(1).to(at::kDouble);
  }
  const auto add_there = [&](int64_t c, const std::vector<at::Tensor>& gradients) {
    const at::Tensor column = columns.select(0, c);
    int64_t offset = 0;
    for (size_t i = 0; i < gradients.size(); ++i) {
      const int64_t size = model.parameters[i].numel();
      if (gradients[i].defined())
        column.index_add_(0, buckets.narrow(0, offset, size),
                          gradients[i].reshape({-1}).to(at::kDouble) * signs.narrow(0, offset, size));
      offset += size;
    }
  };
  share.sum([&] {
    if (here)
      for_each_product(planned, q, share, add_here);
    else
      for_each_product(planned, q, share, add_there);
    return std::vector{columns};
  });
  return on_cpu(at::mm(columns, columns.t()));
}

}  // namespace slimbayes
