#include <ATen/ATen.h>
#include <gtest/gtest.h>

#include "slimbayes/data/dataset.h"
#include "slimbayes/data/rows/row_hash.h"
#include "slimbayes/encoding/text.h"
#include "tests/data/tables.h"

namespace slimbayes {
namespace {

Dataset numbered(int64_t from, int64_t to) {
  const at::Tensor x = at::arange(from, to, at::kFloat).unsqueeze(1);
  return dataset_of({{}, {"x"}}, {{x}, 10 * x.squeeze(1).to(at::kDouble)});
}

/// Texts of tokens with padding, as TextSource gives them.
class Sentences : public Source {
 public:
  explicit Sentences(std::vector<std::vector<int64_t>> texts) : texts_(std::move(texts)) {}
  int64_t size() const override { return std::ssize(texts_); }
  Batch rows(const at::Tensor& indices, const RowContext&) const override {
    int64_t longest = 1;
    for (int64_t i = 0; i < indices.size(0); ++i)
      longest = std::max<int64_t>(longest, std::ssize(texts_[indices[i].item<int64_t>()]));
    at::Tensor tokens = at::zeros({indices.size(0), longest}, at::kLong),
               mask = at::zeros_like(tokens).to(at::kBool);
    for (int64_t i = 0; i < indices.size(0); ++i) {
      const auto& text = texts_[indices[i].item<int64_t>()];
      tokens[i].narrow(0, 0, std::ssize(text)).copy_(at::tensor(text, at::kLong));
      mask[i].narrow(0, 0, std::ssize(text)).fill_(true);
    }
    return {{tokens}, at::zeros({indices.size(0)}, at::kDouble), mask};
  }
  at::Tensor lengths() const override {
    std::vector<int64_t> all;
    for (const auto& text : texts_) all.push_back(std::ssize(text));
    return at::tensor(all, at::kLong);
  }

 private:
  std::vector<std::vector<int64_t>> texts_;
};

TEST(Joined, RowsComeFromBothInTheOrderAsked) {
  const Dataset all = joined(numbered(0, 4), numbered(4, 9));
  EXPECT_EQ(all.size(), 9);
  for (const std::vector<int64_t>& asked :
       std::vector<std::vector<int64_t>>{{8, 0, 5, 3, 3}, {1, 2}, {7, 4}, {}}) {
    const at::Tensor index = at::tensor(asked, at::kLong);
    const Batch rows = all.rows(index);
    EXPECT_TRUE(at::equal(rows.inputs[0].squeeze(1), index.to(at::kFloat)));
    EXPECT_TRUE(at::equal(rows.target, 10 * index.to(at::kDouble)));
  }
  EXPECT_EQ(joined({}, numbered(0, 3)).size(), 3);
  EXPECT_EQ(joined(numbered(0, 3), {}).size(), 3);
}

TEST(Joined, RowsAreFixedWithoutPadding) {
  const auto fixed = [](const Dataset& a, const Dataset& b) { return joined(a, b).source->fixed_rows(); };
  const Dataset table = numbered(0, 4);
  EXPECT_TRUE(fixed(table, numbered(4, 9)));
  EXPECT_TRUE(fixed(table.subset(at::arange(2)), table.subset(at::arange(0))));
  const at::Tensor x = at::ones({3, 1});
  const Dataset masked = dataset_of({{}, {"x"}}, {{x}, at::zeros({3}, at::kDouble), x.to(at::kBool)});
  EXPECT_TRUE(masked.source->fixed_rows());
  EXPECT_FALSE(fixed(masked, masked));
  EXPECT_FALSE(fixed(table, dataset_of({{}, {"x"}}, {{x}})));  // rows without targets
}

/// Rows of one random number, drawn from the stream by the row's index as an augmentation is.
class Varied : public Source {
 public:
  int64_t size() const override { return 3; }
  Batch rows(const at::Tensor& indices, const RowContext& context) const override {
    at::Tensor x = at::empty({indices.size(0), 1}, at::kDouble);
    for (int64_t i = 0; i < indices.size(0); ++i)
      x[i] = context.stream.split(static_cast<uint64_t>(indices[i].item<int64_t>())).normal({1});
    return {{x}, x.squeeze(1)};
  }
};

TEST(Joined, TheAugmentationOfARowDoesNotDependOnItsBatch) {
  const Dataset all = joined({{}, std::make_shared<Varied>()}, {{}, std::make_shared<Varied>()});
  const RowContext context{true, Stream(3)};
  const at::Tensor whole = all.source->rows(at::arange(6), context).target;
  for (int64_t i = 0; i < 6; ++i)
    EXPECT_TRUE(at::equal(all.source->rows(at::tensor({i}, at::kLong), context).target[0], whole[i])) << i;
  EXPECT_FALSE(whole[0].equal(whole[3]));  // the first rows of the two parts
}

TEST(Joined, TextsArePaddedAlike) {
  const Dataset a{{}, std::make_shared<Sentences>(std::vector<std::vector<int64_t>>{{5}, {6, 7}})},
      b{{}, std::make_shared<Sentences>(std::vector<std::vector<int64_t>>{{1, 2, 3}})};
  const Dataset all = joined(a, b);
  const Batch rows = all.rows(at::tensor({2, 0}, at::kLong));
  EXPECT_TRUE(at::equal(rows.inputs[0], at::tensor({1, 2, 3, 5, 0, 0}, at::kLong).view({2, 3})));
  EXPECT_TRUE(at::equal(rows.mask.sum(1), at::tensor({3, 1}, at::kLong)));
  EXPECT_TRUE(at::equal(all.source->lengths(), at::tensor({1, 2, 3}, at::kLong)));
}

TEST(RowHash, DependsOnTheRowAlone) {
  const Dataset all = joined(numbered(0, 1500), numbered(700, 710));
  const std::vector<int64_t> hashes = row_hashes(all);
  EXPECT_EQ(std::vector<int64_t>(hashes.end() - 10, hashes.end()),
            std::vector<int64_t>(hashes.begin() + 700, hashes.begin() + 710));
  std::vector<int64_t> distinct(hashes.begin(), hashes.begin() + 1500);
  std::ranges::sort(distinct);
  EXPECT_EQ(std::ranges::adjacent_find(distinct), distinct.end());
  // The padding of a text depends on its batch and does not count.
  using Texts = std::vector<std::vector<int64_t>>;
  const Texts texts = {{5}, {6, 7}, {1, 2, 3}};
  const Dataset many{{}, std::make_shared<Sentences>(texts)},
      one{{}, std::make_shared<Sentences>(Texts{texts[0]})};
  EXPECT_EQ(row_hashes(many)[0], row_hashes(one)[0]);
}

}  // namespace
}  // namespace slimbayes
