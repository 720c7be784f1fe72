#include "kernels/subjects/plugin/library_run.hpp"

#include <gtest/gtest.h>

#include <cmath>

#include "kernels/training_step/run/own_step.hpp"
#include "oracle/case/io.hpp"
#include "tests/kernels/small_case.hpp"

namespace tally::library_run_test {
namespace {

const char claims[] = R"({"subject": "a test", "constants": "binary64", "divide": "micro_batch",
  "flushes_subnormals": false, "tensor_cores": false, "kernels": {}})";

Trace run_with(std::int32_t (*run)(const tally_run*), const char* claimed = claims) {
  const Case c = small_case();
  return run_library({TALLY_STEP_ABI, "a test", claimed, nullptr, run}, c, write_case_beside_tensors(c), hash_of(c));
}

/// What the failure says.
std::string complaint(std::int32_t (*run)(const tally_run*), const char* claimed = claims) {
  try {
    run_with(run, claimed);
  } catch (const StepFailed& failed) {
    return failed.what();
  }
  return "none";
}

TEST(LibraryRun, AnswersWhatTheCaseSaysByPointers) {
  run_with([](const tally_run* c) -> std::int32_t {
    EXPECT_STREQ(c->text(c->tally, "/model/loss/kind"), "cross_entropy");
    EXPECT_STREQ(c->text(c->tally, "/model/layers/0/bias"), "true");
    EXPECT_STREQ(c->text(c->tally, "/recipe/learning_rate/base"), "0.25");
    EXPECT_EQ(c->number(c->tally, "/recipe/learning_rate/base"), 0.25);
    EXPECT_EQ(c->number(c->tally, "/windows/1/1"), 2);
    EXPECT_EQ(c->count(c->tally, "/windows"), 2);
    EXPECT_EQ(c->count(c->tally, "/windows/0"), 2);
    for (const char* nothing :
         {"/windows/2", "/windows/-1", "/windows/x", "/none", "none", "/model/loss/kind/deeper", "/"}) {
      EXPECT_EQ(c->text(c->tally, nothing), nullptr) << nothing;
      EXPECT_TRUE(std::isnan(c->number(c->tally, nothing))) << nothing;
      EXPECT_EQ(c->count(c->tally, nothing), -1) << nothing;
    }
    EXPECT_EQ(c->tensor(c->tally, "none"), nullptr);
    EXPECT_EQ(c->tensor(c->tally, "x")->rank, 2);
    return TALLY_RAN;
  });
}

TEST(LibraryRun, KeepsEveryTapWithItsBits) {
  const Trace trace = run_with([](const tally_run* c) -> std::int32_t {
    const float factor = 0.5F;
    EXPECT_EQ(c->tap(c->tally, "w1/m0/loss/in.factor", TALLY_FP32, 0, nullptr, &factor, TALLY_HOST), 0);
    return TALLY_RAN;
  });

  ASSERT_EQ(trace.taps().size(), 1U);
  EXPECT_EQ(trace.find("w1/m0/loss/in.factor")->value(0), 0.5);
  EXPECT_EQ(trace.case_hash, hash_of(small_case()));
  EXPECT_EQ(trace.claims.subject, "a test");
}

TEST(LibraryRun, ClaimsOfTheRunStandInPlaceOfTheLibrarys) {
  const auto run = [](const tally_run* c) -> std::int32_t {
    std::string text = claims;
    text.replace(text.find("a test"), 6, "a case");
    c->claims(c->tally, text.c_str());
    return TALLY_RAN;
  };

  EXPECT_EQ(run_with(run).claims.subject, "a case");
  EXPECT_EQ(run_with(run, nullptr).claims.subject, "a case");
  EXPECT_EQ(complaint([](const tally_run*) -> std::int32_t { return TALLY_RAN; }, nullptr),
            "neither the library nor the run says how it computes; expected claims (kernels/trace/trace.md)");
}

TEST(LibraryRun, ReadsNothingOfATapThatTheCaseDoesNotHave) {
  EXPECT_EQ(complaint([](const tally_run* c) -> std::int32_t {
              const std::int64_t shape[] = {std::int64_t{1} << 60, 9};
              EXPECT_NE(c->tap(c->tally, "w0/m0/loss/loss", TALLY_FP32, 2, shape, c, TALLY_HOST), 0);
              EXPECT_NE(c->tap(c->tally, "w0/m9/loss/loss", TALLY_FP32, 0, nullptr, c, TALLY_HOST), 0);
              return TALLY_RAN;
            }),
            "w0/m0/loss/loss: found fp32 [1152921504606846976, 9]; expected fp32 [2]");
}

TEST(LibraryRun, ADeclinedCaseIsNotSupportedWithItsReason) {
  try {
    run_with([](const tally_run* c) -> std::int32_t { return c->say(c->tally, "not today"), TALLY_DECLINED; });
    FAIL();
  } catch (const NotSupported& declined) {
    EXPECT_STREQ(declined.what(), "this subject declines the case: not today");
  }
}

TEST(LibraryRun, AnInputThatWasWrittenToFails) {
  EXPECT_EQ(complaint([](const tally_run* c) -> std::int32_t {
              ++*static_cast<char*>(const_cast<void*>(c->tensor(c->tally, "fc1.weight")->data));
              return TALLY_RAN;
            }),
            "the input 'fc1.weight' changed during the run; expected its bits to stay");
}

}  // namespace
}  // namespace tally::library_run_test
