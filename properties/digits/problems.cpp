// Which training problems there are. With LayerNorm or no norm every cut equals the full batch, so all share one exact
// trajectory; with BatchNorm each cut is an exact problem of its own.
#include "properties/digits/training.hpp"

namespace tally {
namespace {

const std::vector<BatchCut>& digit_cuts() {
  static const std::vector<BatchCut> cuts{
      {"K=1", {64}, {5}},
      {"K=2", {32, 32}, {5}},
      {"K=4", {16, 16, 16, 16}, {5}},
      {"K=8", {8, 8, 8, 8, 8, 8, 8, 8}, {5}},
      {"uneven", {20, 20, 20, 4}, {3, 2}},
  };
  return cuts;
}

std::vector<BatchCut> tutorial_cuts() {
  return {{"K=1", {64}, {}}, {"K=2", {32, 32}, {}}, {"K=4", {16, 16, 16, 16}, {}}, {"uneven", {20, 20, 20, 4}, {}}};
}

std::vector<TrainingProblem> all_problems() {
  return {
      {"digits, 64-32-10 BatchNorm", "digits", "64-32-10 BatchNorm", digit_cuts(), false},
      {"digits, 64-32-10 LayerNorm", "digits", "64-32-10 LayerNorm", digit_cuts(), true},
      {"tutorial, 100-500-10", "tutorial", "100-500-10", tutorial_cuts(), true},
  };
}

}  // namespace

const std::vector<TrainingProblem>& training_problems() {
  static const std::vector<TrainingProblem> problems = all_problems();
  return problems;
}

}  // namespace tally
