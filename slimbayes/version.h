#pragma once

#include "slimbayes/export.h"

namespace slimbayes {

/// "0.1.0"
SLIMBAYES_EXPORT const char* version();

}  // namespace slimbayes
