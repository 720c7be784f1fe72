#include <gtest/gtest.h>

#include "reports/command_line/output.hpp"
#include "reports/command_line/verify/subject.hpp"

namespace tally::command_line::own_step_subject_test {
namespace {

TEST(OwnStepSubject, MemoryIsSaidInWords) {
  EXPECT_EQ(bytes_of_words("1", "--step-memory"), 1U);
  EXPECT_EQ(bytes_of_words("512M", "--step-memory"), std::uint64_t{512} << 20);
  EXPECT_EQ(bytes_of_words("1.5G", "--step-memory"), std::uint64_t{3} << 29);
  for (const char* wrong : {"", "G", "-1", "0", "nan", "inf", "4Q", "4GB", "2000T"})
    EXPECT_THROW(bytes_of_words(wrong, "--step-memory"), UsageError) << wrong;
}

TEST(OwnStepSubject, IsToldByItsPrefix) {
  EXPECT_TRUE(is_own_step("step:x.so"));
  EXPECT_TRUE(is_own_step("exec:x"));
  EXPECT_FALSE(is_own_step("host"));
  EXPECT_FALSE(is_own_step("steps"));
}

TEST(OwnStepSubject, OptionsThatSpeakOfTallysKernelsAreRefused) {
  EXPECT_THROW(own_step_subject({.subject = "step:"}), UsageError);
  EXPECT_THROW(own_step_subject({.subject = "exec: "}), UsageError);
  EXPECT_THROW(own_step_subject({.subject = "exec:true", .fault = "mean-of-means"}), UsageError);
  EXPECT_THROW(own_step_subject({.subject = "exec:true", .kernels = {"norm=shared_tree"}}), UsageError);
  EXPECT_THROW(own_step_subject({.subject = "exec:true", .in_process = true}), UsageError);
}

}  // namespace
}  // namespace tally::command_line::own_step_subject_test
