#include "slimbayes/bayes/gaussian_kl.h"

#include <ATen/ATen.h>
#include <ATen/core/grad_mode.h>
#include <torch/csrc/autograd/custom_function.h>

#include <algorithm>
#include <cmath>

#include "slimbayes/core/check.h"

namespace slimbayes {

namespace {

using torch::autograd::AutogradContext;
using torch::autograd::variable_list;

constexpr int64_t kPiece = 1 << 15;    // elements of a piece: 128 KB in float32
constexpr double kSoftplusExact = 40;  // above it softplus(d) is d in float64, and exp(40) fits into float32

/// Calls `each` with the first element and the size of every piece of n elements.
template <class Each>
void over_pieces(int64_t n, Each each) {
  for (int64_t first = 0; first < n; first += kPiece) each(first, std::min(kPiece, n - first));
}

struct KlSum : torch::autograd::Function<KlSum> {
  static at::Tensor forward(AutogradContext* context, const at::Tensor& location, const at::Tensor& scale,
                            double prior_sd) {
    const at::NoGradGuard no_grad;
    context->save_for_backward({location, scale});
    context->saved_data["prior_sd"] = prior_sd;
    const at::Tensor m = location.reshape({-1}), s = scale.reshape({-1});
    double squares = 0, logs = 0;
    over_pieces(m.size(0), [&](int64_t first, int64_t size) {
      const at::Tensor own = m.narrow(0, first, size), sd = s.narrow(0, first, size);
      squares += own.dot(own).item<double>() + sd.dot(sd).item<double>();
      logs += sd.log().sum().item<double>();
    });
    const double kl = squares / (2 * prior_sd * prior_sd) - logs +
                      static_cast<double>(m.size(0)) * (std::log(prior_sd) - 0.5);
    return at::full({}, kl, location.options());
  }

  static variable_list backward(AutogradContext* context, variable_list grads) {
    const at::NoGradGuard no_grad;
    const variable_list saved = context->get_saved_variables();
    const double prior_sd = context->saved_data["prior_sd"].toDouble(), g = grads[0].item<double>(),
                 of_squares = g / (prior_sd * prior_sd);
    const at::Tensor scale = saved[1].reshape({-1});
    at::Tensor to_scale = at::empty_like(scale);
    over_pieces(scale.size(0), [&](int64_t first, int64_t size) {  // g (scale / prior_sd^2 - 1 / scale)
      const at::Tensor sd = scale.narrow(0, first, size);
      at::Tensor out = to_scale.narrow(0, first, size);
      at::reciprocal_out(out, sd);
      out.mul_(-g).add_(sd, of_squares);
    });
    return {saved[0] * of_squares, to_scale.view_as(saved[1]), at::Tensor()};
  }
};

/// The two densities of a mixture prior as numbers: log p(w) = log(share N(w; 0, wide^2)) + softplus(d) with
/// d = offset + slope w^2, the log ratio of the narrow part to the wide one.
struct MixtureNumbers {
  explicit MixtureNumbers(const MixturePrior& prior)
      : wide_precision(1 / (prior.wide * prior.wide)),
        constant(std::log(prior.share) - std::log(prior.wide)),
        offset(std::log1p(-prior.share) - std::log(prior.share) + std::log(prior.wide) -
               std::log(prior.narrow)),
        slope(0.5 * wide_precision - 0.5 / (prior.narrow * prior.narrow)) {}
  double wide_precision, constant, offset, slope;
};

struct MixtureKlSum : torch::autograd::Function<MixtureKlSum> {
  static at::Tensor forward(AutogradContext* context, const at::Tensor& draw, const at::Tensor& location,
                            const at::Tensor& scale, const MixturePrior& prior) {
    const at::NoGradGuard no_grad;
    const MixtureNumbers of(prior);
    const at::Tensor all_w = draw.reshape({-1}), all_m = location.reshape({-1}), all_s = scale.reshape({-1});
    at::Tensor to_draw = at::empty_like(all_w), to_location = at::empty_like(all_w),
               to_scale = at::empty_like(all_w);
    at::Tensor z = at::empty({std::min(kPiece, all_w.size(0))}, all_w.options()), d = at::empty_like(z);
    double sum = 0;
    over_pieces(all_w.size(0), [&](int64_t first, int64_t size) {
      const auto piece = [&](const at::Tensor& x) { return x.narrow(0, first, size); };
      const at::Tensor w = piece(all_w), s = piece(all_s);
      at::Tensor own_z = z.narrow(0, 0, size), own_d = d.narrow(0, 0, size), gw = piece(to_draw),
                 gm = piece(to_location), gs = piece(to_scale);
      at::sub_out(own_z, w, piece(all_m));
      own_z.div_(s);
      at::mul_out(own_d, w, w);
      const double z2 = own_z.dot(own_z).item<double>(), w2 = w.dot(w).item<double>();
      own_d.mul_(of.slope).add_(of.offset);
      at::log_out(gs, s);
      sum += -gs.sum().item<double>() - 0.5 * z2 + 0.5 * of.wide_precision * w2 -
             static_cast<double>(size) * of.constant;
      at::softplus_out(gs, own_d, 1, kSoftplusExact);
      sum -= gs.sum().item<double>();
      at::div_out(gm, own_z, s);                                             // z / s
      own_d.sigmoid_().mul_(-2 * of.slope).add_(of.wide_precision).mul_(w);  // -d log p / d w
      at::sub_out(gw, own_d, gm);
      own_z.square_().sub_(1);
      at::div_out(gs, own_z, s);  // (z^2 - 1) / s
    });
    context->save_for_backward({to_draw.view_as(draw), to_location.view_as(draw), to_scale.view_as(draw)});
    return at::full({}, sum, draw.options());
  }

  static variable_list backward(AutogradContext* context, variable_list grads) {
    const at::NoGradGuard no_grad;
    const double g = grads[0].item<double>();
    const variable_list saved = context->get_saved_variables();
    return {saved[0] * g, saved[1] * g, saved[2] * g, at::Tensor()};
  }
};

}  // namespace

at::Tensor gaussian_mixture_kl_sum(const at::Tensor& draw, const at::Tensor& location,
                                   const at::Tensor& scale, const MixturePrior& prior) {
  check_shape(scale, location.sizes(), "gaussian_mixture_kl_sum", "scale");
  check_shape(draw, location.sizes(), "gaussian_mixture_kl_sum", "draw");
  return MixtureKlSum::apply(draw, location, scale, prior);
}

at::Tensor gaussian_kl_sum(const at::Tensor& location, const at::Tensor& scale, double prior_sd) {
  check_shape(scale, location.sizes(), "gaussian_kl_sum", "scale");
  return KlSum::apply(location, scale, prior_sd);
}

}  // namespace slimbayes
