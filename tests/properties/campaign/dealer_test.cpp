#include <gtest/gtest.h>

#include "properties/campaign/coordinator.hpp"

namespace tally::dealer_test {
namespace {

Dealer three_pieces() { return {{2, 0, 1}, std::vector<std::string>(3)}; }

TEST(Dealer, DealsEveryNumberOnceInTheOrderGiven) {
  Dealer dealer = three_pieces();

  const auto first = dealer.next(0), second = dealer.next(1), third = dealer.next(0);

  ASSERT_TRUE(first && second && third);
  EXPECT_EQ(first->number, 2u);
  EXPECT_EQ(second->number, 0u);
  EXPECT_EQ(third->number, 1u);
  EXPECT_EQ(third->before, 2u);
  EXPECT_FALSE(dealer.next(1));
}

TEST(Dealer, DealsNothingWhoseAnswerIsKnown) {
  Dealer dealer({0, 1, 2}, {"", "known", ""});

  EXPECT_EQ(dealer.next(0)->number, 0u);
  EXPECT_EQ(dealer.next(0)->number, 2u);
  EXPECT_FALSE(dealer.next(0));
}

TEST(Dealer, IsDoneWhenEveryAnswerIsThere) {
  Dealer dealer = three_pieces();
  while (dealer.next(0)) {
  }

  for (const std::size_t number : {1u, 0u}) EXPECT_TRUE(dealer.take(0, number, "found"));
  EXPECT_FALSE(dealer.is_done());
  EXPECT_TRUE(dealer.take(0, 2, "found"));

  EXPECT_TRUE(dealer.is_done());
  EXPECT_EQ(dealer.answers(), std::vector<std::string>(3, "found"));
}

TEST(Dealer, DealsWhatALostForemanHoldsToTheOthersFirst) {
  Dealer dealer = three_pieces();
  dealer.next(0);
  dealer.next(0);
  dealer.take(0, 2, "found");

  EXPECT_EQ(dealer.lose(0), 1u);

  EXPECT_EQ(dealer.next(1)->number, 0u);
  EXPECT_EQ(dealer.next(1)->number, 1u);
}

TEST(Dealer, TakesTheAnswerOfOneWhoWasLostAndDealsItsPieceToNobodyElse) {
  Dealer dealer = three_pieces();
  dealer.next(0);
  dealer.lose(0);

  EXPECT_TRUE(dealer.take(0, 2, "found after all"));

  EXPECT_EQ(dealer.next(1)->number, 0u);
}

TEST(Dealer, TakesTheSameAnswerTwiceAndRefusesAnotherWithBoth) {
  Dealer dealer = three_pieces();
  dealer.next(0);
  dealer.take(0, 2, "found");

  EXPECT_FALSE(dealer.take(1, 2, "found"));
  try {
    dealer.take(1, 2, "other");
    FAIL();
  } catch (const DifferentAnswers& both) {
    EXPECT_EQ(both.number, 2u);
    EXPECT_EQ(both.answers[0], "found");
    EXPECT_EQ(both.answers[1], "other");
    EXPECT_STREQ(both.what(),
                 "piece 3 has another answer from process 1 than from process 0, although it draws the same cases "
                 "everywhere");
  }
}

TEST(Dealer, RefusesAnAnswerToNoPieceAndOneOfNothing) {
  Dealer dealer = three_pieces();

  EXPECT_THROW(dealer.take(0, 3, "found"), std::invalid_argument);
  EXPECT_THROW(dealer.take(0, 0, ""), std::invalid_argument);
}

TEST(Dealer, BeginsWithWhatTookLongestAndWithWhatWasNeverTimed) {
  EXPECT_EQ(longest_first({"a", "b", "c", "d"}, {{"a", 1}, {"c", 3}}), (std::vector<std::size_t>{1, 3, 2, 0}));
  EXPECT_EQ(longest_first({"a", "b"}, {}), (std::vector<std::size_t>{0, 1}));
}

}  // namespace
}  // namespace tally::dealer_test
