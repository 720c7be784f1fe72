// What ranks hand to others where their number changes, under the lenses.
// Defined in local_checkpoint.cpp, end_to_end_checkpoint.cpp.
#pragma once

#include <string>
#include <vector>

#include "properties/compare/end_to_end_walk.hpp"
#include "properties/compare/local_walk.hpp"

namespace tally {

/// The layers whose running values move, by label.
std::vector<std::string> moved_layers(const std::vector<LayerView>& layers);

/// Behind a window: what this rank writes down is what it was left with. Nothing where it writes nothing, or where as
/// many ranks train the next window.
void check_left_checkpoint(LocalWalk& walk);
/// In front of a window: what this rank takes up has the bits that those before wrote down, and is what it goes on
/// from.
void check_taken_checkpoint(LocalWalk& walk);

/// What the ranks of one generation are expected to leave to the next, from the case alone.
struct LeftBehind {
  ExpectedState state;  // the first rank's, which all hold alike
  DecisionCount count;
  bool ended = false;  // nothing is known of it any more
};
/// The state that a walk begins this window with: what was left behind, held where it is tapped; where that is nullptr
/// what was tapped of it, and any number where nothing was.
void expect_checkpoint(EndToEndWalk& walk, const LeftBehind* before);

}  // namespace tally
