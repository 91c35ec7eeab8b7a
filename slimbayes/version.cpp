#include "slimbayes/version.h"

namespace slimbayes {

const char* version() { return SLIMBAYES_VERSION; }

}  // namespace slimbayes
