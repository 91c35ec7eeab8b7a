#include "slimbayes/method/fit_jobs.h"

#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "slimbayes/train/callback.h"

namespace slimbayes {
namespace {

class Notes : public Callback {
 public:
  void note(const std::string& sentence) override { all.push_back(sentence); }
  std::vector<std::string> all;
};

// 1,000 rows of 10 columns: two copies of 80,000 bytes, and what the method takes.
const FitSize kSize{1000, {{10}}};

TEST(WorkersInMemory, AsManyAsFourFifthsOfTheMemoryHold) {
  EXPECT_EQ(workers_in_memory(4, kSize, 40'000, 1'000'000), 4);
  EXPECT_EQ(workers_in_memory(5, kSize, 40'000, 1'000'000), 4);
  EXPECT_EQ(workers_in_memory(5, kSize, 240'000, 1'000'000), 2);
  EXPECT_EQ(workers_in_memory(5, kSize, 1e12, 1'000'000), 1);  // one fit is tried in any case
}

TEST(WorkersAtHand, ANoteSaysWhenMemoryLimitsThem) {
  Notes notes;
  const std::vector<MethodChoice> fits{{"ridge", nlohmann::json::object()}};
  const uint64_t each = 2 * 8 * 1000 * 10 + static_cast<uint64_t>(most_bytes(kSize, fits));
  EXPECT_EQ(workers_at_hand(3, kSize, fits, &notes, 8 * each), 3);
  EXPECT_TRUE(notes.all.empty());
  EXPECT_EQ(workers_at_hand(3, kSize, fits, &notes, 3 * each), 2);
  ASSERT_EQ(notes.all.size(), 1U);
  EXPECT_EQ(notes.all[0].find("2 fits beside each other instead of 3: "), 0U) << notes.all[0];
  EXPECT_EQ(workers_at_hand(3, kSize, fits, nullptr, 3 * each), 2);
}

}  // namespace
}  // namespace slimbayes
