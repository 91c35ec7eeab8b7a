#include "slimbayes/data/input_scores.h"

#include <ATen/ATen.h>

#include "tests/data/tables.h"

namespace slimbayes {
namespace {

Images random_images(int64_t n, uint64_t seed) {
  Images images{"images", (255 * Stream(seed).uniform({n, 2, 3, 3})).to(at::kByte),
                at::arange(n, at::kLong).remainder(2)};
  images.pixels.select(1, 0).select(1, 0).fill_(200);  // a row that is alike in all
  return images;
}

TEST(InputScores, OfImagesAreDistancesFromTheMeanImage) {
  const Images train = random_images(700, 1), fresh = random_images(5, 2);
  const ImageEncoder encoder = ImageEncoder::fit(train);
  const at::Tensor mean = pixel_mean(encoder.dataset(train, true));
  const at::Tensor pixels = train.pixels.to(at::kDouble);
  const at::Tensor sd = pixels.transpose(0, 1).reshape({2, -1}).std(1, false).view({1, 2, 1, 1});
  const at::Tensor z = (fresh.pixels.to(at::kDouble) - pixels.mean(0)) / sd;
  const Scores scores = input_scores(encoder, fresh, mean);
  EXPECT_EQ(scores.size(), 1u);
  EXPECT_TRUE(at::allclose(scores.at("distance"), z.square().mean({1, 2, 3}).sqrt(), 1e-5, 1e-6));
  EXPECT_THROW(input_scores(encoder, fresh, {}), std::invalid_argument);
}

TEST(InputScores, OfATableAreThoseOfOutside) {
  const Table table = table_of({numbers("x", {-1, 1, 3, 9}), numbers("y", {1, 2, 3, 4})});
  const InputEncoder encoder = Encoder::fit(table, {0, 1, 2}, {"y"});
  const Scores scores = input_scores(encoder, table, {});
  const auto far = outside(encoder, table);
  for (int64_t i = 0; i < 4; ++i) {
    EXPECT_EQ(scores.at("outside")[i].item<double>(), far->beyond[static_cast<size_t>(i)]);
    EXPECT_EQ(scores.at("distance")[i].item<double>(), far->distance[static_cast<size_t>(i)]);
  }
}

TEST(InputScores, OfWindowsAreThoseOfTheirRows) {
  std::vector<double> time, x, y;
  for (int i = 0; i < 40; ++i) {
    time.push_back(i);
    x.push_back(std::sin(i));
    y.push_back(std::cos(i));
  }
  x[37] = 50;
  const Table table = table_of({numbers("t", time), numbers("x", x), numbers("y", y)});
  const WindowOptions options{3, 1, {"t"}};
  const auto shared = std::make_shared<const Table>(table);
  const auto windows = std::make_shared<const Windows>(find_windows(table, options));
  std::vector<int64_t> train;
  for (int64_t i = 0; i < 20; ++i) train.push_back(i);
  const WindowEncoder encoder = WindowEncoder::fit({shared, windows, train}, {"y"});
  const auto rows = outside(encoder.rows(), table);
  const WindowTable chosen{shared, windows, {5, 34, 35, 37}};
  const Scores scores = input_scores(encoder, chosen, {});
  for (int64_t i = 0; i < 4; ++i) {
    const auto first = static_cast<size_t>(chosen.selected[static_cast<size_t>(i)]);  // rows are in order
    double most = 0, sum = 0;
    for (size_t row = first; row < first + 3; ++row) {
      most = std::max(most, rows->beyond[row]);
      sum += rows->distance[row] * rows->distance[row];
    }
    EXPECT_NEAR(scores.at("outside")[i].item<double>(), most, 1e-12);
    EXPECT_NEAR(scores.at("distance")[i].item<double>(), std::sqrt(sum / 3), 1e-12);
  }
  EXPECT_EQ(scores.at("outside")[0].item<double>(), 0);
  EXPECT_GT(scores.at("outside")[2].item<double>(), 40);
  EXPECT_THROW(input_scores(encoder, table, {}), std::invalid_argument);
}

}  // namespace
}  // namespace slimbayes
