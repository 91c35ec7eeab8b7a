#pragma once

#include <gtest/gtest.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>
#include <functional>
#include <string>

#include "slimbayes/data/table/table.h"
#include "slimbayes/storage/error.h"

namespace slimbayes {

/// Returns the path of a file that another library wrote.
inline std::filesystem::path golden(const std::string& name) {
  return std::filesystem::path(SLIMBAYES_SOURCE_DIR) / "tests/data/table/golden" / name;
}

/// A fixture with a temporary folder of its own for each test.
struct TableFiles : testing::Test {
  std::filesystem::path folder = std::filesystem::path(testing::TempDir()) /
                                 ("slimbayes_table_" + std::to_string(getpid()) + "_" +
                                  testing::UnitTest::GetInstance()->current_test_info()->name());

  TableFiles() { std::filesystem::create_directories(folder); }
  ~TableFiles() override { std::filesystem::remove_all(folder); }

  std::filesystem::path write(const std::string& name, const std::string& content) const {
    std::ofstream(folder / name, std::ios::binary) << content;
    return folder / name;
  }
  Table read(const std::string& content, const std::string& name = "t.csv") const {
    return read_table(write(name, content));
  }
  /// Returns the message of the DataError that reading throws, without the folder, or "no error".
  std::string error_of(const std::string& content, const std::string& name = "t.csv") const {
    return message([&] { read(content, name); });
  }
  std::string message(const std::function<void()>& action) const {
    try {
      action();
    } catch (const DataError& error) {
      std::string text = error.what(), prefix = folder.string() + "/";
      EXPECT_EQ(text.find('\n'), std::string::npos) << text;
      return text.starts_with(prefix) ? text.substr(prefix.size()) : text;
    } catch (const std::exception& error) {
      return std::string("not a DataError: ") + error.what();
    }
    return "no error";
  }
};

inline void expect_starts(const std::string& text, const std::string& prefix) {
  EXPECT_TRUE(text.starts_with(prefix)) << text << "\n  should start with\n" << prefix;
}

inline void expect_has(const std::string& text, const std::string& part) {
  EXPECT_NE(text.find(part), std::string::npos) << text << "\n  should hold\n" << part;
}

}  // namespace slimbayes
