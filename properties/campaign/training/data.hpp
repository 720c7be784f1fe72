// The UCI handwritten digits (README.md in this folder), compiled into the program's source folder as plain CSV.
#pragma once

#include <cstdint>
#include <vector>

namespace tally {

struct Digits {
  std::vector<std::uint8_t> pixels;  // [1797, 64], 0..16
  std::vector<std::uint8_t> labels;  // [1797], 0..9
};

/// Read once from digits.csv. Throws std::runtime_error when the file is missing or is not 1,797 rows of 65 numbers.
const Digits& digits_data();

}  // namespace tally
