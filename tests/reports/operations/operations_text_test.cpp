#include "reports/operations/operations_text.hpp"

#include <gtest/gtest.h>

#include <limits>
#include <nlohmann/json.hpp>

#include "reports/operations/operations_words.hpp"
#include "tests/reports/samples/operations.hpp"

namespace tally::operations_text_test {
namespace {

bool has(const std::string& text, const std::string& part) { return text.find(part) != std::string::npos; }

TEST(OperationsText, BeginsWithTheVerdictAndTheFirstFailure) {
  const std::string text = operations_text(samples::wrong_operations(), "out", {"out/operations.html", "out/r.py"});
  EXPECT_TRUE(text.starts_with(
      "FAIL: addmm leaves values outside of what any order of additions and roundings can leave; 2 operations fail in "
      "all: addmm 1, mm 1\n"
      "  first: operation 16, aten.addmm.default, forward at train.py:17 in forward, module h.0, step 1\n"
      "    result [2, 3] float32, element [1, 2]: found 1.5, expected 1.25 \u00B1 0.0208 (12 times what is allowed); 2 "
      "of 6 elements are wrong\n"
      "  operation 20, aten.mm.default, "))
      << text;
  EXPECT_TRUE(
      has(text, "float32, errors are 25 times what roundings leave; each of 6 elements is inside of its bound"));
  EXPECT_TRUE(has(text, "  repeat the first: python3 out/r.py\n"));
  EXPECT_TRUE(has(text, "  page: out/operations.html\n"));
  EXPECT_FALSE(has(operations_text(samples::wrong_operations(), "out"), "page: "));
}

TEST(OperationsText, SaysWhatIsOnlyImprecise) {
  JudgedRecording judged = samples::wrong_operations();
  judged.failures.erase(judged.failures.begin());
  judged.all.failed = 1;
  EXPECT_TRUE(operations_text(judged, "out").starts_with("FAIL: mm computes less precisely than float32 does\n"));
}

TEST(OperationsText, SaysWhatIsNotJudgedAndWhatItWasHeldTo) {
  const std::string text = operations_text(samples::right_operations(), "out");
  EXPECT_TRUE(text.starts_with("PASS: all 30 operations that were judged left what they may leave\n")) << text;
  EXPECT_TRUE(has(text, "nearest to its bound, at 0.5 of it: operation 16"));
  EXPECT_TRUE(has(text,
                  "not judged: no rule for mylib.twice.default; 2 operations, the first forward at "
                  "mylib/ops.py:15 in f, step 0\n"));
  EXPECT_TRUE(has(text, "not seen: a CUDA graph"));
  EXPECT_TRUE(has(text, "held to the standard profile: every operation computes in float32"));
  EXPECT_TRUE(has(text, "Nothing is known of pytorch-cpu-1.13"));
  EXPECT_TRUE(operations_text({}, "out").starts_with("NOT JUDGED: "));
}

TEST(OperationsText, IsSafeForATerminal) {
  for (const std::string& text : {operations_text(samples::hostile_operations(), "out"),
                                  operation_text(samples::hostile_operations().failures.front())})
    EXPECT_FALSE(has(text, "\x1b") || has(text, "\u202e") || has(text, "\x07"));
}

TEST(OperationsText, ShowsOneOperationInFull) {
  const std::string text = operation_text(samples::wrong_product(), "r.py");
  EXPECT_TRUE(has(text, "  result [2, 3] float32: 2 of 6 elements wrong\n"));
  EXPECT_TRUE(has(text, "[0, 1]")) << text;
  EXPECT_TRUE(text.ends_with("  repeat it: python3 r.py\n"));
  JudgedOperation other = samples::wrong_product();
  other.judged = {JudgedCall::not_judged, "no rule for mylib.twice.default", {}, false};
  EXPECT_TRUE(operation_text(other).starts_with("NOT JUDGED: no rule for mylib.twice.default; a custom operation"));
  other.judged.status = JudgedCall::nothing_to_hold;
  EXPECT_TRUE(operation_text(other).starts_with("NOTHING TO HOLD"));
}

TEST(OperationsText, ShortensPathsNamesAndLists) {
  EXPECT_EQ(short_where("/a/lib/python3.11/site-packages/x/site-packages/y.py:3 in f"), "y.py:3 in f");
  EXPECT_EQ(short_where("/usr/lib/python3/dist-packages/torch/nn.py:3 in f"), "torch/nn.py:3 in f");
  EXPECT_EQ(short_where("train.py:3 in /site-packages/f"), "train.py:3 in /site-packages/f");
  EXPECT_EQ(short_name("aten.add_.Tensor"), "add_.Tensor");
  EXPECT_EQ(short_name("mylib.twice.default"), "mylib.twice");
  EXPECT_EQ(short_list({1, 2, 3, 4, 5, 6}), "[1, 2, 3, 4, 5, 6]");
  EXPECT_EQ(short_list({1, 2, 3, 4, 5, 6, 7, 8}), "[1, 2, 3, 4, 5, \u2026, 8]");
  EXPECT_EQ(short_list({}), "[]");
}

TEST(OperationsText, TellsFaultsApart) {
  JudgedOperation operation = samples::wrong_product();
  JudgedElement& worst = operation.judged.results.front().elements_worst.front();
  operation.judged.results.front().spread = 25;
  EXPECT_EQ(fault_of(operation.judged),
            "computes less precisely than float32 does, and leaves values outside of their bounds");
  EXPECT_TRUE(has(wrong_text(operation.judged.results.front()), "are wrong, errors of the others are 25 times what"));
  operation.judged.results.front().spread = 2;
  worst.allowed = 0;
  EXPECT_EQ(fault_of(operation.judged), "leaves other values than the only right ones");
  worst.found = std::numeric_limits<double>::quiet_NaN();
  EXPECT_EQ(fault_of(operation.judged), "leaves infinities or NaN where there are numbers");
  EXPECT_TRUE(has(wrong_text(operation.judged.results.front()), "found nan, expected 1.25; 2 of 6"));
}

TEST(OperationsDocument, HoldsWhatThePageShows) {
  const nlohmann::json all = nlohmann::json::parse(operations_json(samples::wrong_operations()));
  EXPECT_EQ(all.at("verdict"), "FAIL");
  EXPECT_EQ(all.at("profile").at("of_recording"), "pytorch-cpu-1.13");
  EXPECT_EQ(all.at("failures").at(0).at("results").at(0).at("elements_worst").at(0).at("place"),
            nlohmann::json::parse("[1, 2]"));
  EXPECT_EQ(all.at("failures").at(1).at("fault"), "computes less precisely than float32 does");
  EXPECT_EQ(all.at("not_judged").at(0).at("first").at("number"), 7);
  EXPECT_TRUE(all.at("not_judged").at(0).at("next").get<std::string>().starts_with("a custom operation"));
  EXPECT_EQ(all.at("first_non_finite").at("operation"), "aten.log.default");
  EXPECT_EQ(nlohmann::json::parse(operations_json(samples::hostile_operations())).at("ended"), false);
  const nlohmann::json one = nlohmann::json::parse(operation_json(samples::imprecise_product()));
  EXPECT_EQ(one.at("status"), "judged");
  EXPECT_EQ(one.at("results").at(0).at("spread"), 25);
}

}  // namespace
}  // namespace tally::operations_text_test
