#include <gtest/gtest.h>

#include <limits>

#include "reports/command_line/check/capture.hpp"

namespace tally::command_line {
namespace {

TEST(StageTable, HidesNoRatioThatIsNotANumber) {
  for (const char* lens : {"local", "end_to_end"}) {
    std::vector<TensorCheck> checks(3);
    for (TensorCheck& check : checks)
      check.tap = "w0/norm/norm", check.stage = "norm", check.lens = "local", check.worst_ratio = 0.5;
    checks[1].lens = lens;
    checks[1].status = Status::fail;
    checks[1].worst_ratio = std::numeric_limits<double>::quiet_NaN();

    const std::string text = stage_table(checks, false);

    const std::size_t row = text.find("norm ");
    EXPECT_NE(text.substr(row, text.find('\n', row) - row).find("nan"), std::string::npos) << text;
  }
}

}  // namespace
}  // namespace tally::command_line
