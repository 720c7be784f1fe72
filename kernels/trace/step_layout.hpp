// Taps of statistics that ranks put together of a micro-step.
#pragma once

#include "kernels/trace/running_layout.hpp"

namespace tally::taps {

/// What a rank works out of its own rows, before all meet: of forward, and of backward.
Layout own_statistics_tap(const Place& at, const LayerTap& tap);
Layout own_gradient_sums_tap(const Place& at, const LayerTap& tap);
/// Of the stage `sync_statistics`: what a rank hands over, and what all have of it.
Layout sync_statistics_tap(const Place& at);

}  // namespace tally::taps
