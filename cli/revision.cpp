#include "cli/revision.h"

#include "slimbayes_revision.h"

namespace slimbayes::cli {

const char* revision() { return SLIMBAYES_REVISION; }

}  // namespace slimbayes::cli
