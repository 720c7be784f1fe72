// Where in a failing tensor the errors are, small enough to be kept.
#pragma once

#include <cstdint>
#include <vector>

namespace tally {

/// One of the worst elements of a failing tensor.
struct ElementCheck {
  std::vector<std::int64_t> index;
  double expected = 0, got = 0, error = 0, bound = 0;
};

/// A failing matrix in blocks of rows and columns, those at the ends perhaps smaller: the worst error / bound of each.
struct ElementMap {
  static constexpr std::size_t most_blocks = 32;    // each way
  std::uint64_t rows = 0, columns = 0;              // of the tensor; 0: it is no matrix
  std::uint64_t block_rows = 0, block_columns = 0;  // of a block
  std::vector<double> ratio;                        // block by block, row by row; inf where something is not finite
};

/// A failing tensor in row-major order, cut into stretches of equally many elements, the last one perhaps shorter.
/// Errors and bounds are in ulps, the spacing of the tensor's storage format at the element's exact value; what is
/// neither finite nor expected to be has error NaN.
struct ElementProfile {
  static constexpr std::size_t most_stretches = 96;
  std::uint64_t stretch = 0;         // elements each; 0: no profile was made
  std::vector<double> low, high;     // of got - expected in each stretch
  std::vector<double> value;         // exact value of the element of each with the largest error / bound
  std::vector<double> error, bound;  // of that element
  ElementMap map;
};

}  // namespace tally
