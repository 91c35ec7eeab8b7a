#include "slimbayes/families/method.h"

#include <stdexcept>

namespace slimbayes {

std::unique_ptr<Fitted> Fitted::updated(const Dataset&, const Dataset&) const {
  throw std::invalid_argument(
      "[update] expected a method with an exact posterior; received one without; fit it again on all rows");
}

}  // namespace slimbayes
