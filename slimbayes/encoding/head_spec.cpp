#include "slimbayes/encoding/head_spec.h"

#include <fmt/format.h>

#include <string>

#include "slimbayes/catalog/json_reader.h"
#include "slimbayes/storage/check.h"

namespace slimbayes {

HeadSpec head_spec_of(const Task& task) { return {task.likelihood, task.outputs}; }

nlohmann::json to_json(const HeadSpec& head) {
  return {{"likelihood", name_of(head.likelihood)}, {"outputs", head.outputs}, {"noise_var", head.noise_var}};
}

HeadSpec head_spec_from_json(const nlohmann::json& json) {
  constexpr int64_t kMost = int64_t{1} << 24;
  const JsonReader reader(json, "head");
  const HeadSpec head{likelihood_named(reader.text("likelihood")), reader.count("outputs", 1, kMost),
                      reader.number("noise_var")};
  if (!(head.noise_var >= 0))
    refuse("head", "a noise_var of at least 0", fmt::format("{}", head.noise_var),
           "the model file is damaged");
  if (!(head.outputs == 1 || (!head.is_regression() && head.likelihood != LikelihoodKind::bernoulli)))
    refuse("head", fmt::format("one output of {}", name_of(head.likelihood)), fmt::format("{}", head.outputs),
           "the model file is damaged");
  return head;
}

void check_outputs(const HeadSpec& head, const NetworkSpec& spec, std::string_view method) {
  const Shape out = output(spec);
  if (!((out.is_vector() || (out.is_image() && head.is_classes())) && out.sizes[0] == head.outputs))
    refuse(method, fmt::format("a network that ends in {} outputs, as its head says", head.outputs),
           text_of(out), "the model file is damaged");
}

void check_head(const HeadSpec& head, const Task& task, std::string_view function, std::string_view hint) {
  const auto shown = [](LikelihoodKind likelihood, int64_t outputs) {
    return fmt::format("{} ({}) with {} output{}", name_of(task_of(likelihood)), name_of(likelihood), outputs,
                       outputs == 1 ? "" : "s");
  };
  if (head.likelihood != task.likelihood || head.outputs != task.outputs)
    refuse(function, "a network for " + shown(task.likelihood, task.outputs),
           "one for " + shown(head.likelihood, head.outputs), hint);
}

}  // namespace slimbayes
