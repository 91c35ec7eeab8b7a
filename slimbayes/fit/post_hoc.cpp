#include "slimbayes/fit/post_hoc.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <string>

#include "slimbayes/answers/answers.h"
#include "slimbayes/catalog/methods.h"
#include "slimbayes/core/check.h"
#include "slimbayes/core/stored.h"
#include "slimbayes/data/table/cell.h"
#include "slimbayes/method/head.h"
#include "slimbayes/method/registry.h"
#include "slimbayes/method/trained_network.h"
#include "slimbayes/storage/error.h"

namespace slimbayes {

namespace {

constexpr const char* kPosterior = "module_posterior";
constexpr std::array<std::string_view, 3> kMethods = {"rich-bll", "bll", "last-layer-laplace"};

std::unique_ptr<Fitted> fitted_around(const ScriptNetwork& network, const Split& data,
                                      const std::string& method, const nlohmann::json& options,
                                      const Stream& stream) {
  check(!options.value("refit", false), method, "a module that is kept as it is", "refit",
        "join training and validation rows yourself");
  FitContext context{stream};
  context.start = std::make_shared<const TrainedNetwork>(trained_network(network, data, method));
  return registry_row(method).make(options)->fit(data, context);
}

}  // namespace

std::unique_ptr<Fitted> rich_bll(const ScriptNetwork& network, const Split& data,
                                 const RichBllOptions& options, const Stream& stream) {
  return fitted_around(network, data, "rich-bll", options_to_json(options), stream);
}

std::unique_ptr<Fitted> bll(const ScriptNetwork& network, const Split& data, const BllOptions& options,
                            const Stream& stream) {
  return fitted_around(network, data, "bll", options_to_json(options), stream);
}

LikelihoodKind module_likelihood(const ScriptNetwork& network, int64_t classes) {
  if (classes == 0) return LikelihoodKind::gaussian;
  return classes == 2 && network.weight().size(0) == 1 ? LikelihoodKind::bernoulli : LikelihoodKind::softmax;
}

ModulePosterior module_posterior(const ScriptNetwork& network, const Split& data, const std::string& method,
                                 const nlohmann::json& given, const Stream& stream) {
  const MethodInfo& info = find_method(method);
  if (std::ranges::find(kMethods, info.name) == kMethods.end())
    refuse("posterior", "rich-bll, bll or last-layer-laplace, which take a module", in_quotes(method),
           "the other methods train a network of their own");
  const Task& task = data.train.schema.task;
  return {info.name, task.likelihood, std::ssize(task.levels),
          fitted_around(network, data, info.name, info.resolve(given), stream)};
}

Dataset module_rows(const at::Tensor& x, const at::Tensor& y, LikelihoodKind likelihood, int64_t classes) {
  const at::Tensor targets = y.defined() ? y : at::zeros({x.dim() > 0 ? x.size(0) : 0}, at::kDouble);
  return classes > 0 ? class_data(x, targets, classes, likelihood) : regression_data(x, targets);
}

Predictive answer(const ModulePosterior& posterior, const at::Tensor& x) {
  Predictive p = posterior.fitted->predict(module_rows(x, {}, posterior.likelihood, posterior.classes));
  const std::vector<std::string> faults = non_finite(p);
  for (size_t row = 0; row < faults.size(); ++row) {
    if (!faults[row].empty())
      throw DataError("the inputs",
                      fmt::format("expected inputs with a finite answer; received row {}, whose {}; "
                                  "leave it out",
                                  row + 1, faults[row]));
  }
  return p;
}

Scores ood(const ModulePosterior& posterior, const at::Tensor& x) {
  const MethodInfo& info = find_method(posterior.method);
  Scores all = scores(answer(posterior, x), ood_score(info, nlohmann::json::object()));
  all.merge(posterior.fitted->ood(module_rows(x, {}, posterior.likelihood, posterior.classes)));
  return all;
}

ModulePosterior updated(const ModulePosterior& posterior, const Dataset& add, const Dataset& drop) {
  const ExactPosterior* exact = posterior.fitted->exact_posterior();
  check(exact != nullptr, "posterior", "a method with an exact posterior", posterior.method);
  try {
    return {posterior.method, posterior.likelihood, posterior.classes, exact->updated(add, drop)};
  } catch (const NumericalError& error) {
    if (drop.size() != 0)
      refuse("forget", "rows that the posterior has learned",
             fmt::format("others, without which no posterior is left ({})", error.what()),
             "give rows of its training or of an update, with the same targets");
    throw;
  }
}

TensorFile to_file(const ModulePosterior& posterior) {
  TensorFile file = posterior.fitted->save();
  file.metadata[kPosterior] = posterior.method;
  return file;
}

ModulePosterior module_posterior_from(const TensorFile& file, const std::string& name) {
  const auto method = file.metadata.find(kPosterior);
  if (method == file.metadata.end() || std::ranges::find(kMethods, method->second) == kMethods.end())
    throw DataError(name, "expected a posterior around a module; received another file; check the path");
  std::unique_ptr<Fitted> fitted = registry_row(method->second).load(file);
  const Head head = head_from_json(stored_json(file, "head"));
  if (!head.is_classes() && head.likelihood != LikelihoodKind::gaussian)
    throw DataError(name, fmt::format("expected a posterior of numbers or classes; received {}; the file is "
                                      "damaged",
                                      name_of(head.likelihood)));
  const int64_t classes = !head.is_classes()                             ? 0
                          : head.likelihood == LikelihoodKind::bernoulli ? 2
                                                                         : head.outputs;
  return {method->second, head.likelihood, classes, std::move(fitted)};
}

}  // namespace slimbayes
