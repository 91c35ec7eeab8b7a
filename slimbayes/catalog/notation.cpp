#include "slimbayes/catalog/notation.h"

#include "slimbayes/catalog/fit_options.h"

namespace slimbayes {

Notation notation_of(const FitOptions& o) { return {o.thousands, o.decimal}; }

}  // namespace slimbayes
