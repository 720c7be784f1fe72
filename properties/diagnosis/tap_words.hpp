// What a tensor of a trace is, in the words of a training loop.
#pragma once

#include <string>

#include "kernels/trace/tap_name.hpp"

namespace tally {

/// "what the micro-batch's loss is multiplied by" of w0/m1/loss/in.factor; empty where the name says as much.
std::string words_of_tap(const TapName& name);

}  // namespace tally
