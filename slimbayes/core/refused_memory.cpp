#include "slimbayes/core/refused_memory.h"

#include <string_view>

namespace slimbayes {

bool refused_memory(const c10::Error& error) {
  if (dynamic_cast<const c10::OutOfMemoryError*>(&error) != nullptr) return true;
  return std::string_view(error.what_without_backtrace()).find("can't allocate memory") !=
         std::string_view::npos;
}

}  // namespace slimbayes
