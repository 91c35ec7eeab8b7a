#pragma once

namespace slimbayes::cli {

/// The commit that the tool was built from, as cmake/Revision.cmake found it: "1a2b3c4", "1a2b3c4-dirty" or
/// "".
const char* revision();

}  // namespace slimbayes::cli
