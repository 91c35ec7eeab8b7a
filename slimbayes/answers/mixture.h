#pragma once

#include <vector>

#include "slimbayes/answers/predictive.h"

namespace slimbayes {

/// Returns the equally weighted mixture of several predictives of the same n rows, for example of the members
/// of an ensemble. The mixture is again a predictive of the same task:
/// regression  the mixture of the parts' densities if a part has one (Regression::density), else a Gaussian
///             with the mean and variance of the mixture (Lakshminarayanan et al. 2017, section 2.4). Its
///             mean and aleatoric variance are averages over the parts. Its epistemic variance is the average
///             epistemic variance plus the variance of the means between the parts (divisor: number of
///             parts).
/// classes     the average probabilities, the entropy of these averages, and the average expected entropy.
///             The mutual information therefore includes the disagreement of the parts.
/// rates       for counts and intensities: a log-normal rate with the mean and variance of the mixture;
/// counts             with a dispersion or a share of zeros have those that give the mixture's aleatoric
/// variance Throws std::invalid_argument if `parts` is empty, or if the shapes or tasks differ.
Predictive mixture(const std::vector<Predictive>& parts);
Regression mixture(const std::vector<Regression>& parts);

/// Returns the mean of k members of cross-validation, with the variance v^2 / (v + b) + b. Here v is the
/// variance of a member, which equals its mean squared error on rows that it has not seen, and b the variance
/// of the means between the members. A mixture has the variance v + b, which counts b twice: the squared
/// error of the mean of the members is v - b (Krogh and Vedelsby 1995, equation 7). Both parts of v keep
/// their proportion, b is epistemic variance. It is v where the members agree, nowhere less, at most v + b,
/// and tends to b where they disagree by more than they know, as far from the data. Parts with a density are
/// mixed as they are. Throws as mixture.
Regression bagged_mixture(const std::vector<Regression>& members);

/// Returns the mixture of predictives of the same n rows with these weights, each > 0; they are divided by
/// their sum. A regression has the density of the mixture (answers/density.h), not only its moments; classes
/// and rates are as above. Throws as above, and std::invalid_argument unless there is one weight > 0 for each
/// part.
Predictive mixture(const std::vector<Predictive>& parts, const std::vector<double>& weights);

}  // namespace slimbayes
