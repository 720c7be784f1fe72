// A plan: the few numbers a case is drawn from. RapidCheck draws and shrinks plans; case_of() turns one into a case,
// always the same one.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "oracle/case/case.hpp"

namespace tally {

struct Plan {
  std::int64_t input = 4;
  std::vector<Layer> layers;  // options filled in; masks and parameters drawn by case_of
  std::int64_t outputs = 3;
  std::string loss = "cross_entropy";
  bool ignored_targets = false;  // some rows carry ignore_index
  bool all_ignored_micro_batch = false;
  double label_smoothing = 0;
  bool item_weights = false;  // mse
  std::vector<std::vector<std::int64_t>> windows;
  Normalisation normalisation = Normalisation::window_items;
  Precision precision;
  Recipe recipe;
  std::string family = "normal";  // how tensors are drawn: a family of oracle/case/drawing
  std::uint64_t seed = 1;
};

/// Builds the case, tensors drawn from (1, seed, family). Throws std::logic_error when the plan makes an invalid case.
Case case_of(const Plan& plan);

/// One line for people: "linear 8-16-4, batch_norm, K = 3, sgd momentum, fp16".
std::string title_of(const Case& c);

}  // namespace tally
