#include "reports/report.hpp"

#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <iterator>
#include <stdexcept>

#include "reports/summary/summary.hpp"
#include "tests/reports/samples/samples.hpp"

namespace tally::report_test {
namespace {

namespace fs = std::filesystem;

bool has(const std::string& text, const std::string& part) { return text.find(part) != std::string::npos; }

TEST(Summary, StartsWithTheVerdictAndShowsFailures) {
  const std::string text = summary_markdown(samples::failing());
  EXPECT_TRUE(text.starts_with("## \u2717 FAIL  3 of 252 cases broke a law"));
  EXPECT_TRUE(has(text, "| loss-scale |"));
  EXPECT_TRUE(has(text, "```\n./tally replay "));
  EXPECT_TRUE(has(text, "**not run**"));
}

TEST(Summary, NeverPassesItsLimitAndSaysWhatIsMissing) {
  const Results results = samples::failing();
  const std::size_t whole = summary_markdown(results).size();
  for (std::size_t limit = 200; limit <= whole + 200; limit += 50) {
    const std::string text = summary_markdown(results, limit);
    EXPECT_LE(text.size(), limit);
    EXPECT_EQ(has(text, " more: see report.html"), text.size() < whole) << limit;
  }
}

TEST(Markdown, ShowsTextAsItIs) {
  EXPECT_EQ(markdown("a|b\n`<c>` [d](e)"), "a\\|b \\`&lt;c&gt;\\` \\[d\\]\\(e\\)");
  EXPECT_EQ(code_block("a```b"), "````\na```b\n````\n\n");
}

TEST(Terminal, ShowsLawsFaultsAndWorstCases) {
  const std::string text = terminal_summary(samples::failing());
  for (const char* part :
       {"FAIL  3 of 252", "Laws\n", "DOES NOT DIFFER", "Seeded faults\n", "\u2717 MISSED", "Training\n",
        "Cases nearest to a limit\n", "= reproduce: ./tally replay tly1:", "GPU: 0 (not run)"})
    EXPECT_TRUE(has(text, part)) << part;
  EXPECT_FALSE(has(terminal_summary(samples::hostile()), "\x1b"));
}

TEST(Report, WritesItsFilesTwiceTheSame) {
  const fs::path folder = fs::path(testing::TempDir()) / "tally-report" / "new";
  fs::remove_all(folder.parent_path());
  const auto bytes = [&folder](const char* name) {
    std::ifstream in(folder / name, std::ios::binary);
    return std::string(std::istreambuf_iterator<char>(in), {});
  };
  for (int time = 0; time < 2; ++time) {
    write_report(samples::failing(), folder);
    EXPECT_TRUE(bytes("results.json") == to_json(samples::failing()));
    EXPECT_TRUE(bytes("report.html") == report_html(samples::failing()));
    EXPECT_TRUE(bytes("junit.xml") == junit_xml(samples::failing()));
    EXPECT_TRUE(bytes("summary.md") == summary_markdown(samples::failing()));
  }
  fs::remove_all(folder.parent_path());
}

TEST(Report, NamesTheFolderThatItCannotWriteTo) {
  const fs::path file = fs::path(testing::TempDir()) / "tally-report-file";
  std::ofstream(file) << "x";
  try {
    write_report(Results{}, file / "below");
    FAIL() << "wrote below a file";
  } catch (const std::runtime_error& error) {
    EXPECT_TRUE(has(error.what(), (file / "below").string())) << error.what();
  }
  fs::remove(file);
}

}  // namespace
}  // namespace tally::report_test
