// Methods whose answer is the average over several sets of weights: draws from a distribution of the weights
// (mc-dropout, swag, bbb), or independent fits (ensemble).
#include "slimbayes/catalog/families.h"
#include "slimbayes/catalog/method_entry.h"
#include "slimbayes/catalog/weight_space/bbb_options.h"
#include "slimbayes/catalog/weight_space/ensemble_options.h"
#include "slimbayes/catalog/weight_space/mc_dropout_options.h"
#include "slimbayes/catalog/weight_space/swag_options.h"

namespace slimbayes {
namespace {

/// Returns a MethodInfo with the fields that all methods share whose answer averages over draws of a
/// network's weights.
MethodInfo draws_method(std::string name) {
  MethodInfo info = network_method(std::move(name), {TaskKind::regression, TaskKind::classification});
  info.parts = SdParts::draws;
  info.presets = {paper_preset({paper_training()})};
  return info;
}

MethodInfo mc_dropout() {
  MethodInfo info = draws_method("mc-dropout");
  info.takes_network = true;
  info.summary = "A network trained with dropout, averaged over masks drawn in prediction.";
  info.paper = "Gal and Ghahramani 2016 (baseline of R section 4)";
  return with_options<McDropoutOptions>(std::move(info));
}

MethodInfo swag() {
  MethodInfo info = draws_method("swag");
  info.takes_network = true;
  info.trains_on = {"batch", "weight_decay", "clip_norm", "time_limit"};
  info.summary = "A Gaussian around the average of the weights that further training visits.";
  info.paper = "Maddox et al. 2019 (baseline of R section 4)";
  return with_options<SwagOptions>(std::move(info));
}

MethodInfo bbb() {
  MethodInfo info = draws_method("bbb");
  info.aliases = {"bayes-by-backprop"};
  info.summary = "A network whose weights have independent Gaussian posteriors (Bayes by Backprop).";
  info.paper = "Blundell et al. 2015 (baseline of R section 4)";
  return with_options<BbbOptions>(std::move(info));
}

MethodInfo ensemble() {
  MethodInfo info;
  info.name = "ensemble";
  info.summary =
      "Averages several fits of one method (--of); the disagreement of their means adds to the epistemic "
      "variance.";
  info.tasks = every_task();  // takes() checks that the member method can do the task too
  info.inputs = every_input();
  info.paper = "Lakshminarayanan, Pritzel and Blundell 2017 (deep ensembles)";
  info.parts = SdParts::members;
  info.input_scale = "min-max";  // shown by describe; a fit uses the scale of the member method
  info.resumable = true;
  info.inner = "of";
  info.options = option_docs<EnsembleOptions>();
  info.resolve = resolve_ensemble;
  return info;
}

}  // namespace

std::vector<MethodInfo> weight_space_methods() { return {mc_dropout(), swag(), bbb(), ensemble()}; }

}  // namespace slimbayes
