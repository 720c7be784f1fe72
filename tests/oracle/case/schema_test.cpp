#include <gtest/gtest.h>

#include <filesystem>

#include "case_files.hpp"
#include "oracle/case/io.hpp"

namespace tally::schema_test {
namespace {

TEST(Schema, IsTheCommittedFile) {
  const auto committed = std::filesystem::path(TALLY_SOURCE_DIR) / "oracle/case/schema.json";
  if (const char* out = std::getenv("TALLY_WRITE_SCHEMA")) std::ofstream(out, std::ios::binary) << json_schema();

  EXPECT_EQ(json_schema(), tests::text_of(committed))
      << "run this test with TALLY_WRITE_SCHEMA=" << committed << " to write it anew";
}

}  // namespace
}  // namespace tally::schema_test
