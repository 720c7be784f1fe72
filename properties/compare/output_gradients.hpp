// The gradients of the layers' outputs in the end-to-end walk's backward, all rows of a group: what readers give, and at
// a fork its sum, (add.3).
#pragma once

#include <map>
#include <vector>

#include "properties/compare/end_to_end_walk.hpp"

namespace tally {

class OutputGradients {
 public:
  /// Begins with the loss's. `walk` and `group` must outlive this object.
  OutputGradients(EndToEndWalk& walk, Group& group);
  /// What a reader gives for what it reads; dropped where no gradient goes on.
  void give(const LayerReader& reader, oracle::Expected gradient);
  /// The gradient of the output of layer i, whose readers have given theirs. The sum of several is held to its tap.
  oracle::Expected take(std::size_t i);

 private:
  EndToEndWalk& walk_;
  const Group& group_;
  std::map<std::size_t, std::vector<oracle::Expected>> given_;  // by layer, its last reader's first
};

}  // namespace tally
