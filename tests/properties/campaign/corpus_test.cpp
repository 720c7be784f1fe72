#include "properties/campaign/corpus.hpp"

#include <gtest/gtest.h>

#include "oracle/case/io.hpp"
#include "properties/generators/choices.hpp"
#include "properties/generators/plan.hpp"

namespace tally {
namespace {

namespace fs = std::filesystem;

Case small_case() {
  Plan plan;
  plan.loss = choice("loss", "mse");
  plan.recipe = {choice("optimizer", "sgd"), choice("learning_rate", "constant", {{"base", Decimal{"0.1"}}}),
                 choice("weight_decay", "none"), choice("clip", "none"), choice("loss_scale", "none")};
  return case_of(plan);
}

TEST(Corpus, gives_back_what_it_kept_sorted_and_with_its_law) {
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

TEST(Corpus, is_empty_where_there_is_no_folder) {
  EXPECT_TRUE(kept_cases(fs::path(testing::TempDir()) / "tally-corpus-absent").empty());
}

}  // namespace
}  // namespace tally
