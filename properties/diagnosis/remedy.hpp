// What to change in the loop where it looks like a known bug: the remedy of a suspect, or of a restatement.
#pragma once

#include <string>
#include <string_view>

#include "kernels/trace/tap_name.hpp"
#include "oracle/case/case.hpp"

namespace tally {

/// In the letters of the formulas: n_k items of the micro-batch, N of the window, K micro-batches. Empty for a name that
/// is none.
std::string remedy_of(std::string_view name);

/// With the numbers of the window and micro-batch where the capture fails; of several ranks in letters.
std::string remedy_at(std::string_view name, const Case& c, const TapName& failure);

}  // namespace tally
