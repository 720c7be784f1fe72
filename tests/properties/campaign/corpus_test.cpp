#include <gtest/gtest.h>
#include <sys/stat.h>

#include <algorithm>
#include <filesystem>
#include <fstream>

#include "oracle/case/io.hpp"
#include "properties/campaign/campaign.hpp"
#include "properties/generators/choices.hpp"
#include "properties/generators/plan.hpp"

namespace tally::corpus_test {
namespace {

namespace fs = std::filesystem;

Case small_case() {
  Plan plan;
  plan.loss = choice("loss", "mse");
  plan.recipe = {choice("optimizer", "sgd"), choice("learning_rate", "constant", {{"base", Decimal{"0.1"}}}),
                 choice("weight_decay", "none"), choice("clip", "none"), choice("loss_scale", "none")};
  return case_of(plan);
}

TEST(Corpus, GivesBackWhatItKeptSortedAndWithItsLaw) {
  const fs::path folder = fs::path(testing::TempDir()) / "tally-corpus-kept";
  fs::remove_all(folder);
  const Case c = small_case();

  keep(folder, "second_law", "b", c);
  keep(folder, "first_law", "a", c);

  const auto kept = kept_cases(folder);
  ASSERT_EQ(kept.size(), 2u);
  EXPECT_EQ(kept[0].law, "first_law");
  EXPECT_EQ(kept[1].law, "second_law");
  EXPECT_EQ(hash_of(read_case_file(kept[0].file)), hash_of(c));
  fs::remove_all(folder);
}

TEST(Corpus, IsEmptyWhereThereIsNoFolder) {
  EXPECT_TRUE(kept_cases(fs::path(testing::TempDir()) / "tally-corpus-absent").empty());
}

TEST(Corpus, WaitsForNoPipeAndNamesWhatIsNoCase) {
  const fs::path folder = fs::path(testing::TempDir()) / "tally-corpus-bad";
  fs::remove_all(folder);
  fs::create_directories(folder / "law@folder.json");
  std::ofstream(folder / "law@cut.json") << "{";
  ASSERT_EQ(mkfifo((folder / "law@pipe.json").c_str(), 0600), 0);
  fs::create_symlink("nowhere", folder / "law@link.json");

  const auto kept = kept_cases(folder);

  ASSERT_EQ(kept.size(), 4u);
  for (const KeptCase& each : kept) {
    try {
      case_of(each);
      ADD_FAILURE() << each.file << " was read";
    } catch (const std::runtime_error& problem) {
      EXPECT_TRUE(std::string(problem.what()).starts_with(each.file.string() + ": ")) << problem.what();
    }
  }
  fs::remove_all(folder);
}

/// An error of one precision's task; the others go on, and so does this one.
TEST(Corpus, WithABadFileIsOneErrorAndTheCampaignGoesOn) {
  const fs::path folder = fs::path(testing::TempDir()) / "tally-corpus-campaign";
  fs::remove_all(folder);
  fs::create_directories(folder);
  std::ofstream(folder / "exact_lane@cut.json") << "{";
  CampaignOptions options;
  options.law_glob = "exact_lane";
  options.cases = 2;
  options.training = false;
  options.corpus = folder;

  for (const int processes : {1, 2}) {
    options.processes = processes;
    const Results results = run_campaign(options);

    const auto errors = std::ranges::count(results.cases, Status::error, &CaseRecord::status);
    EXPECT_EQ(errors, 1);
    EXPECT_EQ(results.cases.size(), 2 * options.precisions.size() + 1);
  }
  fs::remove_all(folder);
}

}  // namespace
}  // namespace tally::corpus_test
