// The page of one capture.
#include "reports/capture/page.hpp"

#include <gtest/gtest.h>

#include <algorithm>

#include "tests/reports/samples/captures.hpp"

namespace tally::page_test {
namespace {

bool has(const std::string& text, const std::string& part) { return text.find(part) != std::string::npos; }

std::string page_of(const CaptureRecord& capture) { return capture_html(capture, "the document"); }

TEST(CapturePage, SaysTheVerdictAndTheFirstFailureInASentence) {
  EXPECT_TRUE(has(page_of(samples::right_capture()),
                  "<h1><span class=\"word\">\u2713 PASS</span> 60 tensor checks inside their bounds</h1>"));
  const std::string page = page_of(samples::wrong_capture());
  EXPECT_TRUE(has(page, "<h1><span class=\"word\">\u2717 FAIL</span> the micro-batches are summed</h1>"));
  EXPECT_TRUE(has(page,
                  "<p class=\"bad\">What to change: divide by the window&#39;s 8 items: "
                  "<code>loss.sum() / 8</code></p>"));
  EXPECT_TRUE(has(page, "<p>At train.py:14: <code class=\"long\">loss = f(x)</code></p>"));
  EXPECT_TRUE(has(page, "24 of 60 tensor checks are outside their bounds, first at stage backward."));
  EXPECT_TRUE(has(page, "First wrong: " + samples::wrong_capture().sentence + "."));
  EXPECT_TRUE(has(page, "<code class=\"long\">g = sum_k g_k</code>"));
}

TEST(CapturePage, SaysWhatIsAssumedClaimedAndNotJudged) {
  const std::string wrong = page_of(samples::wrong_capture()), partial = page_of(samples::partial_capture());
  EXPECT_TRUE(has(wrong, "<li>the loss is a mean over rows</li>"));
  EXPECT_TRUE(has(wrong, "<li>subject: a loop in PyTorch</li>"));
  EXPECT_FALSE(has(partial, "id=\"assumed\""));
  EXPECT_TRUE(has(partial, "<li>judged as one group, as nothing between was recorded: forward..loss</li>"));
  EXPECT_TRUE(has(partial, "<li>too few taps to judge: forward (w0/m0/forward/fc1.weight)</li>"));
  EXPECT_TRUE(has(partial, "\u2013 NOT JUDGED</span> the taps for 12 of 60 tensor checks are missing"));
  EXPECT_FALSE(has(partial, "class=\"verdict pass\""));
}

TEST(CapturePage, NamesAGapOnlyWhereOneIsKnownOrPossibleAndOfWhichRecipe) {
  const std::string recipe = "Semantic gap of the recipe that was stated (normalisation window_items): ";
  EXPECT_TRUE(has(page_of(samples::wrong_capture()), recipe + "the first window&#39;s gradient differs by"));
  EXPECT_TRUE(has(page_of(samples::right_capture()), recipe + "none, "));
  EXPECT_FALSE(has(page_of(samples::partial_capture()), "Semantic gap of"));
}

TEST(CapturePage, SaysOfAFailureAloneWhatTheLoopsOwnGapIs) {
  CaptureRecord wrong = samples::wrong_capture();
  EXPECT_TRUE(
      has(page_of(wrong),
          "<p>The loop&#39;s own gap: its gradient of window 0 differs from the stated recipe&#39;s by 200 % of "
          "the norm.</p>"));
  EXPECT_FALSE(has(page_of(wrong), "Rounding drift of"));
  for (TensorCheck& check : wrong.checks)
    if (check.tap.starts_with("w0/m")) check.status = Status::pass;
  EXPECT_TRUE(has(page_of(wrong), "of the norm, inside its bounds: the error comes after it.</p>"));
  wrong.own_gap.reset();
  EXPECT_TRUE(has(page_of(wrong), "<p>The loop&#39;s own gap: not known, as too little"));
  EXPECT_FALSE(has(page_of(samples::right_capture()), "<p>The loop&#39;s own gap"));
  EXPECT_TRUE(has(page_of(samples::right_capture()), "Rounding drift of"));
}

TEST(CapturePage, FoldsAllFiguresAndShowsATensorOnce) {
  CaptureRecord wrong = samples::wrong_capture();
  const auto first = std::find_if(wrong.checks.begin(), wrong.checks.end(),
                                  [](const TensorCheck& check) { return check.status == Status::fail; });
  TensorCheck again = *first;
  again.lens = "end_to_end";
  wrong.checks.insert(first + 1, again);
  const std::string page = page_of(wrong), tap = "<code>" + again.tap + "</code>";
  const std::size_t folded = page.find("<summary>All figures"), short_one = page.find(tap);
  ASSERT_NE(folded, std::string::npos);
  EXPECT_LT(short_one, folded);
  EXPECT_GT(page.find(tap, short_one + 1), folded);
  EXPECT_GT(page.find("0x1p-1"), folded);
}

TEST(CapturePage, GivesEverySignItsWordsAndFramesTheFirstFailure) {
  const std::string page = page_of(samples::wrong_capture());
  EXPECT_TRUE(has(page, "<td class=\"s fail tint-fail first\"><a href=\"#failing\""));
  EXPECT_TRUE(has(page, "title=\"FAIL, 1 of 2 checks outside; worst"));
  const std::string partial = page_of(samples::partial_capture());
  EXPECT_TRUE(has(partial, "aria-label=\"not run, 2 of 2 checks without the taps\""));
  EXPECT_TRUE(has(partial, "aria-label=\"vacuous, 2 checks, 2 vacuous\""));
}

TEST(CapturePage, OfACaptureOfAnySizeIsSmall) {
  constexpr std::size_t most_bytes = 1'500'000;
  for (const auto& [tensors, micro_batches] : {std::pair(1000, 64), std::pair(2, 8'000)}) {
    const std::string page = page_of(samples::large_capture(tensors, micro_batches));
    EXPECT_LE(page.size(), most_bytes) << tensors << " tensors, " << micro_batches << " micro-batches";
  }
  EXPECT_TRUE(has(page_of(samples::large_capture(2, 8'000)), "7,873 further columns are left out"));
}

TEST(CapturePage, IsTheSameBytesForTheSameCapture) {
  const CaptureRecord capture = samples::hostile_capture();
  EXPECT_TRUE(page_of(capture) == page_of(samples::hostile_capture()));
  EXPECT_TRUE(capture_html(capture, "another document") != page_of(capture));
}

}  // namespace
}  // namespace tally::page_test
