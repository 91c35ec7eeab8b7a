#pragma once

#include <ATen/ATen.h>
#include <fmt/format.h>

#include <algorithm>
#include <type_traits>
#include <variant>
#include <vector>

#include "slimbayes/answers/answers.h"
#include "slimbayes/answers/predictive.h"
#include "slimbayes/core/check.h"

// How several predictives of one task become one. For answers/answers and answers/mixture.

namespace slimbayes {

using Tensors = std::vector<at::Tensor>;  // one field of several predictives: one tensor per predictive

/// Returns one field of every part, for example the mean of each Regression. `field` maps a part to the
/// field.
template <class Answer, class Field>
Tensors field_of_parts(const std::vector<Answer>& parts, Field field) {
  Tensors all;
  for (const Answer& part : parts) all.push_back(field(part));
  return all;
}

/// Joins the densities of the parts, component by component. All parts must come from one model, so that
/// their components agree in everything but the rows.
template <class Join>
std::vector<DensityComponent> joined_densities(const std::vector<Regression>& parts, Join join) {
  std::vector<DensityComponent> out = parts.front().density;
  for (const Regression& part : parts) {
    if (part.density.size() != out.size())
      refuse("concatenated", fmt::format("{} components", out.size()),
             fmt::format("{}", part.density.size()));
    for (size_t k = 0; k < out.size(); ++k) {
      const DensityComponent &a = part.density[k], &b = out[k];
      check(a.weight == b.weight && a.dof == b.dof && a.warp == b.warp && a.shift == b.shift &&
                a.scale == b.scale,
            "concatenated", "parts of one model", "components of different shapes");
    }
  }
  for (size_t k = 0; k < out.size(); ++k) {
    const auto field = [&](at::Tensor DensityComponent::*of) {
      return join(field_of_parts(parts, [&](const Regression& p) { return p.density[k].*of; }));
    };
    out[k].mean = field(&DensityComponent::mean);
    out[k].aleatoric_var = field(&DensityComponent::aleatoric_var);
    out[k].epistemic_var = field(&DensityComponent::epistemic_var);
  }
  return out;
}

/// Merges several predictives of one type into one of that type: each of its tensors is join(t), where t
/// lists the corresponding tensors of the parts. `join` is for example a concatenation or an average. The
/// field `zeroed` of the result is 0.
template <class Join>
Regression joined(const std::vector<Regression>& parts, Join join) {
  return {join(field_of_parts(parts, [](const auto& p) { return p.mean; })),
          join(field_of_parts(parts, [](const auto& p) { return p.aleatoric_var; })),
          join(field_of_parts(parts, [](const auto& p) { return p.epistemic_var; })),
          0,
          joined_densities(parts, join),
          parts.front().least,
          parts.front().most};
}

template <class Join>
Classes joined(const std::vector<Classes>& parts, Join join) {
  return {join(field_of_parts(parts, [](const auto& p) { return p.probabilities; })),
          join(field_of_parts(parts, [](const auto& p) { return p.predictive_entropy; })),
          join(field_of_parts(parts, [](const auto& p) { return p.expected_entropy; }))};
}

template <class Join>
Intensity joined(const std::vector<Intensity>& parts, Join join) {
  return {{join(field_of_parts(parts, [](const auto& p) { return p.rate.log_mean; })),
           join(field_of_parts(parts, [](const auto& p) { return p.rate.log_var; }))}};
}

/// Returns a field of the noise of a count, [n]: 0 where it is undefined.
inline at::Tensor noise_of(const Counts& p, at::Tensor Counts::*field) {
  return (p.*field).defined() ? p.*field : at::zeros_like(p.rate.log_mean);
}

/// Whether a part has this field of the noise of a count.
inline bool any_has(const std::vector<Counts>& parts, at::Tensor Counts::*field) {
  return std::ranges::any_of(parts, [field](const Counts& p) { return (p.*field).defined(); });
}

template <class Join>
Counts joined(const std::vector<Counts>& parts, Join join) {
  Counts out{{join(field_of_parts(parts, [](const auto& p) { return p.rate.log_mean; })),
              join(field_of_parts(parts, [](const auto& p) { return p.rate.log_var; }))}};
  for (at::Tensor Counts::*field : {&Counts::dispersion, &Counts::zero_share})
    if (any_has(parts, field))
      out.*field = join(field_of_parts(parts, [field](const Counts& p) { return noise_of(p, field); }));
  return out;
}

template <class Answer>
int64_t zeroed_of(const std::vector<Answer>& parts) {
  int64_t all = 0;
  for (const Answer& part : parts) all += part.zeroed;
  return all;
}

/// Checks that all parts hold the same type of predictive, such as Regression, and returns call(same), where
/// `same` is the list of the parts as that type. The field `zeroed` of the result is the sum over the parts.
/// Throws std::invalid_argument if `parts` is empty or the types differ; the message names `function`.
template <class Call>
Predictive over_parts(const std::vector<Predictive>& parts, const char* function, Call call) {
  check(!parts.empty(), function, "at least one part", "none");
  return std::visit(
      [&](const auto& first) -> Predictive {
        using Answer = std::decay_t<decltype(first)>;
        std::vector<Answer> same;
        for (const Predictive& part : parts) {
          if (!std::holds_alternative<Answer>(part))
            refuse(function, fmt::format("answers to one task, {}", name_of(task_of(parts.front()))),
                   fmt::format("one to {}", name_of(task_of(part))));
          same.push_back(std::get<Answer>(part));
        }
        Answer whole = call(same);
        whole.zeroed = zeroed_of(same);
        return whole;
      },
      parts.front());
}

}  // namespace slimbayes
