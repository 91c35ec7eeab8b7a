#include "slimbayes/data/table/cifar.h"

#include "tests/data/table/files.h"
#include "tests/real_data.h"

namespace slimbayes {
namespace {

using cifar = TableFiles;

/// Returns records whose label bytes count up to these largest values, as often as they fit, with grey
/// images.
std::string records(int count, std::initializer_list<int> largest) {
  std::string bytes;
  for (int i = 0; i < count; ++i) {
    for (int most : largest) bytes += static_cast<char>(i % (most + 1));
    bytes.append(kCifarPixels, '\x80');
  }
  return bytes;
}

TEST_F(cifar, labels_tell_the_format) {
  const auto format = [](const std::string& bytes) { return cifar_records(bytes)->format; };
  EXPECT_EQ(format(records(20, {9})), "cifar10");
  EXPECT_EQ(format(records(11, {10})), "cifar100");
  EXPECT_EQ(format(records(120, {19, 99})), "cifar100");
  EXPECT_EQ(cifar_records(records(120, {19, 99}))->count, 120);
  EXPECT_FALSE(cifar_records(records(120, {20, 99})));
  EXPECT_FALSE(cifar_records(records(101, {100})));
  EXPECT_FALSE(cifar_records(records(3, {9}) + "x"));
  EXPECT_FALSE(cifar_records(""));
}

TEST_F(cifar, read_table_says_which_format_reads_them) {
  expect_has(
      error_of(records(20, {9}), "batch.bin"),
      "received 'batch.bin', whose size and labels are those of 20 records of CIFAR-10; fit reads them "
      "with `.format=cifar10`");
  expect_has(error_of(records(20, {19, 19}), "BATCH"), "fit reads them with `.format=cifar100`");
  const std::string other = error_of("a,b\n1,2\n", "t.txt");
  expect_has(other,
             "ends in .csv, .csv.gz, .tsv, .tsv.gz, .parquet, .feather, .arrow or .ipc; received 't.txt'");
  expect_has(other, "rename or convert it (fit reads images in the layout of CIFAR with `.format=cifar10`");
  expect_has(error_of("no gzip", "t.bin.gz"), "rename or convert it");
  EXPECT_EQ(read("a,b\n1,2\n", "T.CSV").rows, 1);
  expect_has(error_of("a,b\n1,2\n", ".csv"), "expected a file name that ends in");
}

TEST_F(cifar, published_files) {
  for (const auto& [name, format] : {std::pair{"cifar10_test.bin.gz", "`.format=cifar10`"},
                                     {"cifar100_test.bin.gz", "`.format=cifar100`"}}) {
    const auto path = real_data(name);
    if (!path) continue;
    const std::string error = message([&] { read_table(*path); });
    expect_has(error, std::string("2000 records of "));
    EXPECT_TRUE(error.ends_with(format)) << error;
  }
}

}  // namespace
}  // namespace slimbayes
