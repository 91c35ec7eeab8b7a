#pragma once

#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace slimbayes {

/// What cells were perhaps meant to be, and the first that shows it.
struct Meant {
  std::string_view as =
      "";  // "numbers" (1,000 or $5 or 45%), "dates" (31.12.2021, Dec 2021), "times" (8:30); "": none
  std::string example = "";
};

/// What at least this share of the levels was perhaps meant to be.
Meant meant_as(std::span<const std::string> levels, double share = 0.9);

/// Pairs of levels that differ by upper and lower case (ASCII) or blanks alone: the first of its look,
/// another.
std::vector<std::pair<std::string, std::string>> lookalikes(std::span<const std::string> levels);

}  // namespace slimbayes
