// A captured run leaves the bits of a run, every time, and of the values it was given last.
#include "kernels/training_step/run/captured_run.hpp"

#include <gtest/gtest.h>

#include <memory>
#include <stdexcept>

#include "kernels/training_step/run/device_tensor.hpp"
#include "tests/kernels/small_case.hpp"

namespace tally::captured_run_test {
namespace {

/// Every kind of layer in one window of two micro-batches; Adam, clip by norm, a static scale.
Case capturable_case() {
  Case c = case_with_everything();
  c.windows = {{4, 2}};
  c.recipe.loss_scale = choice_of("loss_scale", "static", {{"scale", Decimal{"1024"}}});
  c.tensors.clear();
  fill_tensors(c);
  return c;
}

Case with_other_values(const Case& c) {
  Case other = c;
  for (const char* name : {"x", "fc1.weight"}) {
    Tensor& tensor = other.tensors.at(name);
    for (std::size_t i = 0; i < tensor.elements(); ++i) tensor.set(i, tensor.value(i) / 2 + 0.25);
  }
  return other;
}

void expect_same_taps(const Trace& replayed, const Trace& expected) {
  ASSERT_EQ(replayed.taps().size(), expected.taps().size());
  for (const Tap& tap : expected.taps()) {
    const Tensor* value = replayed.find(tap.name.text());
    ASSERT_NE(value, nullptr) << tap.name.text();
    EXPECT_EQ(*value, tap.value) << tap.name.text();
  }
}

class OnExecutor : public testing::TestWithParam<ExecutorKind> {
 protected:
  void SetUp() override {
    try {
      device(GetParam());
    } catch (const DeviceAbsent& reason) {
      GTEST_SKIP() << reason.what();
    }
  }
  RunOptions options() const { return {.executor = GetParam(), .taps = false}; }
};

TEST_P(OnExecutor, LeavesTheBitsOfARunEveryTime) {
  Case c = capturable_case();
  for (const bool recompute : {false, true}) {
    c.execution.recompute = recompute;
    const Trace expected = run(c, options());
    CapturedRun captured(c, options());
    expect_same_taps(captured.replay(), expected);
    expect_same_taps(captured.replay(), expected);
  }
}

TEST_P(OnExecutor, LeavesTheBitsOfTheValuesItWasGiven) {
  const Case c = capturable_case(), other = with_other_values(c);
  CapturedRun captured(c, options());
  captured.replay();
  for (const char* name : {"x", "fc1.weight"}) captured.set(name, other.tensors.at(name));
  expect_same_taps(captured.replay(), run(other, options()));
}

INSTANTIATE_TEST_SUITE_P(CapturedRun, OnExecutor, testing::ValuesIn(executors_built()),
                         [](const auto& named) { return std::string(name_of(named.param)); });

TEST(CapturedRun, RefusesWhatDecidesOnTheHostAndValuesThatDoNotFit) {
  Case c = case_with_everything();
  EXPECT_THROW(CapturedRun(c, {}), NotSupported);
  c.windows.resize(1);
  EXPECT_THROW(CapturedRun(c, {}), NotSupported);
  const Case good = capturable_case();
  CapturedRun captured(good, {});
  EXPECT_THROW(captured.set("y", good.tensors.at("x")), std::invalid_argument);
  EXPECT_THROW(captured.set("fc2.weight", good.tensors.at("x")), std::invalid_argument);
}

TEST(CapturedWork, IsDoneWhenLaunchedAndRefusesTheHostMeanwhile) {
  Device& on = device(ExecutorKind::host);
  Stream stream(on);
  const Buffer buffer(on, "buffer", Dtype::fp32, 1);
  float value = 3;
  on.write(buffer.data(), &value, sizeof value);
  const CapturedWork cleared(stream, [&] { stream.fill(buffer.data(), 0, buffer.bytes()); });
  on.read(buffer.data(), &value, sizeof value);
  EXPECT_EQ(value, 3);
  cleared.launch(stream);
  on.read(buffer.data(), &value, sizeof value);
  EXPECT_EQ(value, 0);
  EXPECT_THROW(CapturedWork(stream, [&] { on.read(buffer.data(), &value, sizeof value); }), std::logic_error);
  EXPECT_THROW(CapturedWork(stream, [&] { stream.synchronize(); }), std::logic_error);
  on.read(buffer.data(), &value, sizeof value);  // and the host is free again
}

/// Its guards cannot be read then; nobody may look at them, or write to them, later either.
TEST(CapturedWork, LetsMemoryGoWhileItIsCaptured) {
  Device& host = device(ExecutorKind::host);
  Stream stream(host);
  auto tensor = std::make_unique<DeviceTensor>(host, "short-lived", Dtype::fp32, std::vector<std::int64_t>{8});
  const CapturedWork work(stream, [&] { tensor.reset(); });

  EXPECT_EQ(host.check_guards(), "");
}

}  // namespace
}  // namespace tally::captured_run_test
