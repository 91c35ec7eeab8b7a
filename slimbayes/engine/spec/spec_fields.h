#pragma once

#include <array>
#include <type_traits>

#include "slimbayes/engine/spec/answer_spec.h"

namespace slimbayes::engine {

// Each function names the fields of a part once, for a visitor that writes them, reads them or looks at them:
// `part` is const unless it is read.

inline constexpr std::array kRowKinds = {"linear", "kernel", "mixture", "ensemble"};
inline constexpr std::array kClassKinds = {"known", "independent", "correlated", "forest", "fixed", "pool"};
inline constexpr const char* kRateKind = "rate";

template <class Part, class Of>
concept IsPart = std::is_same_v<std::remove_const_t<Part>, Of>;

template <class Part, class Visitor>
void fields(Part& part, Visitor& v) requires IsPart<Part, FeatureSpec> {
  v("inputs", part.inputs);
  v.network("network", part.network);
  v("basis", part.basis);
  v("rank", part.rank);
  v.choice("of", part.of, {"outputs", "last_layer", "sketch"});
  v("exact", part.exact);
  v("values", part.values);
}

template <class Part, class Visitor>
void fields(Part& part, Visitor& v) requires IsPart<Part, LinearHead> {
  v("constant", part.constant);
  v("noise_var", part.noise_var);
  v("weights", part.weights);
  v("root", part.root);
  v("root_constant", part.root_constant);
  v("constant_var", part.constant_var);
  v("response_constant", part.response_constant);
  v("response", part.response);
  v("largest", part.largest);
  v("prior_var", part.prior_var);
}

template <class Part, class Visitor>
void fields(Part& part, Visitor& v) requires IsPart<Part, LinearRows> {
  v.part("features", part.features);
  v.part("head", part.head);
}

template <class Part, class Visitor>
void fields(Part& part, Visitor& v) requires IsPart<Part, KernelRows> {
  v.part("features", part.features);
  v("lengthscale", part.lengthscale);
  v("rows", part.rows);
  v("amplitude", part.amplitude);
  v("noise_var", part.noise_var);
  v("offset", part.offset);
  v("diagonal", part.diagonal);
  v("diagonals", part.diagonals);
  v("alpha", part.alpha);
  v("ones", part.ones);
}

template <class Part, class Visitor>
void fields(Part& part, Visitor& v) requires IsPart<Part, ViewSpec> {
  v("input_shift", part.input_shift);
  v("input_scale", part.input_scale);
  v.choice("warp", part.warp, {"none", "log"});
  v("low", part.low);
  v("unit", part.unit);
  v("log_mean", part.log_mean);
  v("log_sd", part.log_sd);
  v("seen_low", part.seen_low);
  v("seen_high", part.seen_high);
  v("spare_sd", part.spare_sd);
}

template <class Part, class Visitor>
void fields(Part& part, Visitor& v) requires IsPart<Part, SpreadSpec> {
  v("of_folds", part.of_folds);
  v("factor", part.factor);
  v("dof", part.dof);
  v("wild_share", part.wild_share);
  v("wild_factor", part.wild_factor);
  v("centre", part.centre);
  v("spread", part.spread);
  v("weights", part.weights);
  v("low", part.low);
  v("high", part.high);
  v("seen_epistemic", part.seen_epistemic);
}

template <class Part, class Visitor>
void fields(Part& part, Visitor& v) requires IsPart<Part, CandidateRows> {
  v.parts("members", part.members);
  v.part("view", part.view);
  v.part("spread", part.spread);
  v("weight", part.weight);
}

template <class Part, class Visitor>
void fields(Part& part, Visitor& v) requires IsPart<Part, MixtureRows> {
  v("inputs", part.inputs);
  v.parts("candidates", part.candidates);
  v("wrong_share", part.wrong_share);
  v("wrong_dof", part.wrong_dof);
  v("wrong_factor", part.wrong_factor);
}

template <class Part, class Visitor>
void fields(Part& part, Visitor& v) requires IsPart<Part, EnsembleRows> {
  v.parts("members", part.members);
}

template <class Part, class Visitor>
void fields(Part& part, Visitor& v) requires IsPart<Part, RowSpec> {
  v.alternative(part.of, kRowKinds);
}

template <class Part, class Visitor>
void fields(Part& part, Visitor& v) requires IsPart<Part, KnownLogits> {
  v.part("features", part.features);
}

template <class Part, class Visitor>
void fields(Part& part, Visitor& v) requires IsPart<Part, IndependentLogits> {
  v.part("features", part.features);
  v.parts("heads", part.heads);
  v("draws", part.draws);
}

template <class Part, class Visitor>
void fields(Part& part, Visitor& v) requires IsPart<Part, CorrelatedLogits> {
  v.part("features", part.features);
  v("centre", part.centre);
  v("scale", part.scale);
  v("last", part.last);
  v("weights", part.weights);
  v("contrasts", part.contrasts);
  v("half", part.half);
  v("of_features", part.of_features);
  v("of_classes", part.of_classes);
  v("variances", part.variances);
  v("outputs", part.outputs);
  v("centred", part.centred);
}

template <class Part, class Visitor>
void fields(Part& part, Visitor& v) requires IsPart<Part, ForestSpec> {
  v("inputs", part.inputs);
  v("classes", part.classes);
  v("columns", part.columns);
  v("thresholds", part.thresholds);
  v("rights", part.rights);
  v("counts", part.counts);
  v("sizes", part.sizes);
  v("parent_rows", part.parent_rows);
}

template <class Part, class Visitor>
void fields(Part& part, Visitor& v) requires IsPart<Part, FixedClasses> {
  v("inputs", part.inputs);
  v("probabilities", part.probabilities);
  v("expected_entropy", part.expected_entropy);
}

template <class Part, class Visitor>
void fields(Part& part, Visitor& v) requires IsPart<Part, ClassCandidate> {
  v.parts("members", part.members);
  v("input_shift", part.input_shift);
  v("input_scale", part.input_scale);
  v("weight", part.weight);
  v("power", part.power);
  v("of_folds", part.of_folds);
}

template <class Part, class Visitor>
void fields(Part& part, Visitor& v) requires IsPart<Part, PooledClasses> {
  v.parts("candidates", part.candidates);
  v("power", part.power);
}

template <class Part, class Visitor>
void fields(Part& part, Visitor& v) requires IsPart<Part, ClassSpec> {
  v.alternative(part.of, kClassKinds);
}

template <class Part, class Visitor>
void fields(Part& part, Visitor& v) requires IsPart<Part, RateCandidate> {
  v.parts("members", part.members);
  v("input_shift", part.input_shift);
  v("input_scale", part.input_scale);
  v("weight", part.weight);
}

template <class Part, class Visitor>
void fields(Part& part, Visitor& v) requires IsPart<Part, RateSpec> {
  v.parts("candidates", part.candidates);
}

}  // namespace slimbayes::engine
