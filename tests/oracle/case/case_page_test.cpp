#include <gtest/gtest.h>

#include <filesystem>

#include "case_files.hpp"
#include "oracle/case/io.hpp"

namespace tally::case_page_test {
namespace {

/// The page's example names a tensor file that is not there; nothing else about it may be wrong.
TEST(CasePage, ShowsACaseThatTheReaderAccepts) {
  const std::string page = tests::text_of(std::filesystem::path(TALLY_SOURCE_DIR) / "oracle/case.md");
  const auto begin = page.find("```json\n") + 8;
  const std::string example = page.substr(begin, page.find("```", begin) - begin);

  try {
    read_case(example);
    FAIL() << "it was read without its tensors";
  } catch (const InvalidCase& invalid) {
    ASSERT_EQ(invalid.errors().size(), 1u) << invalid.what();
    EXPECT_EQ(invalid.errors()[0].path, "$.tensors");
  }
}

}  // namespace
}  // namespace tally::case_page_test
