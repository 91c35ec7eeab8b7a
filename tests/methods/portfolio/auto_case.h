#pragma once

#include <ATen/ATen.h>

#include <algorithm>
#include <memory>
#include <nlohmann/json.hpp>
#include <string>

#include "slimbayes/answers/predictive.h"
#include "slimbayes/method/registry.h"
#include "tests/methods/contract.h"

// What the tests of `auto` share.

namespace slimbayes::auto_case {

/// A straight line with noise, of which the share `wild` of the rows is far off.
inline Dataset line(int64_t n, uint64_t seed, double wild = 0) {
  const at::Tensor x = Stream(seed).split("x").normal({n, 3}),
                   noise = 0.3 * Stream(seed).split("noise").normal({n});
  const at::Tensor off = (Stream(seed).split("wild").uniform({n}) < wild).to(at::kDouble);
  return regression_data(x, x.select(1, 0) - 0.5 * x.select(1, 1) + noise * (1 + 60 * off));
}

inline std::unique_ptr<Fitted> fitted(const Dataset& rows, const nlohmann::json& options,
                                      const FitContext& context = {Stream(7)}) {
  return registry_row("auto").make(options)->fit({rows, {rows.schema, nullptr}}, context);
}

inline const nlohmann::json kLines = {{"candidates", "constant,ridge"}};

inline Regression answer_to(const Fitted& model, const Dataset& rows) {
  return std::get<Regression>(model.predict(rows));
}

inline bool has_fact(const Fitted& model, const std::string& text) {
  return std::ranges::any_of(model.summary().facts,
                             [&](const std::string& f) { return f.find(text) != f.npos; });
}

/// Stops at the call of stop() with this number.
struct StopAt : Callback {
  int64_t left;
  explicit StopAt(int64_t calls) : left(calls) {}
  bool stop() override { return left-- <= 0; }
};

}  // namespace slimbayes::auto_case
