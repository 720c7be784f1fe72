// The hard lenses on rotary positions, slices, adapters and frozen layers: clean runs pass by every kernel in every
// format, and a run with one thing wrong fails where it is wrong.
#include <cmath>

#include "oracle/case/file/parts.hpp"
#include "oracle/case/io.hpp"
#include "tests/kernels/adapted_case.hpp"
#include "tests/properties/compare/changed_trace.hpp"
#include "tests/properties/compare/clean_run.hpp"

namespace tally::adapted_test {
namespace {

const Dtype formats[] = {Dtype::fp32, Dtype::fp16, Dtype::bf16};

Case with_positions(Case c, std::int64_t first) {
  Tensor positions(Dtype::i64, {16});
  for (std::size_t i = 0; i < positions.elements(); ++i)
    positions.set_bits(i, static_cast<std::uint64_t>(first + static_cast<std::int64_t>(i)));
  c.tensors["positions"] = positions;
  return c;
}

TEST(Rotary, PassesCleanRunsInEveryFormatAndByEveryKernel) {
  for (const Dtype storage : formats) {
    for (unsigned seed = 1; seed <= 12; ++seed) {
      const std::string pairing = seed % 3 == 0 ? "interleaved" : "half";
      Case c = turned_model(seed, {{"pairing", pairing}, {"base", Decimal{seed % 4 == 0 ? "0.5" : "10000"}}},
                            seed % 5 == 0, storage);
      c.execution.kernels["rotary.forward"] = seed % 2 == 0 ? "table" : "stored";
      c.execution.kernels["rotary.backward"] = seed % 4 < 2 ? "table" : "stored";
      c.execution.recompute = seed % 7 == 0;
      expect_clean(c, {}, std::string(name_of(storage)) + " " + std::to_string(seed));
    }
  }
}

/// Angles in fp32 are off by more the further a position is, and at 2^40 - 1 by any number of turns.
TEST(Rotary, PassesFarPositions) {
  for (const std::int64_t first : {std::int64_t{50}, std::int64_t{4096}, std::int64_t{100000}, std::int64_t{1} << 24,
                                   (std::int64_t{1} << 40) - 16}) {
    for (unsigned seed = 1; seed <= 24; ++seed) {
      const char* const variant = seed % 2 == 0 ? "table" : "stored";
      Case c = with_positions(turned_model(seed, {{"base", Decimal{"100"}}}, false, formats[seed % 3]), first);
      c.execution.kernels["rotary.forward"] = c.execution.kernels["rotary.backward"] = variant;
      const auto checks = hard_lenses(c, run(c), Grouping::declared).checks;
      EXPECT_EQ(first_failure(checks), nullptr) << variant << " " << first << " " << told(first_failure(checks));
    }
  }
}

/// What the products of a kernel that stores them lose is more than a kernel that does not may lose.
TEST(Rotary, HoldsAKernelToWhatItClaims) {
  Case c = with_positions(turned_model(4, {{"base", Decimal{"100"}}}), 1 << 20);
  c.execution.kernels["rotary.forward"] = "stored";
  Trace trace = run(c);
  trace.claims.kernels.at("rotary.forward").algorithm = "table";
  const auto checks = hard_lenses(c, trace, Grouping::declared).checks;
  const TensorCheck* first = first_failure(checks);
  ASSERT_NE(first, nullptr);
  EXPECT_EQ(first->tap, "w0/m0/forward/qr.y");
}

TEST(Adapters, PassCleanRunsInEveryFormat) {
  for (const Dtype storage : formats) {
    for (unsigned seed = 1; seed <= 6; ++seed) {
      Case c = adapted_model(seed, storage);
      c.execution.recompute = seed % 3 == 0;
      expect_clean(c, {}, std::string(name_of(storage)) + " " + std::to_string(seed));
    }
  }
}

TEST(Adapters, LeaveNoTapOfAFrozenParameterButItsReads) {
  const Case c = adapted_model(2);
  const Trace trace = run(c);
  for (const std::string frozen : {"wte.weight", "n1.weight", "q.weight", "q.bias"}) {
    EXPECT_EQ(*trace.find("w0/cast/in." + frozen), c.tensors.at(frozen));
    EXPECT_EQ(*trace.find("w1/cast/in." + frozen), c.tensors.at(frozen));
    EXPECT_NE(trace.find("w0/m0/forward/in." + frozen), nullptr);
    for (const std::string stage : {"backward/d.", "accumulate/buffer.", "unscale/d.", "optimizer/"}) {
      EXPECT_EQ(trace.find("w0/m0/" + stage + frozen), nullptr) << stage << frozen;
      EXPECT_EQ(trace.find("w0/" + stage + frozen), nullptr) << stage << frozen;
    }
  }
}

/// Frozen bits that moved are found where they are read.
TEST(Adapters, FailWhereAFrozenParameterMoves) {
  const Case c = adapted_model(3);
  const Trace trace = changed(run(c), "w1/cast/in.q.weight", [](Tensor& value) {
    value.set(1, value.value(1) + 1);
    return true;
  });
  const auto checks = hard_lenses(c, trace, Grouping::declared).checks;
  const TensorCheck* first = first_failure(checks);
  ASSERT_NE(first, nullptr);
  EXPECT_EQ(first->tap, "w1/cast/in.q.weight");
}

TEST(Adapters, AreWrittenAndReadAgain) {
  for (const Case& c : {adapted_model(4), turned_model(4, {}, true)}) {
    const std::string text = write_case(c);
    const Case again = read_case(text);
    for (std::size_t i = 0; i < c.model.layers.size(); ++i)
      EXPECT_EQ(again.model.layers[i].trainable, c.model.layers[i].trainable) << i;
    EXPECT_EQ(write_case(again), text);
    EXPECT_EQ(version_of(c), 2);
  }
  for (const Layer& kind : {layer_of("scale", "by", {{"factor", Decimal{"2"}}}),
                            layer_of("slice", "cut", {{"begin", std::int64_t{0}}, {"end", std::int64_t{1}}}),
                            layer_of("rotary", "turn", {{"heads", std::int64_t{1}}})}) {
    Case chain = small_case();
    EXPECT_EQ(version_of(chain), 1);
    chain.model.layers.push_back(kind);
    EXPECT_EQ(version_of(chain), 2) << kind.kind;
  }
  EXPECT_NE(write_case(adapted_model(4)).find("trainable"), std::string::npos);
  EXPECT_EQ(write_case(small_attention_model(4)).find("trainable"), std::string::npos);
}

}  // namespace
}  // namespace tally::adapted_test
