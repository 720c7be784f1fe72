// Clean runs of tests/properties/compare/clean/*.json, each of which a bound once refused: constants that round to the
// end of their range, products and quotients that overflow on the way to a finite number, a norm of exactly zero.
#include <filesystem>

#include "oracle/case/io.hpp"
#include "properties/judge/groups.hpp"
#include "tests/oracle/case/case_files.hpp"
#include "tests/properties/compare/lens_cases.hpp"

namespace tally::clean_cases_test {
namespace {

const std::filesystem::path folder = std::filesystem::path(TALLY_SOURCE_DIR) / "tests/properties/compare/clean";

TEST(FormerAccusations, AreClean) {
  const auto files = tests::json_files(folder);
  for (const auto& file : files) {
    const Case c = read_case_file(file);
    const auto checks = hard_lenses(c, run(c), Grouping::declared).checks;
    EXPECT_EQ(first_failure(checks), nullptr) << file.filename() << " " << told(first_failure(checks));
    EXPECT_EQ(count(checks, Status::not_run), 0u) << file.filename() << " " << missing(checks);
  }
}

}  // namespace
}  // namespace tally::clean_cases_test
