// What a loop that fails does to the gradient: how far its own is from the one that its stated recipe gives.
#pragma once

#include <optional>
#include <vector>

#include "kernels/trace/trace.hpp"
#include "oracle/case/case.hpp"
#include "reports/record/record.hpp"

namespace tally {

/// ‖loop - stated‖ / ‖stated‖ of the window's accumulated gradient, over all parameters.
struct LoopGap {
  int window = 0;
  double gradient = 0;
};

/// The gap of the window that fails first. The end-to-end checks give it for known layers; for an opaque model, whose
/// micro-batches' gradients are given, each is taken times what its loss's factor should have been over what it was.
/// Nothing where too little was tapped, for ranks, and where nothing fails.
std::optional<LoopGap> loop_gap(const Case& c, const Trace& trace, const std::vector<TensorCheck>& checks);

}  // namespace tally
