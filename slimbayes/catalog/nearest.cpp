// Suggests the name that a user probably meant. The distance between two words is the restricted
// Damerau-Levenshtein distance: the number of letters to insert, delete or replace and of neighbours to swap.
// A pair of words takes O(|a| |b|) operations.
#include "slimbayes/catalog/nearest.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>

#include "slimbayes/storage/printable.h"

namespace slimbayes {
namespace {

size_t edit_distance(std::string_view a, std::string_view b) {
  std::vector<std::vector<size_t>> cost(a.size() + 1, std::vector<size_t>(b.size() + 1));
  for (size_t i = 0; i <= a.size(); ++i) {
    for (size_t j = 0; j <= b.size(); ++j) {
      if (i == 0 || j == 0) {
        cost[i][j] = i + j;
        continue;
      }
      const size_t replaced = cost[i - 1][j - 1] + (a[i - 1] != b[j - 1]);
      cost[i][j] = std::min({cost[i - 1][j] + 1, cost[i][j - 1] + 1, replaced});
      const bool swapped = i > 1 && j > 1 && a[i - 1] == b[j - 2] && a[i - 2] == b[j - 1];
      if (swapped) cost[i][j] = std::min(cost[i][j], cost[i - 2][j - 2] + 1);
    }
  }
  return cost[a.size()][b.size()];
}

}  // namespace

std::string nearest_hint(std::string_view word, const std::vector<std::string>& known) {
  if (known.empty()) return "there are none";
  const std::string_view bounded = word.substr(0, 64);  // limits the time for a very long word
  size_t best = std::string::npos;
  const std::string* nearest = &known.front();
  for (const std::string& candidate : known) {
    const bool begins = bounded.size() >= 3 && candidate.starts_with(bounded);
    const size_t distance = begins ? 1 : edit_distance(bounded, candidate);
    if (distance < best) best = distance, nearest = &candidate;
  }
  const size_t longer = std::max(bounded.size(), nearest->size());
  if (best <= std::max<size_t>(2, bounded.size() / 3) && 2 * best <= longer)
    return fmt::format("did you mean '{}'?", foreign_text(printable(*nearest)));
  std::vector<std::string> named;
  for (size_t i = 0; i < std::min<size_t>(known.size(), 30); ++i)
    named.push_back(foreign_text(printable(known[i])));
  return fmt::format("known: {}{}", fmt::join(named, ", "), named.size() == known.size() ? "" : ", ...");
}

}  // namespace slimbayes
