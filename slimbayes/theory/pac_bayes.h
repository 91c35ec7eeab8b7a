#pragma once

#include <cstdint>

namespace slimbayes {

/// Returns kl(q || p), the KL divergence between Bernoulli distributions with means q and p, both in [0, 1].
/// Infinite where p rules out what q allows.
double bernoulli_kl(double q, double p);

/// Returns the largest p in [q, 1] with kl(q || p) <= budget, rounded up: the upper end of a bisection. Use
/// it to turn a bound of kl(risk on the rows || true risk) into a bound of the true risk. Throws
/// std::invalid_argument unless q is in [0, 1] and the budget is at least 0; an infinite budget gives 1.
double kl_inverse(double q, double budget);

/// What a PAC-Bayes bound needs of a posterior over networks and of the rows.
struct PacBayesInput {
  double risk = 0;    // mean loss in [0, 1] over the rows, averaged over the drawn networks
  int64_t draws = 1;  // S, networks drawn from the posterior, independent of everything else
  double kl = 0;      // KL(posterior || prior), or an upper bound of it
  int64_t rows = 1;   // n
  int64_t tried = 1;  // how many priors were tried (ranks, sizes, sds)
  double delta = 0.05;
};

/// The bound of the true risk of a network drawn from the posterior, and its parts. It holds with probability
/// 1 - delta over the rows and the draws. Half of delta pays for the draws, half for the rows.
struct PacBayesBound {
  double sampled;     // bound of the posterior's risk on the rows: kl_inverse(risk, ln(2 tried / delta) / S)
  double complexity;  // (KL + ln(4 tried sqrt(n) / delta)) / n
  double seeger;      // kl_inverse(sampled, complexity) (Seeger 2002, Maurer 2004)
  double mcallester;  // sampled + sqrt(complexity / 2), at most 1: Theorem D.2 of Toure and Stephens
};

/// Returns the bound. It holds for n independent rows of one distribution, a loss in [0, 1], and a prior that
/// was fixed without these rows; the posterior may depend on them in any way. For several priors it holds for
/// all of them and their posteriors at once: the union bound covers both the rows and the draws. Assumes
/// nothing else, in particular not that the posterior is optimal.
///
/// Source: ln(2 sqrt(n) / delta) is Maurer's constant for the kl form. The risk of the posterior on the rows
/// is the mean of S independent numbers in [0, 1], so the Chernoff bound P(mean <= p - t) <=
/// exp(-S kl(p - t || p)) (Hoeffding 1963) gives `sampled`. `mcallester` follows from `seeger` by Pinsker's
/// inequality and is never smaller.
/// Throws std::invalid_argument for a risk outside [0, 1], a negative KL, counts below 1, or a delta that is
/// not in (0, 1).
PacBayesBound pac_bayes_bound(const PacBayesInput& input);

/// Returns the bound of the true risk for a posterior that does not depend on the rows: kl_inverse(sampled,
/// ln(2 tried / delta) / n) by the Chernoff bound, with `sampled` as in PacBayesBound. It needs no prior, so
/// `input.kl` is not used. Use it for rows that no part of the fit has used; `tried` models may have been
/// compared on them, each by draws of its own: the union bound covers the rows and the draws. Throws as
/// pac_bayes_bound().
double held_out_bound(const PacBayesInput& input);

}  // namespace slimbayes
