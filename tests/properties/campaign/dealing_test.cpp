#include <gtest/gtest.h>

#include <filesystem>
#include <memory>
#include <numeric>
#include <optional>

#include "properties/campaign/coordinator.hpp"
#include "properties/campaign/node.hpp"

namespace tally::dealing_test {
namespace {

namespace fs = std::filesystem;

/// Two processes as the dealer sees them: what was sent to each.
class DealingTest : public testing::Test {
 protected:
  DealingTest() { dealing_ = of(3, 1e9); }
  ~DealingTest() override { fs::remove(file_); }

  std::unique_ptr<Dealing> of(std::size_t pieces, double lost_after) {
    fs::remove(file_);
    journal_.emplace(Journal::begun(file_, "heading"));
    sent_ = std::vector<std::vector<std::string>>(2);
    std::vector<std::size_t> order(pieces);
    std::iota(order.begin(), order.end(), std::size_t{0});
    return std::make_unique<Dealing>(
        Dealer(order, std::vector<std::string>(pieces)), *journal_, "heading", 2, lost_after,
        [this](int to, const std::string& word, const std::string& text) {
          sent_[static_cast<std::size_t>(to)].push_back(word + " " + text);
        },
        [this](std::size_t number) { done_.push_back(number); });
  }
  void answer(int from, std::size_t number, const std::string& bytes = "found") {
    dealing_->handle(from, word::answer, std::to_string(number) + " 0.5 0.25\n" + bytes);
  }

  fs::path file_ = fs::path(testing::TempDir()) / "tally-dealing-journal";
  std::optional<Journal> journal_;
  std::vector<std::vector<std::string>> sent_;
  std::vector<std::size_t> done_;
  std::unique_ptr<Dealing> dealing_;
};

using Sent = std::vector<std::string>;

TEST_F(DealingTest, BeginsWhenAllHaveJoinedAndDealsAsManyAsThereAreWorkers) {
  dealing_->handle(0, word::joined, "1 here");
  EXPECT_EQ(sent_[0], Sent{"campaign heading"});

  dealing_->handle(1, word::joined, "5 there");

  EXPECT_EQ(sent_[0], (Sent{"campaign heading", "piece 0 0"}));
  EXPECT_EQ(sent_[1], (Sent{"campaign heading", "piece 1 1", "piece 2 2"}));
}

TEST_F(DealingTest, DealsToWhoeverAnswersAndTellsAllWhenItIsOver) {
  dealing_->handle(0, word::joined, "1 here");
  dealing_->handle(1, word::joined, "1 there");

  answer(1, 1);
  EXPECT_EQ(sent_[1].back(), "piece 2 2");
  answer(1, 2);
  EXPECT_FALSE(dealing_->is_over());
  answer(0, 0);

  EXPECT_TRUE(dealing_->is_over());
  for (const Sent& sent : sent_) EXPECT_EQ(sent.back(), "over ");
  EXPECT_EQ(done_, (std::vector<std::size_t>{1, 2, 0}));
  EXPECT_EQ(dealing_->members()[1].pieces, 2u);
  std::vector<std::string> kept(3);
  Journal::resumed(file_, kept);
  EXPECT_EQ(kept, Sent(3, "found"));
}

TEST_F(DealingTest, DealsAgainWhatASilentProcessHoldsAndTakesItFromEither) {
  dealing_ = of(2, -1);  // whoever is not heard this instant
  dealing_->handle(0, word::joined, "2 here");
  dealing_->handle(1, word::joined, "1 there");
  EXPECT_EQ(sent_[1].back(), "piece 1 1");
  answer(0, 0);

  EXPECT_THROW(dealing_->look_after(), std::runtime_error);  // all are lost
  EXPECT_EQ(dealing_->dealt_again(), 1u);
  dealing_->handle(0, word::alive, "");

  EXPECT_EQ(sent_[0].back(), "piece 1 1");
  answer(0, 1);
  EXPECT_TRUE(dealing_->is_over());
  EXPECT_TRUE(dealing_->members()[1].lost);
  answer(1, 1);
  EXPECT_FALSE(dealing_->members()[1].lost);
}

TEST_F(DealingTest, WaitsUntilEachProcessHasLeftOrIsLost) {
  dealing_ = of(1, 3600);
  dealing_->handle(0, word::joined, "1 here");
  dealing_->handle(1, word::joined, "1 there");
  answer(0, 0);
  EXPECT_TRUE(dealing_->is_over());

  dealing_->handle(0, word::left, "");
  EXPECT_FALSE(dealing_->is_left());
  dealing_->handle(1, word::left, "");
  EXPECT_TRUE(dealing_->is_left());
  dealing_->look_after();
  EXPECT_FALSE(dealing_->members()[1].lost);
}

TEST_F(DealingTest, DoesWithoutOneThatStandsStillOnceAllIsAnswered) {
  dealing_ = of(1, -1);  // whoever is not heard this instant
  dealing_->handle(0, word::joined, "1 here");
  dealing_->handle(1, word::joined, "1 there");
  answer(0, 0);
  dealing_->handle(0, word::left, "");

  dealing_->look_after();

  EXPECT_TRUE(dealing_->is_left());
  EXPECT_FALSE(dealing_->members()[0].lost);
  EXPECT_TRUE(dealing_->members()[1].lost);
  EXPECT_EQ(dealing_->dealt_again(), 0u);
}

TEST_F(DealingTest, IsRefusedByAProcessOfAnotherCampaign) {
  dealing_->handle(0, word::joined, "1 here");

  EXPECT_THROW(dealing_->handle(1, word::refused, "there: found another"), NotTheSameCampaign);
}

}  // namespace
}  // namespace tally::dealing_test
