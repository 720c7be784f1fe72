// Taps of the stage `loss`.
#pragma once

#include "kernels/trace/window_layout.hpp"

namespace tally::taps {

Layout loss_tap(const Place& at);

}  // namespace tally::taps
