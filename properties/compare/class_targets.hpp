// Targets of a loss that picks a class by its number. A trace holds whatever its subject left.
#pragma once

#include <vector>

#include "oracle/case/case.hpp"

namespace tally {

/// Whether every target is one of the classes, or ignored; true for losses whose targets are no numbers of classes.
bool are_targets_of(const Choice& loss, const std::vector<double>& targets, std::size_t classes);
bool are_targets_of(const Choice& loss, const Tensor& targets, std::size_t classes);

}  // namespace tally
