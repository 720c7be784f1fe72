#include "reports/record/kernel_times.hpp"

#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <stdexcept>

namespace tally::kernel_times_test {
namespace {

TEST(KernelTimes, ComeBackAsTheyWereAdded) {
  const auto file = std::filesystem::path(testing::TempDir()) / "kernel_times.tsv";
  std::filesystem::remove(file);
  EXPECT_TRUE(read_kernel_times(file).empty());
  append_kernel_times(file, "a law", "bf16", "0a1b", {{"norm", 0.1}, {"sgd", 1e-300}});
  append_kernel_times(file, "another", "fp32", "2c3d", {{"norm", 3}});
  const auto times = read_kernel_times(file);
  ASSERT_EQ(times.size(), 3u);
  EXPECT_EQ(times[1].law, "a law");
  EXPECT_EQ(times[1].precision, "bf16");
  EXPECT_EQ(times[1].id, "0a1b");
  EXPECT_EQ(times[1].operation, "sgd");
  EXPECT_EQ(times[1].seconds, 1e-300);
  EXPECT_EQ(times[2].seconds, 3);
  EXPECT_THROW(append_kernel_times(file / "below", "a", "b", "c", {{"d", 1}}), std::runtime_error);
}

TEST(KernelTimes, ADamagedLineIsRefusedWithItsNumber) {
  const auto file = std::filesystem::path(testing::TempDir()) / "damaged_times.tsv";
  for (const char* line :
       {"a\tb\tc\td", "a\tb\tc\td\tsoon", "a\tb\tc\td\t-1", "a\tb\tc\td\tnan", "a\tb\tc\td\t1\t2", ""}) {
    std::ofstream(file) << "a\tb\tc\td\t1\n" << line << "\n";
    try {
      read_kernel_times(file);
      FAIL() << "took '" << line << "'";
    } catch (const std::runtime_error& problem) {
      EXPECT_NE(std::string(problem.what()).find("damaged_times.tsv:2: found"), std::string::npos) << problem.what();
    }
  }
}

}  // namespace
}  // namespace tally::kernel_times_test
