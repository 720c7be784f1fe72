// The optimizers that are drawn beside SGD and Adam, from their contracts.
#pragma once

#include <string>
#include <vector>

namespace tally {

/// Every other kind, by name: those two are drawn with options of their own, and keep their places in what is drawn.
const std::vector<std::string>& further_optimizers();

}  // namespace tally
