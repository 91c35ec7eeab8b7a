#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "slimbayes/catalog/call_options.h"
#include "slimbayes/data/dataset.h"
#include "slimbayes/model/model_networks.h"
#include "slimbayes/theory/pac_bayes.h"

namespace slimbayes {

/// A condition under which a bound holds.
struct Assumption {
  enum class Status : uint8_t {
    holds,     // the model file shows that it holds
    violated,  // the model file shows that it does not
    unknown    // the model file does not tell; the user must know
  } status;
  std::string text;
};

/// The rows with which a bound is computed.
struct BoundRows {
  Dataset rows;      // encoded, with targets
  std::string part;  // "train", "valid", ... of the data that were fitted on; "": other data
};

/// A PAC-Bayes bound of the loss of a network drawn from the posterior.
struct Certificate {
  std::string loss;  // in words
  PacBayesInput input;
  PacBayesBound bound;
  std::vector<Assumption> assumptions;
  /// held_out_bound() where no part of the fit used the rows: of the test and calibration part unless the
  /// encoder saw them or may have (--scale-on all, --network-from), and of other data than those of the fit,
  /// for which it holds if they are new. The model file does not tell whether they are.
  std::optional<double> held_out = {};

  /// Returns whether no assumption is violated. The bound is then a certificate if the unknown ones hold.
  bool certified() const;
};

/// Returns the bound pac_bayes_bound() for a network with random weights, with the KL of kl_bound(), which
/// is not scaled by the factor of the training loss (Toure and Stephens, D.2). The loss is 0 or 1 (a wrong
/// class) or, for numbers and counts, the absolute error clipped to [0, 1]. The draws come from a stream of
/// their own: those of the validation chose the parameters. Throws std::invalid_argument if the network has
/// no random weights, for numbers and counts without a clip, and for rows with weights (Dataset::weights):
/// the bound holds for the plain mean of the loss over n independent rows. The weights with which the model
/// was fitted do not matter, since the posterior may depend on its rows in any way.
Certificate certificate_of(const Model& model, const ModelNetwork& network, const BoundRows& rows,
                           const CertificateOptions& options);

}  // namespace slimbayes
