#include <gtest/gtest.h>

#include <limits>

#include "reports/command_line/check/capture.hpp"
#include "reports/command_line/output.hpp"

namespace tally::command_line::vacuous_tensors_test {
namespace {

TensorCheck check(const std::string& tap, const std::string& lens, Status status) {
  TensorCheck made;
  made.tap = tap, made.lens = lens, made.status = status, made.stage = "optimizer";
  made.elements = 1, made.norm_expected = 1, made.norm_bound = 2;
  return made;
}

TEST(VacuousTensors, AreThoseOfWhichEveryComparisonIsVacuous) {
  const std::vector<TensorCheck> checks{check("w0/accumulate/a", "local", Status::pass),
                                        check("w0/accumulate/a", "end_to_end", Status::vacuous),
                                        check("w0/accumulate/b", "group", Status::vacuous)};
  EXPECT_EQ(not_shown(checks),
            "not shown, as the bound is at least as large as the value: w0/accumulate/b has the bound 2 and the value "
            "1, both as norms");
  EXPECT_EQ(not_shown({checks[0], checks[1]}), "");
  TensorCheck unknown = checks[2];
  unknown.norm_bound = std::numeric_limits<double>::infinity();
  EXPECT_EQ(not_shown({unknown, check("w0/accumulate/c", "group", Status::vacuous)}),
            "not judged, as no taps of its inputs were recorded: w0/accumulate/b, and 1 tensor more");
  EXPECT_EQ(exit_code_of(checks), pass);
}

TEST(VacuousTensors, LeaveAWindowOpenOfWhichNoParameterIsShown) {
  std::vector<TensorCheck> checks{check("w0/optimizer/fc.a", "group", Status::pass),
                                  check("w0/optimizer/fc.b", "group", Status::vacuous),
                                  check("w1/optimizer/fc.a", "group", Status::vacuous),
                                  check("w1/optimizer/in.learning_rate", "local", Status::pass),
                                  check("w1/optimizer/exp_avg.fc.a", "group", Status::pass)};
  EXPECT_EQ(window_not_shown(checks), 1);
  EXPECT_EQ(exit_code_of(checks), nothing_ran);
  EXPECT_NE(not_shown(checks).find("step of window 1"), std::string::npos);
  checks[2].status = Status::pass;
  EXPECT_EQ(window_not_shown(checks), std::nullopt);
  EXPECT_EQ(exit_code_of(checks), pass);
}

}  // namespace
}  // namespace tally::command_line::vacuous_tensors_test
