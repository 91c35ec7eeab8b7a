#pragma once

namespace slimbayes::cli {

/// Returns the git commit from which the tool was built: "1a2b3c4", "1a2b3c4-dirty" for a changed working
/// tree, or "" if unknown. cmake/Revision.cmake finds it.
const char* revision();

}  // namespace slimbayes::cli
