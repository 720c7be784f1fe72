// Of several failing checks the one that tells the cause.
#include <gtest/gtest.h>

#include "properties/judge/lens.hpp"

namespace tally::first_failure_test {
namespace {

TensorCheck failing(const std::string& lens, const std::string& tap, const std::string& stage) {
  TensorCheck check;
  check.lens = lens, check.tap = tap, check.stage = stage;
  check.status = Status::fail;
  check.elements = check.over_bound = 1;
  return check;
}

TensorCheck passing(const std::string& lens, const std::string& tap, const std::string& stage) {
  TensorCheck check = failing(lens, tap, stage);
  check.status = Status::pass;
  return check;
}

TEST(FirstFailure, NamesWhatTheOutputIsComputedFromThoughItIsTappedAfter) {
  const std::vector<TensorCheck> checks{failing("local", "w0/m0/forward/ln.y", "forward"),
                                        passing("local", "w0/m0/forward/ln.mean", "forward"),
                                        failing("local", "w0/m0/forward/ln.rstd", "forward")};

  EXPECT_EQ(first_failure(checks)->tap, "w0/m0/forward/ln.rstd");
}

TEST(FirstFailure, LeavesAnotherLayersStatisticsAndAnotherMicroBatchsAlone) {
  const std::vector<TensorCheck> checks{failing("local", "w0/m0/forward/fc.y", "forward"),
                                        failing("local", "w0/m0/forward/ln.rstd", "forward"),
                                        failing("local", "w0/m1/forward/fc.mean", "forward")};

  EXPECT_EQ(first_failure(checks)->tap, "w0/m0/forward/fc.y");
}

TEST(FirstFailure, NamesTheMomentBeforeTheParameterThatItMoves) {
  const std::vector<TensorCheck> checks{failing("local", "w0/optimizer/fc.weight", "optimizer"),
                                        failing("local", "w0/optimizer/exp_avg_sq.fc.weight", "optimizer")};

  EXPECT_EQ(first_failure(checks)->tap, "w0/optimizer/exp_avg_sq.fc.weight");
}

TEST(FirstFailure, QuotesTheLensThatJudgedTheStageOnBitsOfItsOwn) {
  const std::vector<TensorCheck> checks{failing("end_to_end", "w0/optimizer/fc.bias", "optimizer"),
                                        failing("group", "w0/optimizer/fc.weight", "clip..optimizer")};
  const std::vector<TensorCheck> elsewhere{failing("end_to_end", "w0/optimizer/fc.bias", "optimizer"),
                                           failing("group", "w1/optimizer/fc.weight", "clip..optimizer")};

  EXPECT_EQ(first_failure(checks)->lens, "group");
  EXPECT_EQ(first_failure(elsewhere)->lens, "end_to_end");
}

TEST(FirstFailure, NamesTheStageThatIsWrongByItselfBeforeOneWhereTwoRunsPart) {
  const TensorCheck between = failing("bitwise", "w1/cast/fc.weight", "cast");
  const TensorCheck own = failing("local", "w0/reduce/fc.weight", "reduce");
  const TensorCheck later = failing("local", "w1/m0/forward/fc.y", "forward");

  EXPECT_EQ(first_failure(std::vector{between, own})->tap, own.tap);
  EXPECT_EQ(first_failure(std::vector{between, later})->tap, between.tap);
}

TEST(FirstFailure, TakesBatchNormsSumsBeforeTheGradientThatIsMadeOfThem) {
  const TensorCheck var = passing("local", "w0/m0/forward/bn.var", "forward");
  const TensorCheck dx = failing("local", "w0/m0/backward/d.bn.x", "backward");
  const TensorCheck sum = failing("local", "w0/m0/backward/d.bn.weight", "backward");

  EXPECT_EQ(first_failure({var, dx, sum})->tap, sum.tap);
  EXPECT_EQ(first_failure({dx, sum})->tap, dx.tap);  // no batch norm
}

}  // namespace
}  // namespace tally::first_failure_test
