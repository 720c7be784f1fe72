// An activation that is a contract and a kernel alone: no step of the training loop knows its name.
#include <gtest/gtest.h>

#include "kernels/activation/activation.hpp"
#include "kernels/training_step/run/run.hpp"
#include "tests/kernels/small_case.hpp"

namespace tally::elementwise_test {
namespace {

struct Scaled {
  static float forward(float x) { return __fmul_rn(x, 4.0f); }
  static float backward(float, float dy) { return __fmul_rn(dy, 4.0f); }
};

const RegisterActivation<InFloat<Scaled>> registered("elementwise_test_four", {.variant = "grid_stride"});
const Register<Contract> registered_contract{
    {.section = "layer",
     .kind = "elementwise_test",
     .options =
         {{.name = "factor", .type = OptionType::text, .standard = std::string("four"), .words = {"four", "five"}}},
     .kernels_by = "factor"}};

Case case_with(const std::string& factor) {
  Case c = small_case();
  c.model.layers[1] = layer_of("elementwise_test", "act", {{"factor", factor}});
  return c;
}

void expect_four_times(const Trace& trace, const std::string& from, const std::string& to) {
  const Tensor *x = trace.find(from), *y = trace.find(to);
  ASSERT_NE(x, nullptr) << from;
  ASSERT_NE(y, nullptr) << to;
  for (std::size_t i = 0; i < x->elements(); ++i) EXPECT_EQ(y->value(i), 4 * x->value(i)) << to;
}

TEST(Elementwise, NeedsNoMoreThanAContractAndItsKernels) {
  const Trace trace = run(case_with("four"));
  EXPECT_TRUE(trace.violations.empty());
  expect_four_times(trace, "w0/m0/forward/fc1.y", "w0/m0/forward/act.y");
  expect_four_times(trace, "w0/m0/backward/d.fc2.x", "w0/m0/backward/d.act.x");
  EXPECT_EQ(trace.claims.kernels.at("elementwise_test_four.forward").variant, "grid_stride");
}

TEST(Elementwise, SaysWhichKernelIsMissingOnWhichExecutorAndWhatThereIs) {
  try {
    run(case_with("five"));
    FAIL() << "there is no such kernel";
  } catch (const std::logic_error& error) {
    const std::string words = error.what();
    EXPECT_TRUE(words.starts_with("no standard kernel elementwise_test_five.forward on host; there are kernels of "))
        << words;
    EXPECT_NE(words.find("relu.forward"), std::string::npos) << words;
  }
}

}  // namespace
}  // namespace tally::elementwise_test
