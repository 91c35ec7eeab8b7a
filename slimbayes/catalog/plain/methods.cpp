// Methods that know next to nothing of networks: what every other method must beat.
#include "slimbayes/catalog/families.h"
#include "slimbayes/catalog/method_entry.h"
#include "slimbayes/catalog/plain/bag_of_words_options.h"
#include "slimbayes/catalog/plain/plain_options.h"

namespace slimbayes {
namespace {

MethodInfo ridge() {
  MethodInfo info;
  info.name = "ridge";
  info.summary =
      "Bayesian linear regression on the encoded columns, in closed form: the rival that every network must "
      "beat.";
  info.tasks = {TaskKind::regression};
  info.inputs = {InputKind::table, InputKind::windows};
  info.paper = "MacKay 1992 (evidence of a linear model)";
  info.input_scale = "standard";
  info.seeded = false;
  info.variance_grows_away = true;
  info.plain = true;
  return with_options<RidgeOptions>(std::move(info));
}

MethodInfo logistic() {
  MethodInfo info;
  info.name = "logistic";
  info.summary =
      "Bayesian logistic regression on the encoded columns: the rival that every classifier must beat.";
  info.tasks = {TaskKind::classification};
  info.inputs = {InputKind::table, InputKind::windows};
  info.paper = "MacKay 1992 (evidence of a classifier), Laplace approximation";
  info.input_scale = "standard";
  info.seeded = false;
  info.variance_grows_away = true;
  info.plain = true;
  return with_options<LogisticOptions>(std::move(info));
}

MethodInfo bag_of_words() {
  MethodInfo info = network_method("bag-of-words", {TaskKind::regression, TaskKind::classification});
  info.inputs = {InputKind::text};
  info.summary =
      "A text as the mean of trained vectors of its words, in any order: the rival that a transformer must "
      "beat.";
  info.paper = "Joulin et al. 2017 (fastText)";
  info.parts = SdParts::noise_only;
  info.plain = true;
  return with_options<BagOfWordsOptions>(std::move(info));
}

MethodInfo constant() {
  MethodInfo info;
  info.name = "constant";
  info.summary = "The distribution of the training targets for every row: the score of knowing nothing.";
  info.tasks = {TaskKind::regression, TaskKind::classification, TaskKind::counts};
  info.inputs = every_input();
  info.paper = "slimbayes (conjugate posteriors of a constant)";
  info.input_scale = "standard";
  info.parts = SdParts::noise_only;
  info.seeded = false;
  info.plain = true;
  return with_options<ConstantOptions>(std::move(info));
}

}  // namespace

std::vector<MethodInfo> plain_methods() { return {ridge(), logistic(), bag_of_words(), constant()}; }

}  // namespace slimbayes
