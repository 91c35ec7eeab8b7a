#pragma once

#include <span>

namespace slimbayes {

// The class probabilities of one row, averaged over Gaussian logits, in plain numbers: what
// answers/class_likelihood.h computes for tensors, to 1e-12 of a probability.

/// Returns -sum p log p, in nats. A probability of 0 adds nothing.
double entropy_of(std::span<const double> probabilities);

/// Writes the softmax of the logits to `p`, which may be the same memory. One logit f and two probabilities
/// are (sigmoid(-f), sigmoid(f)).
void softmax(std::span<const double> logits, std::span<double> p);

/// Divides probabilities by their sum, which rounding and quadrature keep from 1.
void normalise(std::span<double> p);

/// Writes the probabilities of two classes to p [2], sigmoid(-f) and sigmoid(f) averaged over f ~ N(mean,
/// var), and returns the average of their entropy (BernoulliLikelihood::predictive).
double average_sigmoid(double mean, double var, std::span<double> p);

}  // namespace slimbayes
