// What a recorder of samples says of the elements that it left out: the optional metadata entry `sums_of_squares`.
#pragma once

#include <filesystem>
#include <vector>

#include "oracle/case/case.hpp"

namespace tally {

/// The squares of a window: how many elements all parameters have, and the sum of the squares of all of them in the
/// gradient buffers behind the last micro-batch, taken in binary64. Not finite where an element is not.
struct SquaresOfWindow {
  int window = 0;
  double elements = 0, sum = 0;
};

/// One line a window, `w<window> <elements> <sum>`, and every window once. Throws std::runtime_error with the line,
/// what was found and what was expected, and where the case is none that such sums are for: an opaque model, and of
/// clips by norm that by the 2-norm.
std::vector<SquaresOfWindow> sums_of_squares_of(const std::filesystem::path& trace_file, const Case& c);

}  // namespace tally
