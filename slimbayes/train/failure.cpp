#include "slimbayes/train/failure.h"

#include <c10/util/Exception.h>

#include <new>
#include <stdexcept>

#include "slimbayes/core/check.h"
#include "slimbayes/core/refused_memory.h"

namespace slimbayes {

std::optional<std::string> failure_of(const std::exception_ptr& thrown) {
  if (!thrown) return {};
  try {
    std::rethrow_exception(thrown);
  } catch (const NumericalError& error) {
    return error.what();
  } catch (const std::invalid_argument& error) {
    return error.what();
  } catch (const std::bad_alloc&) {
    return "out of memory";
  } catch (const c10::Error& error) {
    if (refused_memory(error)) return "out of memory";
    return {};
  } catch (...) {
    return {};
  }
}

bool is_numerical(const std::exception_ptr& thrown) {
  try {
    std::rethrow_exception(thrown);
  } catch (const NumericalError&) {
    return true;
  } catch (...) {
    return false;
  }
}

}  // namespace slimbayes
