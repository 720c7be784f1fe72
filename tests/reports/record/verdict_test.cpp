#include <gtest/gtest.h>

#include "reports/report.hpp"
#include "tests/reports/samples/samples.hpp"

namespace tally::verdict_test {
namespace {

Results one_case(Status status) {
  Results results;
  results.cases.resize(1);
  results.cases[0].status = status;
  results.cases[0].checks = 1;
  return results;
}

TEST(Verdict, IsTheCasesOwnWhereThereIsOne) {
  for (const Status status : {Status::pass, Status::fail, Status::vacuous, Status::not_run, Status::error})
    EXPECT_EQ(verdict_of(one_case(status)), status) << word_of(status);
}

TEST(Verdict, OfNothingIsNotRun) { EXPECT_EQ(verdict_of(Results{}), Status::not_run); }

TEST(Verdict, OneFailureOutweighsEveryPass) {
  Results results = samples::passing();
  ASSERT_EQ(verdict_of(results), Status::pass);
  results.cases.back().status = Status::error;
  EXPECT_EQ(verdict_of(results), Status::error);
  results.cases.front().status = Status::fail;
  EXPECT_EQ(verdict_of(results), Status::fail);
}

TEST(Verdict, IsAnErrorWhereTheOracleLeavesItsCertificateWhateverElseFailed) {
  Results results = samples::passing();
  results.cases.front().status = Status::fail;
  results.certified.disagreements = {"w0/m0/forward/a.y[3]: 1 in long double, 2 certified"};

  EXPECT_EQ(verdict_of(results), Status::error);
  EXPECT_EQ(exit_code_of(results), 3);
  EXPECT_NE(verdict_sentence(results).find("the oracle is wrong"), std::string::npos);
  EXPECT_NE(terminal_summary(results).find("forward/a.y[3]"), std::string::npos);
}

TEST(Verdict, SaysWhatWasEvaluatedAgain) {
  Results results = samples::passing();
  results.certified.stages = 12, results.certified.cases = 3, results.certified.elements = 450;

  EXPECT_NE(terminal_summary(results).find("12 stages and 3 whole cases"), std::string::npos);
}

TEST(Verdict, FailsWithTrainingFaultOrControlAlone) {
  Results results = samples::passing();
  results.training.back().status = Status::fail;
  EXPECT_EQ(verdict_of(results), Status::fail);
  results = samples::passing();
  results.faults.back().caught = false;
  EXPECT_EQ(verdict_of(results), Status::fail);
  results = samples::passing();
  results.laws.back().control_differs = false;
  EXPECT_EQ(verdict_of(results), Status::fail);
  results = samples::passing();
  results.laws.back().failed = 1;
  EXPECT_EQ(verdict_of(results), Status::fail);
}

TEST(Verdict, AControlIsOwedOnlyByALawWhoseCasesCount) {
  LawRecord law;
  law.control = "something differs", law.cases = 3, law.not_run = 1, law.vacuous = 2;
  EXPECT_FALSE(control_is_missing(law));
  law.vacuous = 1;
  EXPECT_TRUE(control_is_missing(law));
  law.control_differs = true;
  EXPECT_FALSE(control_is_missing(law));
}

TEST(Verdict, APartialRunIsNeverGreen) {
  EXPECT_EQ(verdict_of(samples::partial()), Status::not_run);
  EXPECT_EQ(exit_code_of(samples::partial()), 4);
}

TEST(Verdict, CaughtFaultsProveNothingAboutVacuousCases) {
  Results results = one_case(Status::vacuous);
  results.faults.resize(1);
  results.faults[0].caught = true;
  EXPECT_EQ(verdict_of(results), Status::vacuous);
  results.cases.clear();
  EXPECT_EQ(verdict_of(results), Status::pass);
}

TEST(VerdictSentence, SaysWhatHappened) {
  EXPECT_EQ(verdict_sentence(samples::passing()), "PASS  38,865 tensor checks inside their bounds, 15 vacuous");
  EXPECT_EQ(verdict_sentence(samples::empty()), "NOT RUN  no GPU here");
  EXPECT_EQ(verdict_sentence(samples::failing()),
            "FAIL  3 of 252 cases broke a law, 1 of 12 trainings left the bounds, 1 of 2 seeded faults not caught, "
            "1 of 3 laws cannot fail: the control does not differ, 1 of 3 triggers was not reached");
  EXPECT_EQ(verdict_sentence(samples::partial()),
            "INCOMPLETE  interrupted after 252 cases: 38,865 tensor checks inside their bounds, 15 vacuous so far");
  EXPECT_EQ(verdict_sentence(one_case(Status::error)), "ERROR  1 of 1 case could not be judged");
}

}  // namespace
}  // namespace tally::verdict_test
