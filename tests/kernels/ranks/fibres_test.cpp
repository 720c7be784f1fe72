// Ranks on fibres: messages, orders, deadlocks, failures.
#include "kernels/ranks/fibres.hpp"

#include <gtest/gtest.h>

#include <array>
#include <vector>

namespace tally::fibres_test {
namespace {

void send(Link& link, int to, const std::string& about, int number) {
  link.send(to, about, std::as_bytes(std::span(&number, 1)));
}

int receive(Link& link, int from, const std::string& about) {
  int number = 0;
  link.receive(from, about, std::as_writable_bytes(std::span(&number, 1)));
  return number;
}

std::string broken_by(int ranks, const std::function<void(Link&)>& work) {
  try {
    run_ranks_on_fibres(ranks, 0, work);
  } catch (const BrokenLink& reason) {
    return reason.what();
  }
  return "";
}

TEST(RankFibres, HandNumbersAround) {
  std::vector<int> got(5);

  run_ranks_on_fibres(5, 0, [&](Link& link) {
    send(link, (link.rank() + 1) % link.size(), "number", 10 * link.rank());
    got[static_cast<std::size_t>(link.rank())] = receive(link, (link.rank() + 4) % 5, "number");
  });

  EXPECT_EQ(got, (std::vector<int>{40, 0, 10, 20, 30}));
}

TEST(RankFibres, KeepTheOrderOfMessagesOfOneKind) {
  std::array<int, 3> got{};

  run_ranks_on_fibres(2, 0, [&](Link& link) {
    if (link.rank() == 0) {
      for (int i = 0; i < 3; ++i) send(link, 1, i == 1 ? "b" : "a", i);
    } else {
      got = {receive(link, 0, "b"), receive(link, 0, "a"), receive(link, 0, "a")};
    }
  });

  EXPECT_EQ(got, (std::array<int, 3>{1, 0, 2}));
}

TEST(RankFibres, HoldTheBytesOfASendThoughTheyChangeBehindIt) {
  int got = 0;

  run_ranks_on_fibres(2, 0, [&](Link& link) {
    int number = 7;
    if (link.rank() == 0) {
      link.send(1, "number", std::as_bytes(std::span(&number, 1)));
      number = 8;
    } else {
      got = receive(link, 0, "number");
    }
  });

  EXPECT_EQ(got, 7);
}

TEST(RankFibres, NameTheCycleOfADeadlock) {
  const std::string text = broken_by(3, [](Link& link) { receive(link, (link.rank() + 1) % 3, "sum"); });

  EXPECT_EQ(text,
            "deadlock: rank 0 waits for sum from rank 1, which waits for sum from rank 2, which waits for sum from "
            "rank 0");
}

TEST(RankFibres, NameARankThatHasEnded) {
  const std::string text = broken_by(2, [](Link& link) {
    if (link.rank() == 1) receive(link, 0, "agree");
  });

  EXPECT_EQ(text, "deadlock: rank 1 waits for agree from rank 0, which has ended");
}

TEST(RankFibres, NameTheStageWhereNeighboursAreOneRanks) {
  std::string text;
  try {
    run_ranks_on_fibres(
        4, 0, [](Link& link) { receive(link, (link.rank() + 2) % 4, "sum"); }, 2);
  } catch (const BrokenLink& reason) {
    text = reason.what();
  }

  EXPECT_EQ(
      text,
      "deadlock: stage 0 of rank 0 waits for sum from stage 0 of rank 1, which waits for sum from stage 0 of rank 0");
}

TEST(RankFibres, NameBothEndsOfAMessageOfAnotherSize) {
  const std::string text = broken_by(2, [](Link& link) {
    std::array<std::byte, 8> bytes{};
    if (link.rank() == 0) link.send(1, "sum", std::span(bytes).first(4));
    if (link.rank() == 1) link.receive(0, "sum", bytes);
  });

  EXPECT_EQ(text, "mismatched: rank 0 sent 4 bytes of sum where rank 1 waits for 8");
}

TEST(RankFibres, EndOthersWhereOneFails) {
  int heard = 0;

  const auto run = [&] {
    run_ranks_on_fibres(3, 0, [&](Link& link) {
      if (link.rank() == 1) throw std::runtime_error("a kernel");
      try {
        receive(link, 1, "sum");
      } catch (const BrokenLink& reason) {
        heard += std::string(reason.what()) == "rank 1 failed";
        throw;
      }
    });
  };

  EXPECT_THROW(run(), std::runtime_error);
  EXPECT_EQ(heard, 2);
}

TEST(RankFibres, GoOnInAnotherOrderWhereItIsDrawn) {
  const auto order = [](std::uint64_t arrival) {
    std::vector<int> began;
    run_ranks_on_fibres(6, arrival, [&](Link& link) { began.push_back(link.rank()); });
    return began;
  };

  EXPECT_EQ(order(0), (std::vector<int>{0, 1, 2, 3, 4, 5}));
  EXPECT_EQ(order(3), order(3));
  EXPECT_NE(order(3), order(0));
}

TEST(RankFibres, RunManyRanks) {
  constexpr int ranks = 1024;
  int sum = 0;

  run_ranks_on_fibres(ranks, 0, [&](Link& link) {
    if (link.rank() > 0) return send(link, 0, "number", link.rank());
    for (int from = 1; from < ranks; ++from) sum += receive(link, from, "number");
  });

  EXPECT_EQ(sum, ranks * (ranks - 1) / 2);
}

}  // namespace
}  // namespace tally::fibres_test
