#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>

#include "kernels/trace/recorder_notes.hpp"
#include "oracle/case/file/safetensors.hpp"
#include "tests/properties/compare/lens_cases.hpp"
#include "tests/properties/compare/opaque_case.hpp"

namespace tally::sums_of_squares_test {
namespace {

std::vector<SquaresOfWindow> read(const std::string& entry, const Case& c) {
  TensorFile content;
  content.metadata = {{"sums_of_squares", entry}};
  content.tensors["x"] = Tensor(Dtype::fp32, {2});
  const std::string test = testing::UnitTest::GetInstance()->current_test_info()->name();  // they run side by side
  const auto file = std::filesystem::path(testing::TempDir()) / ("sums_" + test + ".safetensors");
  std::ofstream(file, std::ios::binary) << write_safetensors(content);
  return sums_of_squares_of(file, c);
}

Case sampled() { return opaque_of(normal_case(3)); }

/// What is said of an entry that is wrong.
std::string said_of(const std::string& entry, const Case& c = sampled()) {
  try {
    read(entry, c);
  } catch (const std::runtime_error& problem) {
    return problem.what();
  }
  return "nothing";
}

TEST(SumsOfSquares, AreReadWindowByWindow) {
  const Case c = sampled();
  std::string lines;
  for (std::size_t w = 0; w < c.windows.size(); ++w) lines += "w" + std::to_string(w) + " 1000 0x1.8p+1\n";
  const auto sums = read(lines, c);
  ASSERT_EQ(sums.size(), c.windows.size());
  EXPECT_EQ(sums.back().window, static_cast<int>(c.windows.size()) - 1);
  EXPECT_EQ(sums.back().elements, 1000);
  EXPECT_EQ(sums.back().sum, 3);
  EXPECT_TRUE(read("", c).empty());
}

TEST(SumsOfSquares, MayBeInfiniteOrNaN) {
  Case c = sampled();
  c.windows.resize(2, c.windows.front());
  const auto sums = read("w0 1000 inf\nw1 1000 nan\n", c);
  EXPECT_FALSE(std::isfinite(sums.at(0).sum));
  EXPECT_FALSE(std::isfinite(sums.at(1).sum));
}

TEST(SumsOfSquares, AreRefusedWithTheLineThatIsWrong) {
  for (const char* line :
       {"0 1000 1", "w0 1000", "w0 1000 1 1", "w0 x 1", "w0 1000 -1", "wx 1000 1", "w0 0 1", "w0 1.5 1", "w 1000 1"})
    EXPECT_NE(said_of(line).find(std::string("found '") + line + "'; expected w<window> <elements> <sum>"),
              std::string::npos)
        << said_of(line);
  EXPECT_NE(said_of("w99 1000 1").find("expected a window below "), std::string::npos);
  EXPECT_NE(said_of("w0 1 1").find("expected at least the elements that the case has"), std::string::npos);
  EXPECT_NE(said_of("w0 1000 1\nw0 1000 1").find("expected each window once"), std::string::npos);
  Case more = sampled();
  more.windows.resize(3, more.windows.front());
  EXPECT_NE(said_of("w0 1000 1\n", more).find("found 1 lines; expected one for each of 3 windows"), std::string::npos);
}

TEST(SumsOfSquares, AreOfOpaqueModelsAndTheTwoNormAlone) {
  EXPECT_NE(said_of("w0 1000 1", normal_case(3)).find("found it beside a model of known layers"), std::string::npos);
  Case ranks = sampled();
  ranks.execution.ranks.kind = "ranks";
  EXPECT_NE(said_of("w0 1000 1", ranks).find("found it beside ranks; expected no such entry"), std::string::npos);
  Case c = sampled();
  c.recipe.clip = choice_of("clip", "global_norm", {{"max_norm", Decimal{"1"}}, {"norm", std::string("1")}});
  EXPECT_NE(said_of("w0 1000 1", c).find("found it beside a clip by the norm 1; expected the 2-norm"),
            std::string::npos);
}

TEST(SumsOfSquares, AreOfStepsThatGoElementByElement) {
  Case c = sampled();
  c.recipe.optimizer = choice_of("optimizer", "adafactor");
  EXPECT_NE(said_of("w0 1000 1", c)
                .find("found it beside the optimizer adafactor, whose step reads whole tensors; "
                      "expected no such entry, and every element"),
            std::string::npos);
}

}  // namespace
}  // namespace tally::sums_of_squares_test
