// Judging a large capture: what it says before and on its way.
#include "reports/command_line/check/capture.hpp"

#include <gtest/gtest.h>

#include "reports/command_line/output.hpp"
#include "tests/properties/compare/lens_cases.hpp"

namespace tally::command_line::capture_test {
namespace {

TEST(CaptureRoom, AsksForMoreOfALargerModel) {
  const Case small = normal_case(1);
  Case wide = small;
  for (const std::string& p : parameters_of(wide.model)) {
    const Tensor one = wide.tensors.at(p);
    wide.tensors.at(p) = Tensor(one.dtype, {2, static_cast<std::int64_t>(one.elements())});
  }
  EXPECT_GT(bytes_of_all_lenses(wide), bytes_of_all_lenses(small));
  EXPECT_LT(bytes_of_all_lenses(wide), 2 * bytes_of_all_lenses(small));
}

TEST(CaptureRoom, RefusesBeforeTheWorkStarts) {
  const Case c = normal_case(1);
  const std::uint64_t needed = bytes_of_all_lenses(c);
  EXPECT_NO_THROW(require_room(c, needed));
  try {
    require_room(c, needed - 1);
    FAIL() << "there was room";
  } catch (const UsageError& problem) {
    const std::string line = problem.what();
    EXPECT_NE(line.find("are free; expected"), std::string::npos) << line;
    EXPECT_NE(line.find("--lens local"), std::string::npos) << line;
  }
  EXPECT_GT(free_memory(), 0u);
}

TEST(CaptureProgress, SaysHowFarItIsAndWhatIsLeft) {
  EXPECT_EQ(progress_line(100'000'000, 400'000'000, "w0/norm/norm", 10),
            "[100/400] MB of the trace, w0/norm/norm, 30 s left");
  EXPECT_EQ(progress_line(100'000'000, 400'000'000, "w0/norm/norm", 100),
            "[100/400] MB of the trace, w0/norm/norm, 5 min left");
  EXPECT_EQ(progress_line(400'000'000, 400'000'000, "w0/norm/norm", 100), "[400/400] MB of the trace, w0/norm/norm");
}

TEST(CaptureProgress, IsSilentOnASmallTrace) {
  testing::internal::CaptureStderr();
  CaptureProgress small(1'000'000);
  small.show(500'000, "w0/norm/norm");
  EXPECT_EQ(testing::internal::GetCapturedStderr(), "");
  testing::internal::CaptureStderr();
  CaptureProgress large(std::size_t{1} << 30);
  for (std::size_t done = 0; done < std::size_t{1} << 30; done += 1 << 22) large.show(done, "w0/norm/norm");
  const std::string lines = testing::internal::GetCapturedStderr();
  EXPECT_EQ(std::count(lines.begin(), lines.end(), '\n'), 20) << lines;
}

}  // namespace
}  // namespace tally::command_line::capture_test
