#include <gtest/gtest.h>

#include "reports/census/conclusions.hpp"

namespace tally::likely_cause_test {
namespace {

CaseRecord failing_at(const std::string& stage, const std::vector<std::string>& suspects) {
  CaseRecord c;
  c.status = Status::fail;
  c.first_stage = stage;
  for (const std::string& name : suspects) {
    c.suspects.emplace_back();
    c.suspects.back().name = name;
    c.suspects.back().sentence = "it is " + name;
  }
  return c;
}

Results of(std::vector<CaseRecord> cases) {
  Results results;
  results.cases = std::move(cases);
  return results;
}

TEST(LikelyCause, IsWhatMostCasesListFirstWhereAThirdListsIt) {
  const Results results = of({failing_at("clip", {"a", "b"}), failing_at("clip", {"b", "a"}), failing_at("clip", {"b"}),
                              failing_at("clip", {}), failing_at("decay", {"a"})});

  EXPECT_EQ(likely_cause_sentence(results), "4 of 5 failing cases fail first at clip; 3 of them look like b: it is b");
}

TEST(LikelyCause, NamesNobodyWhomFewCasesList) {
  const Results results =
      of({failing_at("clip", {"a"}), failing_at("clip", {}), failing_at("clip", {}), failing_at("clip", {"b"})});

  EXPECT_EQ(likely_cause_sentence(results), "4 of 4 failing cases fail first at clip; no suspect is common to them");
}

TEST(LikelyCause, SaysNothingOfOneCaseOrNone) {
  CaseRecord passing;
  EXPECT_EQ(likely_cause_sentence(of({})), "");
  EXPECT_EQ(likely_cause_sentence(of({failing_at("clip", {"a"}), passing})), "");
}

}  // namespace
}  // namespace tally::likely_cause_test
