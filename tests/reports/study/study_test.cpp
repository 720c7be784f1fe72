#include "reports/study/study.hpp"

#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <iterator>
#include <stdexcept>

#include "tests/reports/samples/samples.hpp"

namespace tally::study_test {
namespace {

namespace fs = std::filesystem;

bool has(const std::string& text, const std::string& part) { return text.find(part) != std::string::npos; }

TEST(StudyPage, OpensWithTheQuestionAndTheAnswer) {
  const std::string page = study_html(samples::study());
  const auto question = page.find("<h1>How does drift grow"), answer = page.find("It grows with K to the power 0.5");

  ASSERT_NE(question, std::string::npos);
  ASSERT_NE(answer, std::string::npos);
  EXPECT_LT(question, answer);
  EXPECT_TRUE(has(page.substr(question, answer - question), "\u2713 pass"));
}

TEST(StudyPage, ShowsEveryPlotTableNoteAndTheLedger) {
  const Study study = samples::study();
  const std::string page = study_html(study);

  for (const StudyPlot& plot : study.plots) EXPECT_TRUE(has(page, "<h3>" + plot.title + "</h3>")) << plot.title;
  for (const StudySeries& series : study.plots[0].series) EXPECT_TRUE(has(page, ">" + series.name + "<"));
  EXPECT_TRUE(has(page, "Fitted exponents"));
  EXPECT_TRUE(has(page, "1,048,576"));
  EXPECT_TRUE(has(page, "Addends are drawn, not measured."));
  EXPECT_TRUE(has(page, study.environment.ledger.front().first));
}

TEST(StudyPage, DrawsAMarkerALineAndAnIntervalForEachPoint) {
  Study study = samples::study();
  study.plots = {study.plots[2]};
  const std::string page = study_html(study);
  std::size_t circles = 0;
  for (auto at = page.find("a3.5 3.5"); at != std::string::npos; at = page.find("a3.5 3.5", at + 1)) ++circles;

  EXPECT_EQ(circles, 2 * (study.plots[0].series[0].x.size() + 1));  // two arcs each; one more in the legend
}

TEST(StudyPage, EscapesWhateverItIsGiven) {
  const Study study = samples::hostile_study();

  EXPECT_FALSE(has(study_html(study), "<script"));
  EXPECT_FALSE(has(study_markdown(study), "<script"));
  EXPECT_FALSE(has(terminal_text(study), "\x1b"));
  EXPECT_TRUE(has(study_html(study), "Incomplete: interrupted"));
}

TEST(StudyMarkdown, HoldsTheAnswerAndTheTables) {
  const std::string text = study_markdown(samples::study());

  EXPECT_TRUE(text.starts_with("## How does drift grow"));
  EXPECT_TRUE(has(text, "| buffer | K | exponent |\n|---|---:|---:|\n| plain | 2 | 0.5 |\n"));
}

TEST(StudyTerminal, HoldsTheAnswerAndTheTables) {
  const std::string text = terminal_text(samples::study());

  EXPECT_TRUE(has(text, "\u2713 pass  It grows with K"));
  EXPECT_TRUE(has(text, "Kahan   1,048,576"));
}

TEST(StudyFiles, AreWrittenTwiceTheSame) {
  const fs::path folder = fs::path(testing::TempDir()) / "tally-study" / "new";
  fs::remove_all(folder.parent_path());
  const auto bytes = [&folder](const char* name) {
    std::ifstream in(folder / name, std::ios::binary);
    return std::string(std::istreambuf_iterator<char>(in), {});
  };
  for (int time = 0; time < 2; ++time) {
    write_study(samples::study(), folder);
    EXPECT_TRUE(bytes("sample.json") == to_json(samples::study()));
    EXPECT_TRUE(bytes("sample.html") == study_html(samples::study()));
    EXPECT_TRUE(bytes("sample.md") == study_markdown(samples::study()));
  }
  fs::remove_all(folder.parent_path());
}

TEST(StudyExit, IsGreenForAPassAlone) {
  Study study;
  const std::pair<Status, int> codes[] = {
      {Status::pass, 0}, {Status::fail, 1}, {Status::error, 3}, {Status::not_run, 4}, {Status::vacuous, 4}};
  for (const auto& [status, code] : codes) {
    study.status = status;
    EXPECT_EQ(exit_code_of(study), code);
  }
}

}  // namespace
}  // namespace tally::study_test
