// The storage formats that the program takes and shows are those of the oracle's table.
#include <gtest/gtest.h>

#include "oracle/case/tensors/tensor.hpp"
#include "reports/census/census.hpp"
#include "reports/command_line/output.hpp"
#include "reports/command_line/verify/run_facts.hpp"
#include "reports/command_line/verify/subject.hpp"

namespace tally::command_line::precisions_test {
namespace {

TEST(Precisions, AreEveryStorageFormat) {
  EXPECT_EQ(precisions_of(VerifyOptions().precisions), storage_formats());
  EXPECT_EQ(std::vector<std::string>(storage_precisions.begin(), storage_precisions.end()),
            names_of(storage_formats()));
}

TEST(Precisions, RefuseAnotherWordAndNameThoseThereAre) {
  for (const char* word : {"fp64", "i64"}) {
    try {
      precisions_of({word});
      ADD_FAILURE() << word << " was taken";
    } catch (const UsageError& error) {
      EXPECT_NE(std::string(error.what()).find("expected fp32, fp16 or bf16"), std::string::npos) << error.what();
    }
  }
}

}  // namespace
}  // namespace tally::command_line::precisions_test
