#include "kernels/trace/trace.hpp"

#include <gtest/gtest.h>

namespace tally::trace_test {
namespace {

Tensor scalar_of(double value) {
  Tensor tensor(Dtype::fp32, {});
  tensor.set(0, value);
  return tensor;
}

TEST(Trace, KeepsTheFirstInputAndTheLastOutputOfAStageThatRanTwice) {
  Trace trace;
  for (const double value : {1.0, 2.0}) {
    trace.add(tap_name_of("w0/norm/in.d.p"), scalar_of(value));
    trace.add(tap_name_of("w0/norm/norm"), scalar_of(value));
  }
  EXPECT_EQ(trace.taps().size(), 2u);
  EXPECT_EQ(trace.find("w0/norm/in.d.p")->value(0), 1);
  EXPECT_EQ(trace.find("w0/norm/norm")->value(0), 2);
}

/// As a run of many windows and micro-batches names them.
std::vector<TapName> many_names() {
  std::vector<TapName> names;
  for (int window = 0; window < 8; ++window)
    for (int micro_batch = -1; micro_batch < 8; ++micro_batch)
      for (const char* stage : {"forward", "backward", "accumulate"})
        for (const char* tensor : {"in.fc1.x", "d.fc1.weight", "fc1.y"})
          names.push_back({window, micro_batch, stage, tensor});
  return names;
}

TEST(Trace, FindsEveryTapByItsWordsAndByItsText) {
  Trace trace;
  const std::vector<TapName> names = many_names();
  for (std::size_t i = 0; i < names.size(); ++i) trace.add(names[i], scalar_of(static_cast<double>(i)));

  for (std::size_t i = 0; i < names.size(); ++i) {
    EXPECT_EQ(trace.place_of(names[i].view()), i) << names[i].text();
    EXPECT_EQ(trace.find(names[i].text()), &trace.taps()[i].value);
  }
}

TEST(Trace, FindsNothingElse) {
  Trace trace;
  EXPECT_EQ(trace.find("w0/forward/fc1.y"), nullptr);
  for (const TapName& name : many_names()) trace.add(name, scalar_of(0));

  for (const char* other : {"w8/m0/forward/fc1.y", "w0/m8/forward/fc1.y", "w0/m0/loss/fc1.y", "w0/m0/forward/fc1.z",
                            "w0/m00/forward/fc1.y", "memory"})
    EXPECT_EQ(trace.find(other), nullptr) << other;
  EXPECT_EQ(trace.place_of({0, -2, "forward", "fc1.y"}), std::nullopt);
}

}  // namespace
}  // namespace tally::trace_test
