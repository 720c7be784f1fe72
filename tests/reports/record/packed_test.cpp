#include "reports/record/packed.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <stdexcept>

#include "tests/reports/samples/samples.hpp"

namespace tally::packed_test {
namespace {

TEST(PackedResults, HoldWhatTheirJsonHolds) {
  for (const auto& [name, results] : samples::all())
    EXPECT_EQ(to_json(unpacked(packed(results))), to_json(results)) << name;
}

TEST(PackedResults, KeepBytesThatAreNoTextAndNumbersThatAreNone) {
  Results results;
  results.campaign = std::string("\0\xff\x04 crash: ", 10);
  results.cases.emplace_back().worst_local_ratio = -std::numeric_limits<double>::infinity();
  results.effort = std::nan("7");
  const Results back = unpacked(packed(results));
  EXPECT_EQ(back.campaign, results.campaign);
  EXPECT_EQ(back.cases.at(0).worst_local_ratio, results.cases[0].worst_local_ratio);
  EXPECT_TRUE(std::isnan(back.effort));
}

TEST(PackedResults, AreTheSameBytesForWhicheverNaN) {
  Results one, other;
  one.effort = std::nan("7"), other.effort = -std::nan("");
  EXPECT_EQ(packed(one), packed(other));
}

TEST(PackedResults, AreRefusedWhereTheyEndElsewhere) {
  Results results;
  results.cases.emplace_back().title = "linear 8-16-4";
  const std::string bytes = packed(results);
  for (std::size_t size = 0; size < bytes.size(); ++size)
    EXPECT_THROW(unpacked(std::string_view(bytes).substr(0, size)), std::runtime_error) << size;
  EXPECT_THROW(unpacked(bytes + "x"), std::runtime_error);
}

}  // namespace
}  // namespace tally::packed_test
