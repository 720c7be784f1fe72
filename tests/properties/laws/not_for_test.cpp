// A law that is asked of a case that was not drawn for it says what it needs: `tally replay FILE --law NAME`.
#include "properties/laws/law.hpp"
#include "tests/properties/compare/lens_cases.hpp"

namespace tally::not_for_test {
namespace {

Case of_one_window() {
  Case c = normal_case(1);
  c.windows = {{4, 3}};
  c.tensors.clear();
  fill_tensors(c);
  draw_normal(c, 1);
  return c;
}

TEST(NotFor, SaysWhatALawNeedsWhereTheCaseHasTooFewWindows) {
  for (const char* law : {"resumes_bitwise", "windows_do_not_leak"}) {
    const Outcome outcome = find_law(law)->holds(of_one_window(), {});
    EXPECT_EQ(outcome.status, Status::not_run) << law << ": " << outcome.message;
    EXPECT_NE(outcome.message.find("needs two windows"), std::string::npos) << law << ": " << outcome.message;
  }
}

}  // namespace
}  // namespace tally::not_for_test
