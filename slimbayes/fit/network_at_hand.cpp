#include "slimbayes/fit/network_at_hand.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cmath>
#include <iterator>

#include "slimbayes/catalog/trained_network_options.h"
#include "slimbayes/core/check.h"
#include "slimbayes/data/table/cell.h"
#include "slimbayes/fit/fit_data.h"
#include "slimbayes/fit/fit_model.h"
#include "slimbayes/fit/joint/shared_network_fit.h"
#include "slimbayes/fit/left_out.h"
#include "slimbayes/fit/resolved_fit.h"
#include "slimbayes/method/trained_network.h"
#include "slimbayes/model/update_notes.h"
#include "slimbayes/storage/printable.h"

namespace slimbayes {

namespace {

/// Returns the end of the note on the network: how it was trained, such as ", trained there in 500 steps on
/// 90 rows". `same_rows` says whether this fit has the examples and the split of the network's model.
std::string trained_on(const Model& source, bool same_rows) {
  const Summary& summary = source.fitted().network()->summary;
  if (summary.steps == 0) return ", which did not train it itself";
  const int64_t rows = std::ssize(source.split().train);  // 0 after an update, which drops the split
  std::string text = fmt::format(", trained there in {} steps", summary.steps);
  if (rows > 0) text += " on " + counted(rows, noun_of(kind_of(source.encoder())));
  if (std::isfinite(summary.best_score))
    text += fmt::format(" ({} {:.4f})", summary.score, summary.best_score);
  return text + (same_rows ? "" : ", of which nothing was measured here");
}

/// Joins words for a sentence: "a, b and c". Returns "" for no words.
std::string listed(std::vector<std::string> words) {
  if (words.size() < 2) return words.empty() ? "" : words.front();
  const std::string last = words.back();
  words.pop_back();
  return fmt::format("{} and {}", fmt::join(words, ", "), last);
}

/// Returns the docs of the options that a trained network fixes: those of its layers and of its training,
/// without the training options that still have an effect in a fit that starts from it
/// (MethodInfo::trains_on).
std::vector<OptionDoc> docs_of_network(const MethodInfo& method) {
  std::vector<OptionDoc> docs = option_docs<TrainedNetworkOptions>();
  std::erase_if(docs, [&](const OptionDoc& doc) {
    return std::ranges::find(method.trains_on, doc.name) != method.trains_on.end();
  });
  return docs;
}

/// Returns the options that the user gave without effect, because the trained network fixes them to other
/// values: "`.hidden` and `.steps`"; "" if there are none.
std::string overruled(const ResolvedFit& request) {
  const nlohmann::json asked = request.method->resolve(request.fit.options);
  std::vector<std::string> tokens;
  for (const OptionDoc& doc : docs_of_network(*request.method)) {
    if (!request.fit.options.contains(doc.name) || asked.at(doc.name) == request.options.at(doc.name))
      continue;
    tokens.push_back(fmt::format("`.{}`", doc.name));
  }
  return listed(tokens);
}

/// Returns whether these are the examples that the model `network` was fitted on and the model still has the
/// split of that fit. An updated model has no split.
bool fitted_on(const Model& network, const FitData& data) {
  return network.data_hash() == data.hash && !network.split().train.empty();
}

/// Returns the split of the model `source`, whose network this fit takes and whose examples it has. Leaves
/// its validation rows out if the fit has separate validation data (`own_valid`), and its calibration rows if
/// the fit does not calibrate, each with a note. Throws std::invalid_argument if the fit calibrates but that
/// model kept no rows for it: the network has seen all of them.
SplitRows split_of_source(const Model& source, const FitOptions& fit, bool own_valid) {
  SplitRows split = source.split();
  const auto leave_out = [&](std::vector<int64_t>& rows, const char* part, const char* why) {
    if (rows.empty()) return;
    split.notes.push_back(fmt::format("{} {} of that network's fit are left out: {}",
                                      counted(std::ssize(rows), noun_of(kind_of(source.encoder()))), part,
                                      why));
    rows.clear();
  };
  if (own_valid) leave_out(split.valid, "of the validation", "there are validation data of their own");
  if (fit.calibrate == "none") {
    leave_out(split.calibration, "of the calibration", "`.calibrate=conformal` takes them");
  } else {
    check(!split.calibration.empty(), "fit",
          "a network whose fit kept rows for calibration, for `.calibrate` on the data that trained it",
          "one that has seen all of them",
          "fit that network with `.calibrate=conformal`, or give other data");
  }
  return split;
}

/// Returns a note on the held-out parts of a new split; "" if no part is held out. Call it if the data are
/// not exactly those of the network's fit: they may still share rows with them, so the network may have been
/// trained on held-out rows.
std::string split_anew(const Model& source, const FitOptions& fit, const SplitRows& split) {
  std::vector<std::string> parts;
  if (!split.valid.empty()) parts.emplace_back("validation");
  if (!split.calibration.empty()) parts.emplace_back("calibration");
  if (!split.test.empty()) parts.emplace_back("test");
  if (parts.empty()) return "";
  return fmt::format(
      "split anew: some of the {} {}s may have trained the network; their scores may be too good{}",
      listed(parts), noun_of(kind_of(source.encoder())),
      fit.calibrate == "none" ? "" : ", and the intervals or sets too narrow");
}

}  // namespace

std::shared_ptr<const Model> network_asked(const FitOptions& fit) {
  if (fit.network_from.empty()) return nullptr;
  auto network = std::make_shared<const Model>(Model::load(fit.network_from));
  if (network->fitted().network() == nullptr)
    refuse("network_from", "a model whose network ends in a linear output layer",
           fmt::format("{} by {}", in_quotes(fit.network_from), network->method()),
           "`.method=dnn` fits such a network to the data");
  if (!(fit.method.empty() || find_method(fit.method).takes_network))
    refuse("network_from", "a method that starts from a trained network", fit.method,
           methods_that(&MethodInfo::takes_network) + " take one (`.method`)");
  return network;
}

FitOptions with_network_from(const FitOptions& given) {
  const std::shared_ptr<const Model> network = network_asked(given);
  return network ? with_network_from(given, *network) : given;
}

FitOptions with_network_from(const FitOptions& given, const Model& network) {
  FitOptions fit = network.fit_options();
  if (!given.weights.empty() && given.weights != fit.weights)
    refuse("network_from",
           fit.weights.empty()
               ? "no weights, as that model was fitted without"
               : fmt::format("the weights in {}, as in that model's fit", in_quotes(fit.weights)),
           fmt::format("`.weights={}`", foreign_text(given.weights)),
           "leave `.weights` out, or fit the network with the same column");
  fit.share_network = false;  // the model may be one of several targets
  fit.method = given.method.empty() ? default_method_of_network().name : given.method;
  fit.options = given.options;
  fit.seed = given.seed;
  fit.tune = given.tune;
  fit.level = given.level;
  fit.threads = given.threads;
  fit.device = given.device;
  fit.network_from = given.network_from;
  fit.calibrate = given.calibrate;
  fit.calibrate_by = given.calibrate_by;
  fit.calibration_fraction = given.calibration_fraction;
  fit.noise_folds = 0;  // the network has seen the rows of every fold
  return fit;
}

nlohmann::json without_network_options(nlohmann::json options, const nlohmann::json& given) {
  for (const OptionDoc& doc : option_docs<TrainedNetworkOptions>())
    if (!given.contains(doc.name)) options.erase(doc.name);
  return options;
}

nlohmann::json options_around(const Model& network, const MethodInfo& method, nlohmann::json options) {
  for (const OptionDoc& doc : docs_of_network(method)) {
    const auto made_with = network.options().find(doc.name);
    if (made_with != network.options().end()) options[doc.name] = *made_with;
  }
  return options;
}

SplitRows split_around(const ResolvedFit& request, const FitData& data, const FitOptions& dealt) {
  const Model& network = *request.network;
  const bool same_rows = fitted_on(network, data);
  SplitRows split =
      same_rows ? among_places(split_of_source(network, request.fit, data.valid != nullptr), data.places)
                : split_examples(data.examples, dealt);
  const std::string others = overruled(request);
  split.network_note = fmt::format("the network is that of {}{}{}", in_quotes(request.fit.network_from),
                                   trained_on(network, same_rows),
                                   others.empty() ? "" : fmt::format("; {} cannot change it", others));
  if (same_rows) return split;
  split.notes.push_back(split_anew(network, request.fit, split));
  std::ranges::copy(update_notes(network, data.examples), std::back_inserter(split.notes));
  std::erase(split.notes, "");
  return split;
}

NetworkStart network_start(const ResolvedFit& request, const FitData& data, int64_t valid_rows) {
  if (request.given) return {request.given->network};
  if (!request.network) return {};
  const std::shared_ptr<const TrainedNetwork> trained = request.network->fitted().network();
  TrainedNetwork start = *trained;
  start.summary = {};  // nothing was trained in this fit
  start.summary.valid_rows = valid_rows;
  return {std::make_shared<const TrainedNetwork>(std::move(start)),
          fitted_on(*request.network, data) || data.valid != nullptr, trained->summary.valid_rows,
          request.network->noise()};
}

}  // namespace slimbayes
