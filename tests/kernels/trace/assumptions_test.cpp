#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>

#include "kernels/trace/recorder_notes.hpp"
#include "oracle/case/file/safetensors.hpp"

namespace tally::assumptions_test {
namespace {

template <class Of>
std::vector<std::string> read_by(Of of, const std::map<std::string, std::string>& metadata) {
  TensorFile content;
  content.metadata = metadata;
  content.tensors["x"] = Tensor(Dtype::fp32, {2});
  const std::string test = testing::UnitTest::GetInstance()->current_test_info()->name();  // they run side by side
  const auto file = std::filesystem::path(testing::TempDir()) / ("assumptions_" + test + ".safetensors");
  std::ofstream(file, std::ios::binary) << write_safetensors(content);
  return of(file);
}

std::vector<std::string> read(const std::map<std::string, std::string>& metadata) {
  return read_by(assumptions_of, metadata);
}

using Lines = std::vector<std::string>;

TEST(Assumptions, AreTheLinesOfTheirEntry) {
  EXPECT_EQ(read({}), Lines());
  EXPECT_EQ(read({{"assumptions", ""}}), Lines());
  EXPECT_EQ(read({{"assumptions", "rows are items\n\nno scaler\n"}}), (Lines{"rows are items", "no scaler"}));
}

TEST(Assumptions, StandApartFromTheCausesThatWereSeen) {
  EXPECT_EQ(read_by(seen_causes_of, {{"assumptions", "no scaler"}}), Lines());
  EXPECT_EQ(read_by(seen_causes_of, {{"assumptions", "no scaler"}, {"seen", "decay-in-the-loss\n"}}),
            Lines{"decay-in-the-loss"});
}

TEST(Assumptions, AreBounded) {
  std::string many;
  for (std::size_t i = 0; i < most_assumptions + 7; ++i) many += std::to_string(i) + "\n";
  const Lines lines = read({{"assumptions", many}});
  ASSERT_EQ(lines.size(), most_assumptions + 1);
  EXPECT_EQ(lines.back(), "and 7 more");
  EXPECT_EQ(read({{"assumptions", std::string(100'000, 'x')}}).front().size(), 403u);
}

}  // namespace
}  // namespace tally::assumptions_test
