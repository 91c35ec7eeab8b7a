#include <ATen/ATen.h>

#include "tests/device/operations.h"

namespace slimbayes::simulated {

namespace {

using Rows = std::vector<at::Tensor>;

at::Tensor spd_of(const at::Tensor& x) { return at::mm(x, x.t()) + at::eye(x.size(0), x.options()); }

at::Tensor places(const at::Tensor& x, int64_t n, int64_t below) {
  return at::arange(n, at::dtype(at::kLong).device(x.device())).mul_(5).remainder_(below);
}

std::vector<Operations> matrices() {
  return {
      {"products",
       {{4, 5}, {5, 3}},
       [](const Rows& x) {
         return Rows{at::mm(x[0], x[1]), at::matmul(x[0], x[1]), at::mv(x[0], x[1].select(1, 0))};
       }},
      {"products of batches",
       {{2, 4, 5}, {2, 5, 3}, {2, 4, 3}},
       [](const Rows& x) {
         return Rows{at::bmm(x[0], x[1]), at::baddbmm(x[2], x[0], x[1])};
       }},
      {"sums of products",
       {{4, 3}, {4, 5}, {5, 3}, {4}},
       [](const Rows& x) {
         return Rows{at::addmm(x[0], x[1], x[2]), at::addmv(x[3], x[1], x[2].select(1, 1)),
                     at::outer(x[3], x[3]), at::tensordot(x[1], x[2], {1}, {0}),
                     at::einsum("ij,jk->ik", {x[1], x[2]})};
       }},
      {"cholesky",
       {{5, 5}},
       [](const Rows& x) {
         const at::Tensor l = std::get<0>(at::linalg_cholesky_ex(spd_of(x[0])));
         return Rows{l, l.diagonal().log().sum()};
       }},
      {"triangular solve",
       {{5, 5}, {5, 2}},
       [](const Rows& x) {
         const at::Tensor l = at::linalg_cholesky(spd_of(x[0]));
         return Rows{at::linalg_solve_triangular(l, x[1], false), at::cholesky_solve(x[1], l)};
       }},
      {"inverse",
       {{5, 5}},
       [](const Rows& x) {
         const at::Tensor a = spd_of(x[0]);
         return Rows{at::cholesky_inverse(at::linalg_cholesky(a)), at::linalg_inv(a),
                     std::get<1>(at::linalg_slogdet(a))};
       }},
      {"eigenvalues",
       {{5, 5}},
       [](const Rows& x) {
         return Rows{std::get<0>(at::linalg_eigh(spd_of(x[0]))), at::linalg_eigvalsh(spd_of(x[0]))};
       }},
      {"singular values",
       {{5, 3}},
       [](const Rows& x) {
         return Rows{at::linalg_svdvals(x[0]), std::get<1>(at::linalg_svd(x[0], false))};
       }},
      {"norms",
       {{5, 3}},
       [](const Rows& x) {
         return Rows{at::linalg_vector_norm(x[0]), at::linalg_matrix_norm(x[0]),
                     at::linalg_vecdot(x[0], x[0] * 2)};
       }},
      {"distances", {{5, 3}, {4, 3}}, [](const Rows& x) { return Rows{at::cdist(x[0], x[1])}; }},
      {"triangles and diagonals",
       {{4, 4}, {4}},
       [](const Rows& x) {
         return Rows{at::tril(x[0]), at::triu(x[0]), at::diag_embed(x[1]), at::diag(x[0])};
       }},
  };
}

std::vector<Operations> elements() {
  return {
      {"arithmetic",
       {{4, 3}, {3}},
       [](const Rows& x) {
         return Rows{x[0] + x[1], x[0] - 2 * x[1], x[0] * x[1], x[0] / (2 + x[1] * x[1])};
       }},
      {"exp and log",
       {{4, 3}},
       [](const Rows& x) {
         const at::Tensor a = x[0].abs() + 0.5;
         return Rows{x[0].exp(), a.log(), a.log1p(), x[0].expm1(), a.sqrt(), a.rsqrt(), a.pow(1.5)};
       }},
      {"waves",
       {{4, 3}},
       [](const Rows& x) {
         return Rows{x[0].sin(), x[0].cos(), at::erf(x[0]), at::erfc(x[0])};
       }},
      {"gamma functions",
       {{4, 3}},
       [](const Rows& x) {
         const at::Tensor a = x[0].abs() + 0.5;
         return Rows{at::lgamma(a), at::digamma(a), at::xlogy(a, a), at::special_log_ndtr(x[0])};
       }},
      {"limits",
       {{4, 3}, {4, 3}},
       [](const Rows& x) {
         return Rows{at::maximum(x[0], x[1]), at::minimum(x[0], x[1]), x[0].clamp(-0.5, 0.5),
                     x[0].clamp_min(0)};
       }},
      {"choice",
       {{4, 3}, {4, 3}},
       [](const Rows& x) {
         return Rows{at::where(x[0] > 0, x[0], x[1]), x[0].masked_fill(x[1] > 0, 2.0),
                     at::lerp(x[0], x[1], 0.25), at::addcmul(x[0], x[0], x[1])};
       }},
      {"tests",
       {{4, 3}},
       [](const Rows& x) {
         return Rows{at::isfinite(x[0]), x[0] > 0, x[0].sign(), x[0].floor()};
       }},
      {"double and back",
       {{4, 3}},
       [](const Rows& x) {
         return Rows{x[0].to(at::kDouble).square().sum(), x[0].to(at::kDouble).to(at::kFloat)};
       }},
      {"in place",
       {{4, 3}},
       [](const Rows& x) {
         at::Tensor y = x[0] * 1;
         y.mul_(2).add_(1).clamp_(-3, 3);
         y.select(0, 1).zero_();
         at::Tensor out = at::empty({0}, x[0].options().requires_grad(false));
         at::mul_out(out, x[0].detach(), x[0].detach());
         return Rows{y, out};
       }},
  };
}

std::vector<Operations> shapes() {
  return {
      {"sums",
       {{4, 3}},
       [](const Rows& x) {
         return Rows{x[0].sum(), x[0].sum(0),    x[0].mean(1), x[0].var(0),
                     x[0].std(), x[0].cumsum(0), x[0].prod(1)};
       }},
      {"extremes",
       {{4, 3}},
       [](const Rows& x) {
         return Rows{x[0].max(), std::get<0>(x[0].min(1)), x[0].amax(0), x[0].argmin(0)};
       }},
      {"order",
       {{9}},
       [](const Rows& x) {
         return Rows{std::get<0>(x[0].sort()), x[0].argsort(), std::get<0>(x[0].topk(3)), x[0].quantile(0.3)};
       }},
      {"joining",
       {{4, 3}, {2, 3}},
       [](const Rows& x) {
         return Rows{at::cat({x[0], x[1]}), at::stack({x[0], x[0] * 2}, 1)};
       }},
      {"cutting",
       {{4, 6}},
       [](const Rows& x) {
         const std::vector<at::Tensor> parts = x[0].chunk(3, 1);
         return Rows{parts[0] * parts[2], x[0].narrow(0, 1, 2), x[0].slice(1, 0, 6, 2), x[0].unbind(0)[3]};
       }},
      {"views",
       {{4, 6}},
       [](const Rows& x) {
         return Rows{x[0].t(),
                     x[0].view({2, 12}),
                     x[0].reshape({3, 8}),
                     x[0].t().reshape({24}),
                     x[0].unfold(1, 2, 2),
                     x[0].unsqueeze(0).expand({2, 4, 6}),
                     x[0].permute({1, 0}).contiguous(),
                     x[0].flatten(),
                     x[0].as_strided({2, 2}, {6, 1}, 1)};
       }},
      {"rows by number",
       {{4, 3}},
       [](const Rows& x) {
         const at::Tensor i = places(x[0], 6, 4), j = places(x[0], 8, 3).view({4, 2});
         return Rows{x[0].index_select(0, i), x[0].index({i}), x[0].gather(1, j), x[0].take(i)};
       }},
      {"sums by number",
       {{4, 3}, {6, 3}},
       [](const Rows& x) {
         const at::Tensor i = places(x[0], 6, 4);
         return Rows{x[0].index_add(0, i, x[1]),
                     x[0].scatter_add(0, i.unsqueeze(1).expand({6, 3}).narrow(0, 0, 4), x[0]),
                     x[0].index_put({i}, x[1], true)};
       }},
      {"numbers of a shape",
       {{2, 3}},
       [](const Rows& x) {
         const at::TensorOptions like = x[0].options().requires_grad(false);
         return Rows{at::zeros_like(x[0]),        at::full({2}, 3.5, like), at::arange(5, like),
                     at::linspace(0, 1, 7, like), at::eye(3, like),         at::scalar_tensor(2, like),
                     x[0].new_ones({2})};
       }},
      {"counts and places",
       {{9}},
       [](const Rows& x) {
         const at::Tensor i = places(x[0], 9, 4);
         return Rows{at::bincount(i), at::searchsorted(std::get<0>(x[0].detach().sort()), x[0].detach()),
                     at::nonzero(x[0] > 0), std::get<0>(at::_unique2(i))};
       }},
  };
}

}  // namespace

const std::vector<Operations>& algebra() {
  static const std::vector<Operations> all = [] {
    std::vector<Operations> joined = matrices();
    for (auto make : {elements, shapes})
      for (Operations& each : make()) joined.push_back(std::move(each));
    return joined;
  }();
  return all;
}

}  // namespace slimbayes::simulated
