// The JSON form of ImageEncoder, as stored in the model file. from_json checks every value, because a model
// file may come from anywhere.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "slimbayes/core/check.h"
#include "slimbayes/core/json_reader.h"
#include "slimbayes/data/image_encoder.h"

namespace slimbayes {

namespace {

constexpr const char* kImageJson = "ImageEncoder::from_json";

/// Returns the list of finite numbers under this key. Throws std::invalid_argument for another value, and, if
/// `positive`, for a number that is not positive.
std::vector<double> number_list(const JsonReader& read, const char* key, bool positive) {
  std::vector<double> all;
  const nlohmann::json& list = read.value(key);
  check(list.is_array(), kImageJson, fmt::format("a list of numbers in '{}'", key), "another value");
  for (const nlohmann::json& value : list) {
    check(value.is_number() && std::isfinite(value.get<double>()) && (!positive || value.get<double>() > 0),
          kImageJson, fmt::format("{} numbers in '{}'", positive ? "positive" : "finite", key), "others",
          "the model file is damaged");
    all.push_back(value.get<double>());
  }
  return all;
}

/// Returns whether these labels are whole numbers without leading zeros, in ascending order.
/// ImageEncoder::target relies on that order.
bool are_class_numbers(const std::vector<std::string>& levels) {
  const auto is_label = [](const std::string& level) {
    return !level.empty() && level.size() <= 18 && (level == "0" || level[0] != '0') &&
           std::ranges::all_of(level, [](char c) { return c >= '0' && c <= '9'; });
  };
  // Without leading zeros, the longer label is the larger number.
  const auto ascend = [](const std::string& a, const std::string& b) {
    return a.size() < b.size() || (a.size() == b.size() && a < b);
  };
  const auto not_ascending = [&](const std::string& a, const std::string& b) { return !ascend(a, b); };
  return std::ranges::all_of(levels, is_label) &&
         std::ranges::adjacent_find(levels, not_ascending) == levels.end();
}

/// Returns whether these are names of the classes of label maps: all different, and no more than a byte can
/// tell.
bool are_class_names(std::vector<std::string> levels) {
  constexpr size_t kMost = 255;  // and a label for void
  std::ranges::sort(levels);
  return levels.size() <= kMost && !levels.front().empty() &&
         std::ranges::adjacent_find(levels) == levels.end();
}

}  // namespace

nlohmann::json ImageEncoder::to_json() const {
  const InputKind kind = schema_.task.grid ? InputKind::segmentation : InputKind::images;
  return {{"kind", name_of(kind)},
          {"size", size_},
          {"mean", mean_},
          {"sd", sd_},
          {"levels", schema_.task.levels}};
}

ImageEncoder ImageEncoder::from_json(const nlohmann::json& json) {
  constexpr int64_t kMostPixels = int64_t{1} << 16;
  const JsonReader read(json, kImageJson);
  ImageEncoder encoder;
  Task& task = encoder.schema_.task;
  task.levels = read.texts("levels");
  const bool by_pixel = read.text("kind") == name_of(InputKind::segmentation);
  for (double size : number_list(read, "size", true)) {
    check(size == std::floor(size) && size <= kMostPixels, kImageJson, "whole sizes of an image",
          fmt::format("{}", size), "the model file is damaged");
    encoder.size_.push_back(static_cast<int64_t>(size));
  }
  encoder.mean_ = number_list(read, "mean", false);
  encoder.sd_ = number_list(read, "sd", true);
  constexpr double kLeastSd = 1e-7, kMostSd = 128;  // of pixels from 0 to 255
  const auto of_pixels = [](double mean) { return mean >= 0 && mean <= 255; };
  const auto spread = [](double sd) { return sd >= kLeastSd && sd <= kMostSd; };
  const bool sane = encoder.size_.size() == 3 && std::ssize(encoder.mean_) == encoder.size_[0] &&
                    encoder.sd_.size() == encoder.mean_.size() && task.levels.size() >= 2 &&
                    (by_pixel ? are_class_names(task.levels) : are_class_numbers(task.levels)) &&
                    std::ranges::all_of(encoder.mean_, of_pixels) && std::ranges::all_of(encoder.sd_, spread);
  check(sane, kImageJson,
        "three sizes, a mean and an sd for each channel, and the names of the classes, or their numbers in "
        "ascending order",
        "others", "the model file is damaged");
  encoder.complete_schema(by_pixel);
  return encoder;
}

}  // namespace slimbayes
