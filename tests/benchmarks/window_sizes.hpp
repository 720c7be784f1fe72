// The tensors of the window benchmarks: the parameters of a decoder-only transformer with 24 layers, as many as asked
// for. Python reads the same sizes from `device_benchmarks --print_sizes`.
#pragma once

#include <cstdint>
#include <vector>

namespace tally::benchmarks {

/// Elements of every tensor, `parameters` in all: some of one element, some of odd sizes, large matrices. Throws
/// std::invalid_argument for fewer than 50000.
std::vector<std::int64_t> window_sizes(std::int64_t parameters);

/// Where each tensor begins in a flat buffer, and one behind the last: every fifth a single element behind a multiple
/// of 64, which no vector load of more than four bytes allows; the others at such a multiple.
std::vector<std::int64_t> window_places(const std::vector<std::int64_t>& sizes);

}  // namespace tally::benchmarks
