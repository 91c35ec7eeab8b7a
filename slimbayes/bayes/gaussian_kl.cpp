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

constexpr int64_t kPiece = 1 << 15;  // elements of a piece: 128 KB in float32

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

}  // namespace

at::Tensor gaussian_kl_sum(const at::Tensor& location, const at::Tensor& scale, double prior_sd) {
  check_shape(scale, location.sizes(), "gaussian_kl_sum", "scale");
  return KlSum::apply(location, scale, prior_sd);
}

}  // namespace slimbayes
