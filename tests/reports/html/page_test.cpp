#include <gtest/gtest.h>

#include <algorithm>
#include <limits>

#include "reports/census/conclusions.hpp"
#include "reports/html/plot.hpp"
#include "reports/page/sections.hpp"
#include "reports/report.hpp"
#include "reports/text/text.hpp"
#include "reports/text/words.hpp"
#include "tests/reports/samples/samples.hpp"

namespace tally::page_test {
namespace {

bool has(const std::string& text, const std::string& part) { return text.find(part) != std::string::npos; }

std::size_t times(const std::string& text, const std::string& part) {
  std::size_t count = 0;
  for (auto at = text.find(part); at != text.npos; at = text.find(part, at + 1)) ++count;
  return count;
}

TEST(Page, IsTheSameBytesForTheSameResults) {
  for (const auto& [name, results] : samples::all())
    EXPECT_TRUE(report_html(results) == report_html(results_of_json(to_json(results)))) << name;
}

TEST(Page, DoesNotDependOnTheOrderOfTheCases) {
  Results results = samples::failing();
  const auto body = [](const Results& r) {  // the footer holds the file's own hash
    const std::string page = report_html(r);
    return page.substr(0, page.find("<footer"));
  };
  const std::string page = body(results);
  std::reverse(results.cases.begin(), results.cases.end());
  EXPECT_TRUE(body(results) == page);
}

TEST(Page, SaysTheVerdictInItsHeading) {
  const std::string page = report_html(samples::passing());
  EXPECT_TRUE(has(page, "<h1><span class=\"word\">\u2713 PASS</span> 38,865 tensor checks inside their bounds"));
  EXPECT_TRUE(has(report_html(samples::partial()), "INCOMPLETE</span> interrupted after 252 cases"));
  EXPECT_FALSE(has(report_html(samples::partial()), "class=\"verdict pass\""));
}

TEST(Page, SaysWhenNothingRanOnADevice) {
  EXPECT_TRUE(has(report_html(samples::passing()), "\u2013 not run: no GPU here"));
  Results results = samples::passing();
  results.ran_on_device = 7, results.environment.device = "a GPU";
  EXPECT_TRUE(has(report_html(results), "7 on a GPU."));
}

TEST(Page, SaysWhatTheBoundOfAFailureIsMadeOf) {
  EXPECT_TRUE(has(report_html(samples::failing()), "<small>accumulation 75 %, storage 25 %</small>"));
}

TEST(Page, HoldsEveryFailureWithItsReplayCommand) {
  const Results results = samples::failing();
  const std::string page = report_html(results);
  for (const CaseRecord& c : results.cases) {
    if (c.status != Status::fail) continue;
    EXPECT_TRUE(has(page, "id=\"c-" + c.id + "\""));
    EXPECT_TRUE(has(page, "tally replay " + c.token));
    EXPECT_TRUE(has(page, c.message));
  }
  EXPECT_TRUE(has(page, "unscale-twice was not caught"));
  EXPECT_TRUE(has(page, "Law partition cannot fail here"));
}

TEST(Page, HoldsOneScriptAndNothingThatLoads) {
  for (const auto& [name, results] : samples::all()) {
    const std::string page = report_html(results);
    EXPECT_EQ(times(page, "<script"), 1u) << name;
    EXPECT_TRUE(has(page, "<script>" + script() + "</script>")) << name;
    EXPECT_FALSE(has(page, " style=\"")) << name;
    EXPECT_FALSE(has(page, "http:")) << name;
    EXPECT_FALSE(has(page, "https:")) << name;
    EXPECT_EQ(times(page, "<h1"), 1u) << name;
  }
}

TEST(Page, StaysSmallForManyCases) {
  const std::string page = report_html(samples::large(2000));
  EXPECT_LE(page.size(), 1'500'000u);
  EXPECT_LE(times(page, "id=\"c-"), listed_cases + 5 * samples::large(2000).laws.size());
}

TEST(Page, ShowsWhereInAFailingTensorTheErrorsAre) {
  const std::string page = report_html(samples::failing());
  EXPECT_TRUE(has(page, "Worst elements of w0/m1/backward/d.fc1.weight"));
  EXPECT_TRUE(has(page, "Where in w0/m1/backward/d.fc1.weight"));
  EXPECT_TRUE(has(page, "Error against size in w0/m1/backward/d.fc1.weight"));
  EXPECT_FALSE(has(report_html(samples::passing()), "Where in "));
}

TEST(Page, ShowsTheStudiesItCarriesAndWhereTheyComeFrom) {
  const std::string page = report_html(samples::failing());
  for (const char* id : {"id=\"drift\"", "id=\"rules\"", "id=\"evidence\"", "id=\"gate\"", "id=\"ledger\""})
    EXPECT_TRUE(has(page, std::string("<h2 ") + id)) << id;
  EXPECT_TRUE(has(page, "<a href=\"#gate\">"));
  EXPECT_TRUE(has(page, "seed 7, effort 1, host executor, g++ 12.2"));
  EXPECT_TRUE(has(page, "commit 0123456789ab. Not measured by this run."));
  for (const char* id : {"\"rules\"", "\"gate\"", "#gate"})
    EXPECT_FALSE(has(report_html(samples::passing()), id)) << id;
}

TEST(Page, LeavesMostRowsOfALongFoldedTableToTheStudysOwnPage) {
  Results results = samples::failing();
  Study& study = results.studies.front();
  StudyColumn column{"row", {}, {}};
  for (int i = 0; i < 1000; ++i) column.words.push_back("row-" + std::to_string(i));
  study.tables.resize(1);
  study.tables.push_back({"long", "", {column}});

  const std::string page = report_html(results);

  EXPECT_TRUE(has(page, ">row-0<") && !has(page, ">row-999<"));
  EXPECT_TRUE(has(page, " more, in the study&#39;s own page<") || has(page, " more, in the study's own page<"));
}

TEST(Page, ComparesWithABaselineAndWithEarlierRunsWhereTheyAreGiven) {
  const Results results = samples::passing();
  ReportContext context;
  context.baseline = baseline_of(results);
  for (BlessedCase& c : context.baseline->cases) c.worst_ratio /= 2, c.digest = digest_of(c);
  context.history = {history_entry_of(samples::failing(), "3f2c1d9"), history_entry_of(results)};
  const std::string page = report_html(results, context);
  EXPECT_TRUE(has(page, "<svg role=\"img\" aria-labelledby=\"p4-t p4-d\""));
  EXPECT_TRUE(has(page, "<svg role=\"img\" aria-labelledby=\"p7-t p7-d\""));
  EXPECT_TRUE(has(page, "3f2c1d9"));
  EXPECT_TRUE(has(page, "\u25B2 drift"));
  EXPECT_FALSE(has(report_html(results), "p4-t"));
  EXPECT_FALSE(has(report_html(results), "p7-t"));
}

TEST(Failure, ReadsTheSameOnTheTerminalInJunitAndOnThePage) {
  const Results results = samples::failing();
  std::size_t failed = 0;
  for (const CaseRecord& c : results.cases) {
    if (c.status != Status::fail) continue;
    ++failed;
    const std::string one = failure_text(c, results.environment, 1);
    for (const std::string& part : {"c-" + c.id, census_text(c.worst.front()), bound_text(c.worst.front()),
                                    "tally replay " + c.token, hexadecimal_text(c.worst.front().expected)})
      EXPECT_TRUE(has(one, part)) << part;
    EXPECT_TRUE(has(terminal_summary(results), one));
    EXPECT_TRUE(has(junit_xml(results), escaped(failure_text(c, results.environment))));
    EXPECT_TRUE(has(report_html(results), escaped(failure_text(c, results.environment))));
  }
  EXPECT_GT(failed, 0u);
}

TEST(Anchor, KeepsOnlyWhatALinkCanHold) { EXPECT_EQ(anchor("c-", "a b\"<1>"), "c-a_b__1_"); }

TEST(Plot, PutsWhatDoesNotFitIntoItsLanes) {
  Decades decades;
  for (const double value : {0.0, 0.001, 1.0, 1e300}) decades.include(value);
  decades.limit(-6, 6);
  EXPECT_TRUE(decades.zeros);
  EXPECT_TRUE(decades.non_finite);
  std::string out;
  Markup page(out);
  Svg svg(page, "p", "t", "d", Plot::width, Plot::height);
  const Plot plot(svg, decades, "r");
  EXPECT_EQ(plot.y(1e300), plot.y(std::numeric_limits<double>::quiet_NaN()));
  EXPECT_GT(plot.y(0), plot.y(0.001));
  EXPECT_GT(plot.y(0.001), plot.y(1));
  EXPECT_GT(plot.y(1), plot.y(1e300));
}

TEST(Thinned, KeepsBothEnds) {
  const auto some = thinned(1000, 7);
  EXPECT_EQ(some.size(), 7u);
  EXPECT_EQ(some.front(), 0u);
  EXPECT_EQ(some.back(), 999u);
  EXPECT_EQ(thinned(3, 7).size(), 3u);
}

TEST(Page, MapsAFailingMatrixByRowAndColumn) {
  const std::string page = report_html(samples::failing());
  EXPECT_TRUE(has(page, "-map-t\""));
  EXPECT_TRUE(has(page, "32 of 300 blocks are outside the bound, all in rows 32 to 47 and columns 4 to 7"));
  EXPECT_FALSE(has(report_html(samples::passing()), "outside the bound, all in"));
}

TEST(Page, AMapThatDoesNotFitItselfIsLeftOut) {
  Results results = samples::failing();
  for (CaseRecord& c : results.cases)
    for (TensorCheck& t : c.worst)
      if (t.profile.map.rows > 0) t.profile.map.ratio.pop_back();
  EXPECT_FALSE(has(report_html(results), "-map-t\""));
}

TEST(Page, MarksWhereABaselineWasBlessedInTheHistory) {
  const Results results = samples::passing();
  ReportContext context;
  context.history = {history_entry_of(results, "0a1b2c"), history_entry_of(results, "3d4e5f")};
  EXPECT_FALSE(has(report_html(results, context), ">baseline blessed<"));
  context.baseline = baseline_of(results);
  Blessing& blessing = context.baseline->blessings.front();
  blessing.commit = "3d4e5f", blessing.reason = "split the reduction";
  EXPECT_TRUE(has(report_html(results, context), ">baseline blessed<"));
  EXPECT_EQ(times(report_html(results, context), "split the reduction"), 2u);
  blessing.commit = "another";
  EXPECT_FALSE(has(report_html(results, context), ">baseline blessed<"));
}

TEST(Page, ListsCasesOfEveryPrecisionAmongTheWorst) {
  Results results = samples::passing();
  for (CaseRecord& c : results.cases)
    if (c.precision == "bf16")
      c.operations[0].standing.excess = c.worst_local_excess = c.worst_end_to_end_excess = 1e-9;
  const std::string page = report_html(results);
  const auto from = page.find("id=\"worst\""), to = page.find("</table>", from);
  EXPECT_EQ(times(page.substr(from, to - from), "data-p=\"bf16\""), 3u);
}

TEST(Page, OpensAFailureWithWhatAndWhy) {
  Results results = samples::failing();
  const CaseRecord* told = telling_failure(results);
  ASSERT_NE(told, nullptr);
  const std::string page = report_html(results), banner = page.substr(0, page.find("</header>"));
  EXPECT_TRUE(has(banner, escaped(failure_sentence(*told))));
  EXPECT_TRUE(has(banner, "kernel accumulate/grid_stride, kernels/accumulate/accumulate.cu"));
  EXPECT_FALSE(has(report_html(samples::passing()), "right is"));
}

TEST(Page, SaysInItsHeadingWhatComesNearestForItsKind) {
  Results results = samples::passing();
  results.studies = samples::studies();
  EXPECT_TRUE(has(report_html(results), "Nearest to a limit for its kind: accumulate/grid_stride uses "));
  EXPECT_TRUE(has(report_html(results), "(as much: beyond all of 20,000 clean tensors)"));
  EXPECT_FALSE(has(report_html(samples::failing()), "Nearest to a limit for its kind"));
}

TEST(Page, SaysInItsHeadingWhatTheGateLeavesToDecide) {
  const Results before = samples::passing();
  Results now = before;
  now.cases[0].operations[0].bits = "other bits";
  ReportContext context;
  context.baseline = baseline_of(before);
  context.file_of = [](const std::string&, const std::string&) { return "kernels/window/accumulate.cu"; };
  const std::string page = report_html(now, context), banner = page.substr(0, page.find("</header>"));
  EXPECT_TRUE(has(banner, "Against the baseline: FAIL  1 kernel changed (accumulate/grid_stride)")) << banner;
  EXPECT_TRUE(has(page, "kernels/window/accumulate.cu"));
  EXPECT_FALSE(has(report_html(now), "Against the baseline"));
}

TEST(Page, FoldsFamiliesOfLawsButThoseThatFail) {
  const std::string page = report_html(samples::failing());
  EXPECT_TRUE(has(page, "<details open=\"open\"><summary>\u2717 equivalence: 2 laws"));
  EXPECT_TRUE(has(report_html(samples::passing()), "<details><summary>equivalence: 2 laws"));
}

TEST(Page, ShowsEveryKernelAndThoseOfOneRoundingApart) {
  Results results = samples::passing();
  results.studies = samples::studies();
  const std::string page = report_html(results);
  EXPECT_TRUE(has(page, "id=\"kernels-figure\"") || has(page, "kernels-figure-t"));
  EXPECT_TRUE(has(page, "Kernels whose bounds are of several roundings"));
  EXPECT_TRUE(has(page, "1 kernel whose bound is one rounding or none"));  // schedule
  for (CaseRecord& c : results.cases) c.operations.clear();
  EXPECT_FALSE(has(report_html(results), "kernels-figure"));
}

TEST(Page, DrawsEachCombinationOfFormatsByItself) {
  const std::string page = report_html(samples::passing());
  EXPECT_TRUE(has(page, "Drift against K, fp32<"));
  EXPECT_TRUE(has(page, "Drift against K, fp32, buffer fp16<"));
}

}  // namespace
}  // namespace tally::page_test
