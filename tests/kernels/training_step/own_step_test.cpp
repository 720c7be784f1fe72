#include "kernels/training_step/run/own_step.hpp"

#include <gtest/gtest.h>

#include "kernels/training_step/run/captured_run.hpp"
#include "kernels/training_step/stages.hpp"
#include "tests/kernels/small_case.hpp"

namespace tally::own_step_test {
namespace {

/// Leaves a trace that says whose it is.
class Marked : public OwnStep {
 public:
  Trace run(const Case&) const override {
    Trace trace;
    trace.claims.subject = "marked";
    return trace;
  }
};

const Stages& marked() {
  static const Marked step;
  static const Stages stages = [] {
    Stages copy = shipped_stages();
    copy.own = &step;
    return copy;
  }();
  return stages;
}

TEST(OwnStep, RunsInPlaceOfAllStages) {
  const std::uint64_t before = own_runs();

  EXPECT_EQ(run(small_case(), {.stages = &marked()}).claims.subject, "marked");

  EXPECT_EQ(own_runs(), before + 1);
  EXPECT_EQ(run(small_case()).claims.subject, "host");
  EXPECT_EQ(own_runs(), before + 1);
}

TEST(OwnStep, IsNotAskedForWhatOnlyTallysKernelsDo) {
  const Trace followed;
  std::vector<Preemption> recorded;
  const std::vector<RunOptions> asked{{.executor = ExecutorKind::checked},
                                      {.accumulate = false},
                                      {.order_seed = 1},
                                      {.schedule_seed = 1},
                                      {.taps = false},
                                      {.recorded = &recorded},
                                      {.follow = &followed}};
  for (RunOptions options : asked) {
    options.stages = &marked();

    EXPECT_THROW(run(small_case(), options), NotSupported);
  }
  for (const auto change : {+[](Execution& e) { e.kernels["norm"] = "shared_tree"; },
                            +[](Execution& e) { e.order = 1; }, +[](Execution& e) { e.schedule = 1; },
                            +[](Execution& e) {
                              e.preemptions = {{1, 1, 1}};
                            }}) {
    Case c = small_case();
    change(c.execution);

    EXPECT_THROW(run(c, {.stages = &marked()}), NotSupported);
  }
  EXPECT_THROW(CapturedRun(small_case(), {.stages = &marked()}), NotSupported);
  EXPECT_THROW(require_tallys_kernels({.stages = &marked()}, "anything"), NotSupported);
  EXPECT_NO_THROW(require_tallys_kernels({}, "anything"));
}

}  // namespace
}  // namespace tally::own_step_test
