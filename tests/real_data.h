#pragma once

#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <optional>
#include <string>

namespace slimbayes {

/// Returns the path of a file of the public benchmark data, in the folder that SLIMBAYES_DATA names or else
/// in ../shared/data. If the file is absent, prints which check was not made and returns nothing; the test
/// passes.
inline std::optional<std::filesystem::path> real_data(const std::string& name) {
  const char* folder = std::getenv("SLIMBAYES_DATA");
  std::filesystem::path path = (folder ? std::filesystem::path(folder)
                                       : std::filesystem::path(SLIMBAYES_SOURCE_DIR) / "../shared/data") /
                               name;
  if (std::filesystem::exists(path)) return path;
  std::printf("real-data test not run: no %s (set SLIMBAYES_DATA to the folder that holds it)\n",
              path.c_str());
  return std::nullopt;
}

}  // namespace slimbayes
