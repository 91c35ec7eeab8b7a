#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <iterator>
#include <string_view>

namespace slimbayes {

/// The layout of the records of CamVid, road scenes with a class for each pixel: a label map of 96 x 128
/// bytes, then the red, the green and the blue plane of the image, all line by line. A label is the number of
/// a class, or kCamvidVoid.
inline constexpr int64_t kCamvidHeight = 96, kCamvidWidth = 128, kCamvidPixels = kCamvidHeight * kCamvidWidth;

/// The names of the classes by their numbers (Badrinarayanan, Kendall and Cipolla 2017, "SegNet").
inline constexpr std::array<std::string_view, 11> kCamvidClasses = {
    "Sky",        "Building", "Pole", "Road",       "Pavement", "Tree",
    "SignSymbol", "Fence",    "Car",  "Pedestrian", "Bicyclist"};

/// The label of a pixel without a class.
inline constexpr int64_t kCamvidVoid = std::ssize(kCamvidClasses);

/// Returns whether a file that begins with these bytes may hold CamVid records: the bytes hold a whole label
/// map, all of whose labels are known. No text does, because its characters are larger numbers.
bool begins_as_camvid(std::string_view head);

}  // namespace slimbayes
