#pragma once

namespace slimbayes {

/// "0.1.0"
const char* version();

}  // namespace slimbayes
