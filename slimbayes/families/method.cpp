#include "slimbayes/families/method.h"

#include <stdexcept>

namespace slimbayes {

namespace {

[[noreturn]] void refuse_change(const char* change) {
  throw std::invalid_argument(
      std::string("[") + change +
      "] expected a method with an exact posterior; received one without; fit it again on all rows");
}

}  // namespace

std::unique_ptr<Fitted> Fitted::updated(const Dataset&, const Dataset&) const { refuse_change("update"); }
std::unique_ptr<Fitted> Fitted::prior() const { refuse_change("shard"); }
std::unique_ptr<Fitted> Fitted::merged(const Fitted&) const { refuse_change("merge"); }

}  // namespace slimbayes
