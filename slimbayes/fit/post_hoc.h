#pragma once

#include <cstdint>
#include <memory>
#include <nlohmann/json.hpp>
#include <string>

#include "slimbayes/answers/predictive.h"
#include "slimbayes/catalog/task.h"
#include "slimbayes/core/random.h"
#include "slimbayes/export.h"
#include "slimbayes/method/method.h"
#include "slimbayes/methods/last_layer/bll_options.h"
#include "slimbayes/methods/last_layer/rich_bll_options.h"
#include "slimbayes/nn/script_network.h"
#include "slimbayes/storage/tensor_file.h"

namespace slimbayes {

/// Adds a posterior variance to a network of your own, a TorchScript module, with the method rich-bll and
/// without training. The mean of the answers is the module's output. `data` holds the rows on which the
/// module was trained, and validation rows, from which the noise is chosen (`valid` may be empty). Make both
/// from tensors by regression_data or class_data (data/dataset.h); the inputs are those of the module. For a
/// regression, target, mean and variance are in the units of the module's output, and the prior sd of prior
/// "unit" is in proportion to the sd of the target. Options of the network and its training have no effect;
/// the option refit throws. Summary::facts of the result says in which way the sums of the module's gradients
/// were computed (RichBllOptions::route).
///
/// The result predicts, updates and saves like any fitted method; registry_row("rich-bll").load reads it.
/// Throws std::invalid_argument for rows and modules that do not fit each other (trained_network), and
/// NumericalError if the computation fails.
SLIMBAYES_EXPORT std::unique_ptr<Fitted> rich_bll(const ScriptNetwork& network, const Split& data,
                                                  const RichBllOptions& options = {},
                                                  const Stream& stream = Stream(0));

/// Does the same with the method bll instead of rich-bll, which needs no gradients of the module.
SLIMBAYES_EXPORT std::unique_ptr<Fitted> bll(const ScriptNetwork& network, const Split& data,
                                             const BllOptions& options = {},
                                             const Stream& stream = Stream(0));

/// A posterior around a module, as a value that answers, learns rows and can be written to a file. Use it in
/// a front end without an encoder: the inputs are those on which the module was trained.
struct ModulePosterior {
  std::string method;  // "rich-bll", "bll" or "last-layer-laplace"
  LikelihoodKind likelihood = LikelihoodKind::gaussian;
  int64_t classes = 0;  // 0: a regression
  std::shared_ptr<const Fitted> fitted;
};

/// Returns how the outputs of a module are read: as a number if `classes` is 0, as the logit of class 1
/// (bernoulli) if there are two classes and one output, else as one logit for each class (softmax).
SLIMBAYES_EXPORT LikelihoodKind module_likelihood(const ScriptNetwork& network, int64_t classes);

/// Returns the posterior around `network` by the method with this name and the options in `given` (JSON; the
/// others keep their defaults). `data` is as for rich_bll(), made by module_rows. Throws as rich_bll(), and
/// std::invalid_argument for another method or option.
SLIMBAYES_EXPORT ModulePosterior module_posterior(const ScriptNetwork& network, const Split& data,
                                                  const std::string& method, const nlohmann::json& given,
                                                  const Stream& stream = Stream(0));

/// Returns the rows of a module with inputs x [n, ...] and targets y [n] as a dataset; without y (undefined)
/// with targets 0, for answers. `likelihood` and `classes`: as in ModulePosterior.
SLIMBAYES_EXPORT Dataset module_rows(const at::Tensor& x, const at::Tensor& y, LikelihoodKind likelihood,
                                     int64_t classes);

/// Returns the answers at inputs x [n, ...]. Every number is finite: throws DataError otherwise.
SLIMBAYES_EXPORT Predictive answer(const ModulePosterior& posterior, const at::Tensor& x);

/// Returns the scores for out-of-distribution detection at inputs x [n, ...], by name, [n] each; a larger
/// score means farther from the training data. Those of the answers (answers/answers.h) and of the network
/// (Fitted::ood).
SLIMBAYES_EXPORT Scores ood(const ModulePosterior& posterior, const at::Tensor& x);

/// Returns the posterior that has also learned the rows `add`, or that has forgotten the learned rows `drop`
/// (ExactPosterior::updated). Either may be empty. Throws as updated(), and std::invalid_argument if what
/// remains without `drop` is not a posterior, because rows of `drop` had not been learned.
SLIMBAYES_EXPORT ModulePosterior updated(const ModulePosterior& posterior, const Dataset& add,
                                         const Dataset& drop);

/// to_file returns the posterior as the contents of a file: Fitted::save and the name of the method.
/// module_posterior_from reads them and throws DataError for another file. Reading runs no module, but
/// answering does: load only files that you trust.
SLIMBAYES_EXPORT TensorFile to_file(const ModulePosterior& posterior);
SLIMBAYES_EXPORT ModulePosterior module_posterior_from(const TensorFile& file, const std::string& name);

}  // namespace slimbayes
