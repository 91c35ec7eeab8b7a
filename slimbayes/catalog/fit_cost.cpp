#include "slimbayes/catalog/fit_cost.h"

#include <algorithm>

#include "slimbayes/catalog/network/multiply_adds.h"
#include "slimbayes/catalog/network/networks.h"

namespace slimbayes {

FitCost network_cost(const FitSize& size, const nlohmann::json& options) {
  constexpr double kEpochs = 0.5;  // of the shortest training: half an epoch is more than no network
  constexpr double kSlow = 8;      // small float32 products and all between them, beside a large product
  constexpr double kPasses = 3;    // forward, and backward to inputs and weights
  constexpr double kOfStep = 1e7;  // of calls, whatever the size of the batch
  constexpr double kBatch = 256;
  constexpr double kLength = 64;  // of a text
  // Weights, gradients, moments, the best weights, and what a batch leaves for the backward pass.
  constexpr double kOfWeight = 40;  // bytes
  nlohmann::json own = nlohmann::json::object();
  for (const OptionDoc& doc : option_docs<NetworkOptions>())
    if (options.contains(doc.name)) own[doc.name] = options[doc.name];
  const NetworkSpec spec =
      network_for(options_from_json<NetworkOptions>(own, "cost"), size.input, size.tokens);
  const auto rank = options.value("rank", 0.0), rows = static_cast<double>(size.rows);
  // multiply_adds counts one step of a sequence of any length.
  const bool any_length = !size.input.sizes.empty() && size.input.sizes.front() < 0;
  const double length = any_length ? kLength : 1;
  const double pass = 2 * kSlow * length * static_cast<double>(multiply_adds(spec)) + rank * rank;
  const double epoch = kPasses * pass * rows + kOfStep * std::max(1.0, rows / kBatch);
  // The cycles of cosine-log are worth a score when the last one has ended. It belongs to wide networks,
  // whose products run as fast as a large one.
  const double cycles =
      options.value("schedule", "") == "cosine-log" ? options.value("epochs", 0.0) / kSlow : 0;
  return {std::max(kEpochs, cycles) * epoch + 2 * pass * rows, 2 * pass * rows, pass,
          kOfWeight * length * static_cast<double>(multiply_adds(spec)) + 16 * rank * rank};
}

}  // namespace slimbayes
