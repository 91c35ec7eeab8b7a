#include "slimbayes/methods/weight_space/token_counts.h"

#include <ATen/ATen.h>
#include <gtest/gtest.h>

#include "slimbayes/bayes/random_weights.h"
#include "slimbayes/nn/weights.h"

namespace slimbayes {
namespace {

constexpr int64_t kVocabulary = 8;

/// Six texts of up to three tokens; 0 is padding, and no text has the tokens 5 and 7.
Dataset texts() {
  const at::Tensor x =
      at::tensor({1, 2, 0, 3, 3, 1, 4, 0, 0, 2, 6, 1, 6, 6, 0, 1, 0, 0}, at::kLong).view({6, 3});
  Batch rows{{x}, at::zeros({6}, at::kDouble), x != 0};
  Schema schema;
  schema.input = {{3}, /*tokens=*/true};
  schema.tokens = kVocabulary;
  return dataset_of(schema, std::move(rows));
}

std::vector<at::Tensor> batches() {
  return {at::tensor({0, 3}, at::kLong), at::tensor({1, 4}, at::kLong), at::tensor({5, 2}, at::kLong)};
}

TEST(TokenCounts, CountTheBatchesOfEachToken) {
  TokenCounts counts(texts(), kVocabulary);
  EXPECT_TRUE(at::equal(counts.unseen(), at::tensor({0, 5, 7}, at::kLong)));
  counts.count(batches());
  // Token 1 is in all three batches, 2 in the first, 3 in the second, 4 in the third, 6 in the first two.
  const at::Tensor weights = counts.row_weights(at::tensor({0, 1, 2, 3, 4, 6}, at::kLong));
  EXPECT_TRUE(at::allclose(weights, at::tensor({1.0, 1.0, 3.0, 3.0, 3.0, 1.5}, at::kFloat)));
  counts.count(batches());  // counts anew
  EXPECT_TRUE(at::equal(weights, counts.row_weights(at::tensor({0, 1, 2, 3, 4, 6}, at::kLong))));
}

// An epoch counts the KL of each seen row as often as that of a weight outside the embedding: once per batch.
TEST(TokenCounts, AnEpochCountsTheKlOfTheSeenRowsOncePerBatch) {
  const Network network({{{3}, true}, {Embedding{kVocabulary, 4}, MeanOverSteps{}, Linear{2}}}, "net");
  for (const char* structure : {"mean_field", "low_rank", "rank_one"}) {
    const RandomWeights random(
        network.layout(),
        plan_for_all(network.layout(), {.structure = structure, .rank = structure[0] == 'l' ? 2 : 0}));
    Weights weights;
    for (const ParameterSpec& one : random.parameters(Stream(2))) weights[one.name] = one.start;
    const WeightPosterior q = random.bound(as_type(weights, at::kDouble));
    const Dataset rows = texts();
    TokenCounts counts(rows, kVocabulary);
    counts.count(batches());
    double epoch = 0;
    for (const at::Tensor& batch : batches()) {
      const at::Tensor tokens = tokens_of(rows.rows(batch).inputs[0]);
      epoch += q.kl(q.draw(Stream(1), {tokens}), {counts.row_weights(tokens)}).item<double>();
    }
    // Of the rows, the padding's is in every batch and counts, too; 5 and 7 do not.
    const WeightDraw all = q.draw(Stream(1));
    const at::Tensor seen = at::tensor({1.0, 1.0, 1.0, 1.0, 1.0, 0.0, 1.0, 0.0}, at::kDouble);
    EXPECT_NEAR(epoch, 3 * q.kl(all, {seen}).item<double>(), 1e-9 * epoch) << structure;
  }
}

}  // namespace
}  // namespace slimbayes
