// Where an element stands, in words.
#include <gtest/gtest.h>

#include "properties/judge/groups.hpp"
#include "tests/kernels/attention_case.hpp"

namespace tally::named_place_test {
namespace {

/// Sequences of 5, 1 and 2 rows in the first micro-batch, of 4 and 1 in the second; four heads of two on two.
std::string place(const char* tap, const std::vector<std::int64_t>& index) {
  return named_place(small_attention_model(1), tap_name_of(tap), index);
}

TEST(NamedPlace, NamesQueriesAndKeysWithTheirHeads) {
  EXPECT_EQ(place("w0/m0/forward/att.y", {3, 5}), "query 3 of sequence 0, head 2, feature 1");
  EXPECT_EQ(place("w0/m0/backward/d.att.q", {5, 0}), "query 0 of sequence 1, head 0, feature 0");
  EXPECT_EQ(place("w0/m1/backward/d.att.k", {3, 2}), "key 3 of sequence 0, head 1, feature 0");
  EXPECT_EQ(place("w0/m0/forward/in.att.v", {7, 3}), "key 1 of sequence 2, head 1, feature 1");
  EXPECT_EQ(place("w0/m0/forward/att.lse", {0, 3}), "query 0 of sequence 0, head 3");
  EXPECT_EQ(place("w0/m1/backward/att.delta", {4, 1}), "query 0 of sequence 1, head 1");
}

TEST(NamedPlace, NamesTheRowsOfOtherLayers) {
  EXPECT_EQ(place("w0/m0/forward/sum.y", {6, 0}), "row 0 of sequence 2");
  EXPECT_EQ(place("w0/m0/loss/loss", {4}), "row 4 of sequence 0");
}

TEST(NamedPlace, SaysNothingOfWhatHasNoRows) {
  EXPECT_EQ(place("w0/m0/backward/d.q.weight", {0, 0}), "");
  EXPECT_EQ(place("w0/m0/forward/in.q.weight", {0, 0}), "");
  EXPECT_EQ(place("w0/optimizer/q.weight", {0, 0}), "");
  EXPECT_EQ(place("w0/m0/loss/in.factor", {}), "");
  EXPECT_EQ(place("w0/m0/accumulate/buffer.q.weight", {3, 0}), "");  // as many features as rows
  Case c = small_attention_model(1);
  c.sequences.clear();
  EXPECT_EQ(named_place(c, tap_name_of("w0/m0/forward/sum.y"), {0, 0}), "");
}

}  // namespace
}  // namespace tally::named_place_test
