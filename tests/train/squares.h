#pragma once

#include <gtest/gtest.h>
#include <unistd.h>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <functional>
#include <map>
#include <mutex>
#include <string>
#include <utility>
#include <vector>

#include "slimbayes/train/jobs.h"

namespace slimbayes {

namespace fs = std::filesystem;
using Names = std::vector<std::string>;

class JobsTest : public testing::Test {
 protected:
  void SetUp() override {
    folder_ = fs::path(testing::TempDir()) / ("jobs" + std::to_string(::getpid()));
    fs::remove_all(folder_);
    fs::create_directory(folder_);
  }
  void TearDown() override { fs::remove_all(folder_); }

  CheckpointPolicy policy(bool resume, std::string fingerprint = "abc") const {
    return {folder_ / "m.ckpt", resume, std::move(fingerprint)};
  }
  JobPlan plan(bool resume, int workers = 1, Callback* callback = nullptr) const {
    return {policy(resume), "toy", callback, workers, [](size_t job) { return std::to_string(job + 1); }};
  }
  void touch(const std::string& name) const { std::ofstream(folder_ / name) << "x"; }
  Names files() const {
    Names names;
    for (const auto& entry : fs::directory_iterator(folder_))
      names.push_back(entry.path().filename().string());
    std::ranges::sort(names);
    return names;
  }

  fs::path folder_;
};

/// Jobs whose result is the square of their number. They count how often each has run.
struct Squares {
  std::map<size_t, int> runs;
  std::mutex lock;
  std::function<void(size_t, const JobContext&)> first = [](size_t, const JobContext&) {};

  JobWork<int> work() {
    return {[this](size_t job, const JobContext& context) {
              {
                const std::scoped_lock held(lock);
                ++runs[job];
              }
              first(job, context);
              return static_cast<int>(job * job);
            },
            [](int result) {
              TensorFile file;
              file.metadata["square"] = std::to_string(result);
              return file;
            },
            [](size_t, const TensorFile& file) { return std::stoi(file.metadata.at("square")); },
            [](int) { return true; }};
  }
};

}  // namespace slimbayes
