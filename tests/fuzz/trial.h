#pragma once

#include <fmt/format.h>

#include <exception>
#include <filesystem>
#include <fstream>
#include <ios>
#include <stdexcept>
#include <string_view>

#include "slimbayes/core/check.h"
#include "slimbayes/storage/error.h"
#include "tests/storage/mutation.h"

// Using a mutant must end in a finite answer or in DataError, std::invalid_argument or NumericalError. Any
// other exception is a failure of the test.

namespace slimbayes::trial {

/// Returns false for an error that was meant for a user. Throws std::logic_error if it speaks of the JSON
/// library.
inline bool refused(const std::exception& error) {
  if (std::string_view(error.what()).find("json.exception") != std::string_view::npos)
    throw std::logic_error(fmt::format("the message '{}'", error.what()));
  return false;
}

/// Returns true if `use` returns, false if it throws an error meant for a user. Other exceptions pass
/// through.
template <class Use>
bool answers(Use use) {
  try {
    use();
    return true;
  } catch (const DataError& error) {
    return refused(error);
  } catch (const std::invalid_argument& error) {
    return refused(error);
  } catch (const NumericalError& error) {
    return refused(error);
  }
}

struct NotFinite : std::logic_error {
  using std::logic_error::logic_error;
};

inline void write(const std::filesystem::path& path, const Bytes& bytes) {
  std::ofstream out(path, std::ios::binary);
  out.write(reinterpret_cast<const char*>(bytes.data()), static_cast<std::streamsize>(bytes.size()));
}

}  // namespace slimbayes::trial
