#include <gtest/gtest.h>

#include <vector>

#include "kernels/ranks/fibres.hpp"
#include "kernels/ranks/link.hpp"

namespace tally::traffic_test {
namespace {

/// Rank 0 hands rank 1 so many bytes about each of these.
void send_all(const std::vector<std::string>& messages, std::size_t size) {
  run_ranks_on_fibres(2, 0, [&](Link& link) {
    std::vector<std::byte> bytes(size);
    for (const std::string& about : messages) {
      if (link.rank() == 0) link.send(1, about, bytes);
      if (link.rank() == 1) link.receive(0, about, bytes);
    }
  });
}

TEST(Traffic, IsCountedByRankWindowAndStage) {
  const TrafficScope scope;
  send_all({"w0/m0/reduce, bucket 0", "w0/m1/reduce, bucket 1", "w0/gather_updated", "w1/reduce, bucket 0"}, 12);

  const RankTraffic expected{{"w0/reduce", 24}, {"w0/gather_updated", 12}, {"w1/reduce", 12}};
  EXPECT_EQ(scope.ranks(), (std::map<int, RankTraffic>{{0, expected}}));
}

TEST(Traffic, IsCountedByTheInnerScopeAlone) {
  const TrafficScope outer;
  {
    const TrafficScope inner;
    send_all({"w0/reduce, bucket 0"}, 4);
    EXPECT_EQ(inner.ranks().size(), 1u);
  }
  EXPECT_TRUE(outer.ranks().empty());
  send_all({"w0/reduce, bucket 0"}, 4);
  EXPECT_EQ(outer.ranks().at(0).at("w0/reduce"), 4u);
}

}  // namespace
}  // namespace tally::traffic_test
