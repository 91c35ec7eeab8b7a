#include "slimbayes/data/table/camvid.h"

#include <algorithm>

namespace slimbayes {

bool begins_as_camvid(std::string_view head) {
  if (std::ssize(head) < kCamvidPixels) return false;
  return std::ranges::all_of(head.substr(0, kCamvidPixels),
                             [](char label) { return static_cast<unsigned char>(label) <= kCamvidVoid; });
}

}  // namespace slimbayes
