// A library or a program that cannot be a subject at all.
#pragma once

#include <stdexcept>

namespace tally {

/// what() says what was found, what was expected and what to do.
struct StepRefused : std::invalid_argument {
  using std::invalid_argument::invalid_argument;
};

}  // namespace tally
