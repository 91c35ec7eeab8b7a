#pragma once

#include <c10/util/Exception.h>

namespace slimbayes {

/// Returns whether this error of the tensor library says that the system, or a device, refused memory. Other
/// code gets std::bad_alloc for that.
bool refused_memory(const c10::Error& error);

}  // namespace slimbayes
