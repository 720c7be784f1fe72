#include <gtest/gtest.h>

#include "kernels/trace/trace.hpp"
#include "kernels/training_step/run/run.hpp"
#include "oracle/case/io.hpp"
#include "tests/kernels/small_case.hpp"

namespace tally::flat_trace_test {
namespace {

TEST(FlatTrace, ComesBackAsItWas) {
  const Case c = case_with_everything();
  const Trace trace = run(c);

  const Trace back = trace_of_flat_bytes(flat_bytes_of(trace), c, hash_of(c));

  ASSERT_EQ(back.taps().size(), trace.taps().size());
  for (std::size_t i = 0; i < trace.taps().size(); ++i) {
    EXPECT_EQ(back.taps()[i].name, trace.taps()[i].name);
    EXPECT_EQ(back.taps()[i].value, trace.taps()[i].value);
  }
  EXPECT_EQ(to_json(back.claims), to_json(trace.claims));
}

TEST(FlatTrace, NoCutAndNoChangedLengthIsRead) {
  const Case c = small_case();
  const std::string bytes = flat_bytes_of(run(c)), hash = hash_of(c);
  for (std::size_t length = 0; length < bytes.size(); length += 1 + length / 16) {
    try {
      EXPECT_LT(trace_of_flat_bytes(bytes.substr(0, length), c, hash).taps().size(), run(c).taps().size()) << length;
    } catch (const std::runtime_error&) {
      continue;
    }
  }
  for (std::size_t place = 16; place < bytes.size(); place += 1 + place / 16) {
    std::string changed = bytes;
    changed[place] = '\xff';
    try {
      trace_of_flat_bytes(changed, c, hash);
    } catch (const std::runtime_error&) {
      continue;
    }
  }
  EXPECT_THROW(trace_of_flat_bytes("nonsense", c, hash), std::runtime_error);
  EXPECT_THROW(trace_of_flat_bytes(bytes, c, "another"), std::runtime_error);
}

}  // namespace
}  // namespace tally::flat_trace_test
