// The JSON form of ImageEncoder, as stored in the model file. from_json checks every value, because a model
// file may come from anywhere.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "slimbayes/catalog/json_reader.h"
#include "slimbayes/core/check.h"
#include "slimbayes/data/images/image_encoder.h"

namespace slimbayes {

namespace {

constexpr const char* kImageJson = "ImageEncoder::from_json";

/// Returns the list of finite numbers under this key. Throws std::invalid_argument for another value, and, if
/// `positive`, for a number that is not positive.
std::vector<double> number_list(const JsonReader& read, const char* key, bool positive) {
  std::vector<double> all;
  const nlohmann::json& list = read.value(key);
  if (!list.is_array()) refuse(kImageJson, fmt::format("a list of numbers in '{}'", key), "another value");
  for (const nlohmann::json& value : list) {
    if (!(value.is_number() && std::isfinite(value.get<double>()) && (!positive || value.get<double>() > 0)))
      refuse(kImageJson, fmt::format("{} numbers in '{}'", positive ? "positive" : "finite", key), "others",
             "the model file is damaged");
    all.push_back(value.get<double>());
  }
  return all;
}

/// Returns whether all texts are whole numbers from 0, as the names of classes without other names are.
bool are_numbers(const std::vector<std::string>& texts) {
  const auto is_digit = [](char c) { return c >= '0' && c <= '9'; };
  return std::ranges::all_of(texts, [&](const std::string& text) {
    return std::ranges::all_of(text, is_digit) && (text == "0" || text[0] != '0');
  });
}

}  // namespace

nlohmann::json ImageEncoder::to_json() const {
  const InputKind kind = schema_.task.grid ? InputKind::segmentation : InputKind::images;
  nlohmann::json json = {{"kind", name_of(kind)},
                         {"size", size_},
                         {"mean", mean_},
                         {"sd", sd_},
                         {"levels", schema_.task.levels}};
  if (named_) json["named"] = kind_name(*named_);
  return json;
}

ImageEncoder ImageEncoder::from_json(const nlohmann::json& json) {
  constexpr int64_t kMostPixels = int64_t{1} << 16;
  constexpr size_t kMostClasses = 255;  // that a byte of a label map can tell, and a label for void
  const JsonReader read(json, kImageJson);
  ImageEncoder encoder;
  Task& task = encoder.schema_.task;
  task.levels = read.texts("levels");
  const bool by_pixel = read.text("kind") == name_of(InputKind::segmentation);
  if (read.has("named")) encoder.named_ = kind_named(read.text("named"));
  for (double size : number_list(read, "size", true)) {
    if (!(size == std::floor(size) && size <= kMostPixels))
      refuse(kImageJson, "whole sizes of an image", fmt::format("{}", size), "the model file is damaged");
    encoder.size_.push_back(static_cast<int64_t>(size));
  }
  encoder.mean_ = number_list(read, "mean", false);
  encoder.sd_ = number_list(read, "sd", true);
  constexpr double kLeastSd = 1e-7, kMostSd = 255;  // of pixels from 0 to 255, or their divisor
  const auto of_pixels = [](double mean) { return mean >= 0 && mean <= 255; };
  const auto spread = [](double sd) { return sd >= kLeastSd && sd <= kMostSd; };
  const bool sane = encoder.size_.size() == 3 && std::ssize(encoder.mean_) == encoder.size_[0] &&
                    encoder.sd_.size() == encoder.mean_.size() && task.levels.size() >= 2 &&
                    are_class_names(task.levels) &&
                    (by_pixel || encoder.named_.has_value() || are_numbers(task.levels)) &&
                    (!by_pixel || task.levels.size() <= kMostClasses) &&
                    std::ranges::all_of(encoder.mean_, of_pixels) && std::ranges::all_of(encoder.sd_, spread);
  check(sane, kImageJson,
        "three sizes, a mean and an sd for each channel, and different names of the classes", "others",
        "the model file is damaged");
  encoder.complete_schema(by_pixel);
  return encoder;
}

}  // namespace slimbayes
