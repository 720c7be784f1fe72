// The taps of one stage of a pipeline, in the walk of the local lens.
#pragma once

#include <cstddef>

#include "oracle/case/pipeline.hpp"
#include "properties/compare/local_walk.hpp"

namespace tally {

/// While it lives, the walk asks for the taps of one stage; of a model that is not cut for those that name none.
class OfStage {
 public:
  OfStage(LocalWalk& walk, std::size_t stage) : OfStage(walk, is_pipelined(walk.c) ? static_cast<int>(stage) : -1) {}
  OfStage(LocalWalk& walk, int pipe) : walk_(walk) { walk.pipe = pipe; }
  ~OfStage() { walk_.pipe = -1; }
  OfStage(const OfStage&) = delete;
  OfStage& operator=(const OfStage&) = delete;

 private:
  LocalWalk& walk_;
};

}  // namespace tally
