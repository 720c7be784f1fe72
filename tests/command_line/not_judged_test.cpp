#include <gtest/gtest.h>

#include "reports/command_line/check/capture.hpp"
#include "tests/properties/compare/lens_cases.hpp"

namespace tally::command_line::not_judged_test {
namespace {

TensorCheck check(const std::string& stage, Status status) {
  TensorCheck made;
  made.lens = "local", made.tap = "w0/" + stage + "/x", made.stage = stage, made.status = status;
  return made;
}

using Lines = std::vector<std::string>;

TEST(NotJudged, IsNothingWhereEverythingWas) {
  EXPECT_EQ(not_judged(normal_case(1), {check("clip", Status::pass)}, true), Lines());
}

TEST(NotJudged, NamesWhatIsNotFiniteWithoutFailing) {
  TensorCheck nan = check("unscale", Status::pass), failed = check("norm", Status::fail);
  nan.non_finite = failed.non_finite = 1;
  const std::string why = ", as their inputs make them";
  EXPECT_EQ(not_judged(normal_case(1), {nan, failed}, true), Lines{"not finite: " + nan.tap + why});
  EXPECT_EQ(not_judged(normal_case(1), {nan, nan, nan}, true), Lines{"not finite: " + nan.tap + " and 2 more" + why});
}

TEST(NotJudged, NamesEveryStageWithTooFewTapsOnce) {
  EXPECT_EQ(not_judged(normal_case(1),
                       {check("clip", Status::not_run), check("norm", Status::not_run), check("clip", Status::not_run)},
                       true),
            Lines{"too few taps to judge: clip (w0/clip/x), norm (w0/norm/x)"});
}

TEST(NotJudged, NamesLayersThatTheCaptureGives) {
  Case c = normal_case(1);
  c.model.layers = {Layer{{"opaque", {}}, "net"}};
  EXPECT_EQ(not_judged(c, {}, true), Lines{"forward and backward: given by the capture, not judged"});
}

TEST(NotJudged, SaysWhatTheLocalLensDoesNotAsk) {
  const Lines lines = not_judged(normal_case(1), {}, false);
  ASSERT_EQ(lines.size(), 1u);
  EXPECT_NE(lines.front().find("--lens local"), std::string::npos);
}

}  // namespace
}  // namespace tally::command_line::not_judged_test
