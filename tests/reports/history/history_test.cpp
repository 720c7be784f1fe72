#include "reports/history/history.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <stdexcept>

#include "tests/reports/samples/samples.hpp"

namespace tally::history_test {
namespace {

class History : public testing::Test {
 protected:
  void SetUp() override { std::filesystem::remove(file_); }
  void TearDown() override { std::filesystem::remove(file_); }
  std::string content() const {
    std::ifstream in(file_, std::ios::binary);
    return {std::istreambuf_iterator<char>(in), {}};
  }
  std::string file_ =
      testing::TempDir() + "tally-" + testing::UnitTest::GetInstance()->current_test_info()->name() + ".jsonl";
};

TEST_F(History, GrowsByALineARunAndLeavesWhatStands) {
  EXPECT_TRUE(append(history_entry_of(samples::passing(), "aaaa"), file_));
  const std::string first = content();
  EXPECT_TRUE(append(history_entry_of(samples::failing(), "bbbb"), file_));
  EXPECT_EQ(content().substr(0, first.size()), first);
  const std::string both = content();
  EXPECT_EQ(std::count(both.begin(), both.end(), '\n'), 2);
  EXPECT_FALSE(append(history_entry_of(samples::passing(), "aaaa"), file_));
  EXPECT_EQ(content(), both);
  const auto history = read_history(file_);
  ASSERT_EQ(history.size(), 2u);
  EXPECT_EQ(history[1].commit, "bbbb");
  EXPECT_EQ(history[1].verdict, Status::fail);
  EXPECT_EQ(to_json_line(history[0]), first);
  EXPECT_NE(history_text(history).find("bbbb"), std::string::npos);
}

TEST_F(History, HoldsTheNumbersOfEveryPrecision) {
  const HistoryEntry entry = history_entry_of(samples::failing());
  ASSERT_EQ(entry.precisions.size(), 3u);
  std::uint64_t cases = 0, failed = 0;
  for (const PrecisionHistory& p : entry.precisions) cases += p.cases, failed += p.failed;
  EXPECT_EQ(cases, 252u);
  EXPECT_EQ(failed, 4u);  // three failures, one error
}

TEST_F(History, IsRefusedWithItsLineWhereItIsDamagedAndThenStaysAsItIs) {
  append(history_entry_of(samples::passing(), "aaaa"), file_);
  const std::string whole = content();
  for (const std::string& more :
       {std::string("{\"schema\": 1"), std::string("{}\n"), std::string("\n"), whole.substr(0, 9) + "9}\n"}) {
    std::ofstream(file_, std::ios::binary) << whole << more;
    try {
      append(history_entry_of(samples::failing(), "bbbb"), file_);
      ADD_FAILURE() << more;
    } catch (const std::runtime_error& error) {
      EXPECT_NE(std::string(error.what()).find(".jsonl:2: "), std::string::npos) << error.what();
    }
    EXPECT_EQ(content(), whole + more);
  }
}

}  // namespace
}  // namespace tally::history_test
