#pragma once

#include <ATen/ATen.h>
#include <fmt/format.h>

#include <cmath>
#include <cstdint>
#include <string>
#include <vector>

#include "slimbayes/data/images/images.h"
#include "slimbayes/data/table/csv.h"
#include "tests/data/images/label_maps.h"

// Data of the other kinds of input than a table's rows, as small as a fit allows.

namespace slimbayes::trial {

/// Two series of `hours` each, long enough for the hour of the day to be an input; a missing cell, and a
/// target for each of three likelihoods.
inline Table small_series(int64_t hours = 72) {
  std::string csv = "when,place,x,y,label,count\n";
  for (const char* place : {"north", "south"}) {
    for (int64_t i = 0; i < hours; ++i) {
      const auto u = static_cast<double>(i) / 5;
      csv += fmt::format("2024-01-{:02}T{:02}:00:00,{},{},{},{},{}\n", 1 + i / 24, i % 24, place,
                         i == 5 ? "" : fmt::format("{}", std::sin(u)),
                         std::sin(u + 0.2) + 0.1 * static_cast<double>(i % 5),
                         i % 3 == 0   ? "low"
                         : i % 3 == 1 ? "mid"
                                      : "high",
                         (i * 5) % 7);
    }
  }
  return parse_csv(csv, ',', {"series.csv"});
}

/// Texts of different lengths, one of them missing, with a target for each of two likelihoods.
inline Table small_reviews(int64_t rows = 40) {
  constexpr const char* kOther[] = {"the film", "a story of people", "it was, they say,", "caf\u00e9 scenes"};
  std::string csv = "text,stars,yes\n";
  for (int64_t i = 0; i < rows; ++i) {
    const std::string text = fmt::format("{} {} number {}", i % 2 ? "Good" : "bad", kOther[i % 4], i);
    csv += fmt::format("{},{},{}\n", i == 7 ? "" : fmt::format("\"{}\"", text),
                       (i % 2 ? 1.0 : -1.0) + 0.1 * static_cast<double>(i % 5), i % 2 ? "yes" : "no");
  }
  return parse_csv(csv, ',', {"reviews.csv"});
}

/// Images of two channels that are higher than wide, all different; the class is where they are bright. No
/// image has the label 2, so that labels and numbers of classes differ.
inline Images small_images(int64_t n = 60) {
  constexpr int64_t kChannels = 2, kHigh = 7, kWide = 6;
  std::vector<uint8_t> pixels;
  std::vector<int64_t> labels;
  for (int64_t i = 0; i < n; ++i) {
    const int64_t bright = i % 3;
    labels.push_back(bright == 2 ? 3 : bright);
    for (int64_t c = 0; c < kChannels; ++c) {
      for (int64_t y = 0; y < kHigh; ++y) {
        for (int64_t x = 0; x < kWide; ++x)
          pixels.push_back(
              static_cast<uint8_t>((i * 37 + c * 11 + y * 17 + x * 23) % 60 + (y / 2 == bright ? 150 : 0)));
      }
    }
  }
  return {"small-images-idx3", at::tensor(pixels, at::kByte).view({n, kChannels, kHigh, kWide}),
          at::tensor(labels, at::kLong)};
}

}  // namespace slimbayes::trial
