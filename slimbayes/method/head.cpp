#include "slimbayes/method/head.h"

#include <ATen/ATen.h>
#include <fmt/format.h>

#include "slimbayes/answers/class_likelihood.h"
#include "slimbayes/answers/pixels.h"
#include "slimbayes/catalog/json_reader.h"
#include "slimbayes/core/check.h"

namespace slimbayes {

at::Tensor Head::loss(const at::Tensor& output, const at::Tensor& y, double smoothing) const {
  if (is_regression()) return (output.squeeze(-1) - y).square();
  if (likelihood == LikelihoodKind::poisson) {
    const at::Tensor log_rate = output.squeeze(-1);
    return log_rate.exp() - y * log_rate + at::lgamma(y + 1);
  }
  if (outputs == 1) {
    const at::Tensor label = smoothing > 0 ? (1 - smoothing) * y + smoothing / 2 : y;
    return at::binary_cross_entropy_with_logits(output.squeeze(-1), label, {}, {}, at::Reduction::None);
  }
  const at::Tensor log_p = at::log_softmax(output, -1);
  const at::Tensor own = at::nll_loss(log_p, y.to(at::kLong), {}, at::Reduction::None);
  return smoothing > 0 ? (1 - smoothing) * own - smoothing * log_p.mean(-1) : own;
}

Predictive Head::answer(const at::Tensor& of_network) const {
  if (is_classes()) return classes_of_logits(pixel_rows(of_network));
  const at::Tensor mean = of_network.squeeze(-1);
  if (likelihood == LikelihoodKind::poisson) return Counts{{mean, at::zeros_like(mean)}};
  return Regression{mean, at::full_like(mean, noise_var), at::zeros_like(mean)};
}

Head head_of(const Task& task) { return {task.likelihood, task.outputs}; }

nlohmann::json to_json(const Head& head) {
  return {{"likelihood", name_of(head.likelihood)}, {"outputs", head.outputs}, {"noise_var", head.noise_var}};
}

Head head_from_json(const nlohmann::json& json) {
  constexpr int64_t kMost = int64_t{1} << 24;
  const JsonReader reader(json, "head");
  const Head head{likelihood_named(reader.text("likelihood")), reader.count("outputs", 1, kMost),
                  reader.number("noise_var")};
  if (!(head.noise_var >= 0))
    refuse("head", "a noise_var of at least 0", fmt::format("{}", head.noise_var),
           "the model file is damaged");
  if (!(head.outputs == 1 || (!head.is_regression() && head.likelihood != LikelihoodKind::bernoulli)))
    refuse("head", fmt::format("one output of {}", name_of(head.likelihood)), fmt::format("{}", head.outputs),
           "the model file is damaged");
  return head;
}

void check_outputs(const Head& head, const NetworkSpec& spec, std::string_view method) {
  const Shape out = output(spec);
  if (!((out.is_vector() || (out.is_image() && head.is_classes())) && out.sizes[0] == head.outputs))
    refuse(method, fmt::format("a network that ends in {} outputs, as its head says", head.outputs),
           text_of(out), "the model file is damaged");
}

void check_head(const Head& head, const Task& task, std::string_view function, std::string_view hint) {
  const auto shown = [](LikelihoodKind likelihood, int64_t outputs) {
    return fmt::format("{} ({}) with {} output{}", name_of(task_of(likelihood)), name_of(likelihood), outputs,
                       outputs == 1 ? "" : "s");
  };
  if (head.likelihood != task.likelihood || head.outputs != task.outputs)
    refuse(function, "a network for " + shown(task.likelihood, task.outputs),
           "one for " + shown(head.likelihood, head.outputs), hint);
}

}  // namespace slimbayes
