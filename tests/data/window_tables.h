#pragma once

#include <cstdint>
#include <memory>
#include <utility>
#include <vector>

#include "slimbayes/data/window_table.h"

namespace slimbayes {

/// Returns these windows of the table, with copies of both.
inline WindowTable window_table_of(const Table& table, const Windows& windows, std::vector<int64_t> chosen) {
  return {std::make_shared<const Table>(table), std::make_shared<const Windows>(windows), std::move(chosen)};
}

}  // namespace slimbayes
