#include "slimbayes/train/collective.h"

#include <gtest/gtest.h>

#include <stdexcept>

#include "tests/train/thread_ranks.h"

namespace slimbayes {
namespace {

TEST(Collective, RankZeroTellsItsNumbersAndBytes) {
  const std::vector<std::byte> given = {std::byte{7}, std::byte{0}, std::byte{255}};
  const auto thrown = run_ranks(3, [&](const Collective& ranks) {
    const bool first = ranks.rank() == 0;
    EXPECT_EQ(broadcast_number(ranks, ranks.rank() + int64_t{5}), 5);
    EXPECT_EQ(broadcast_number(ranks, static_cast<double>(ranks.rank()) - 0.25), -0.25);
    EXPECT_EQ(broadcast_bytes(ranks, first ? std::optional(given) : std::nullopt), given);
    EXPECT_EQ(broadcast_bytes(ranks, first ? std::nullopt : std::optional(given)), std::nullopt);
    EXPECT_EQ(broadcast_bytes(ranks, std::vector<std::byte>()), std::vector<std::byte>());
  });
  EXPECT_EQ(thrown, std::vector<std::string>(3, ""));
}

TEST(Collective, GathersTextsOfAnyLength) {
  const auto thrown = run_ranks(3, [&](const Collective& ranks) {
    const std::string own(static_cast<size_t>(ranks.rank()), 'x');
    EXPECT_EQ(gather_texts(ranks, own), (std::vector<std::string>{"", "x", "xx"}));
    EXPECT_EQ(gather_texts(ranks, ""), std::vector<std::string>(3, ""));
  });
  EXPECT_EQ(thrown, std::vector<std::string>(3, ""));
}

TEST(Collective, SharesOfRowsFollowEachOther) {
  for (const int64_t n : {0, 1, 2, 7, 1000}) {
    std::vector<std::pair<int64_t, int64_t>> shares(4);
    run_ranks(
        4, [&](const Collective& ranks) { shares[static_cast<size_t>(ranks.rank())] = share_of(ranks, n); });
    EXPECT_EQ(shares[0].first, 0);
    EXPECT_EQ(shares[3].second, n);
    for (size_t r = 0; r < 4; ++r) {
      EXPECT_LE(shares[r].second - shares[r].first, n / 4 + 1);
      EXPECT_EQ(shares[r].first, r == 0 ? 0 : shares[r - 1].second);
    }
  }
}

TEST(OnAllRanks, ThrowsTheKindOfTheRankThatFailed) {
  const auto thrown = run_ranks(3, [&](const Collective& ranks) {
    const auto on_rank_1 = [&](const std::function<void()>& body) {
      on_all_ranks(&ranks, [&] {
        if (ranks.rank() == 1) body();
      });
    };
    EXPECT_NO_THROW(on_rank_1([] {}));
    EXPECT_THROW(on_rank_1([] { throw NumericalError(""); }), NumericalError);
    EXPECT_THROW(on_rank_1([] { throw std::invalid_argument("[f] expected a; received b"); }),
                 std::invalid_argument);
    const auto both = [&] { together(&ranks, [] { throw std::invalid_argument("common"); }); };
    if (ranks.rank() == 0) {
      EXPECT_THROW(both(), std::invalid_argument);
    } else {
      EXPECT_THROW(both(), RanksEnded);
    }
    try {
      on_rank_1([] { throw std::runtime_error("its disk is full"); });
      FAIL();
    } catch (const std::runtime_error& error) {
      EXPECT_EQ(std::string(error.what()),
                ranks.rank() == 1 ? "its disk is full" : "rank 1: its disk is full");
    }
  });
  EXPECT_EQ(thrown, std::vector<std::string>(3, ""));
}

TEST(ProcessGroup, RefusesARankThatIsNone) {
  EXPECT_THROW(process_group("0", 2, 2), std::invalid_argument);
  EXPECT_THROW(process_group("0", -1, 2), std::invalid_argument);
}

// No group has this name: torch says so, and no process waits.
TEST(ProcessGroup, OfAnUnknownNameThrows) {
  const auto group = process_group("no such group", 0, 1);
  EXPECT_THROW(group->sum(at::ones({2})), std::runtime_error);
}

}  // namespace
}  // namespace slimbayes
