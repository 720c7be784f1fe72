#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>

#include "reports/capture/page.hpp"
#include "reports/compare/comparison.hpp"
#include "reports/operations/operations_page.hpp"
#include "reports/operations/operations_text.hpp"
#include "reports/operations/repeat_script.hpp"
#include "reports/record/files.hpp"
#include "reports/report.hpp"
#include "reports/study/study.hpp"
#include "tests/reports/samples/captures.hpp"
#include "tests/reports/samples/operations.hpp"
#include "tests/reports/samples/samples.hpp"

namespace tally::recognise_test {
namespace {

namespace fs = std::filesystem;

class Recognise : public testing::Test {
 protected:
  void SetUp() override {
    fs::remove_all(folder_);
    fs::create_directories(folder_);
  }
  void TearDown() override { fs::remove_all(folder_); }
  bool replaceable(const std::string& name, const std::string& content) const {
    std::ofstream(folder_ / name) << content;
    return may_be_replaced(folder_ / name);
  }
  const fs::path folder_ = fs::path(testing::TempDir()) /
                           ("tally-" + std::string(testing::UnitTest::GetInstance()->current_test_info()->name()));
};

TEST_F(Recognise, WhatTallyWritesWhateverCameOut) {
  write_study(samples::study(), folder_);
  for (const Results& results : {samples::passing(), samples::failing(), samples::hostile(), Results{}}) {
    write_report(results, folder_);
    for (const auto& entry : fs::directory_iterator(folder_)) EXPECT_TRUE(may_be_replaced(entry)) << entry.path();
  }
  for (const auto& [name, capture] : samples::all_captures()) {
    if (name == "capture_large") continue;
    EXPECT_TRUE(replaceable("check.json", to_json(capture))) << name;
    EXPECT_TRUE(replaceable("report.html", capture_html(capture, ""))) << name;
  }
  for (const auto& [name, judged] : samples::all_operations()) {
    EXPECT_TRUE(replaceable("operations.json", operations_json(judged))) << name;
    EXPECT_TRUE(replaceable("operations.html", operations_html(judged, "out"))) << name;
  }
  EXPECT_TRUE(replaceable("repeat_operation_16.py", repeat_script(samples::wrong_product(), {}, "bits.bin")));
  EXPECT_TRUE(replaceable("summary.md", comparison_markdown(Comparison{})));
  EXPECT_TRUE(replaceable("run.json", "{\n \"command\": [\n"));
  EXPECT_TRUE(replaceable("results.json", to_json(samples::passing()).substr(0, 200))) << "cut off, and still Tally's";
}

TEST_F(Recognise, NothingThatSomebodyElseWrote) {
  EXPECT_FALSE(replaceable("results.json", "{\"loss\": [1, 2]}"));
  EXPECT_FALSE(replaceable("run.json", "[]"));
  EXPECT_FALSE(replaceable("check.json", "{\n \"assumptions\": [],\n \"mine\": 1\n}\n"));
  EXPECT_FALSE(replaceable("check.json", "{\"tally_check\": 1, \"verdict\": \"pass\", \"mine\": 2}\n"));
  EXPECT_FALSE(replaceable("report.html", "<!DOCTYPE html><title>Thesis</title>"));
  EXPECT_FALSE(replaceable("junit.xml", "<testsuites name=\"pytest\">"));
  EXPECT_FALSE(replaceable("operations.json", "{\n \"all\": {\"mine\": 1}\n}\n"));
  EXPECT_FALSE(replaceable("repeat_operation_16.py", "# Tally of mine\n"));
  EXPECT_FALSE(replaceable("summary.md", "## Summary\n\nMy notes."));
  EXPECT_FALSE(replaceable("summary.txt", "## Summary"));
}

TEST_F(Recognise, AnExactAnswerAndNothingElseWhereOneIsWritten) {
  const fs::path file = folder_ / "answer";
  const auto with = [&file](const std::string& content) {
    std::ofstream(file) << content;
    return may_be_replaced_by_answer(file);
  };
  EXPECT_TRUE(may_be_replaced_by_answer(file));
  EXPECT_TRUE(with(""));
  EXPECT_TRUE(with("{\"full_batch\":[]}"));
  EXPECT_FALSE(with("mine"));
  EXPECT_FALSE(with(to_json(samples::passing())));
  EXPECT_FALSE(may_be_replaced_by_answer(folder_));
}

TEST_F(Recognise, AFolderIsNoFileToReplace) { EXPECT_FALSE(may_be_replaced(folder_)); }

TEST_F(Recognise, WhatIsEmptyOrNotThereIsNobodys) {
  EXPECT_TRUE(replaceable("summary.md", ""));
  EXPECT_TRUE(may_be_replaced(folder_ / "none.json"));
}

}  // namespace
}  // namespace tally::recognise_test
