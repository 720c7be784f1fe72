#include <gtest/gtest.h>

#include "oracle/case/io.hpp"
#include "tests/oracle/case/case_files.hpp"

namespace tally::case_beside_test {
namespace {

TEST(CaseBesideTensors, ComesBackAsItWas) {
  for (const auto& file : tests::json_files(tests::case_folder / "valid")) {
    const Case c = read_case_file(file);
    const std::string text = write_case_beside_tensors(c);

    EXPECT_EQ(text.find('\n'), std::string::npos);
    EXPECT_EQ(read_case_beside_tensors(text, c.tensors), c);
  }
}

TEST(CaseBesideTensors, AnotherTextIsRefused) {
  EXPECT_THROW(read_case_beside_tensors("{", {}), InvalidCase);
  EXPECT_THROW(read_case_beside_tensors("{\"tally_case\": 2}", {}), InvalidCase);
}

}  // namespace
}  // namespace tally::case_beside_test
