#pragma once

namespace slimbayes::cli {

/// Returns the commit that the tool was built from, as cmake/Revision.cmake found it: "1a2b3c4",
/// "1a2b3c4-dirty", or "" if unknown.
const char* revision();

}  // namespace slimbayes::cli
