#include "tests/benchmarks/window_sizes.hpp"

#include <cmath>
#include <numeric>
#include <stdexcept>

namespace tally::benchmarks {

std::vector<std::int64_t> window_sizes(std::int64_t parameters) {
  constexpr std::int64_t layers = 24, smallest = 50000;
  if (parameters < smallest) throw std::invalid_argument("--parameters must be at least 50000");
  // A layer has about 12 w^2; about three quarters of the parameters go to the layers, the rest is the embedding.
  const double share = 0.76 * static_cast<double>(parameters) / (12 * layers);
  const std::int64_t w = std::max<std::int64_t>(8, static_cast<std::int64_t>(std::sqrt(share)) / 8 * 8);
  std::vector<std::int64_t> sizes;
  for (std::int64_t layer = 0; layer < layers; ++layer) {
    const std::int64_t temperature = 1, relative_positions = 31 * (w / 8) + 1;
    for (const std::int64_t size :
         {w, w, 3 * w * w, 3 * w, w * w, w, temperature, relative_positions, w, w, 4 * w * w, 4 * w, 4 * w * w, w}) {
      sizes.push_back(size);
    }
  }
  for (const std::int64_t size : {w, w, 64 * w}) sizes.push_back(size);
  sizes.push_back(parameters - std::accumulate(sizes.begin(), sizes.end(), std::int64_t{0}));
  return sizes;
}

std::vector<std::int64_t> window_places(const std::vector<std::int64_t>& sizes) {
  constexpr std::int64_t aligned = 64;
  std::vector<std::int64_t> places;
  std::int64_t end = 0;
  for (std::size_t i = 0; i < sizes.size(); ++i) {
    const std::int64_t begin = (end + aligned - 1) / aligned * aligned + (i % 5 == 2 ? 1 : 0);
    places.push_back(begin);
    end = begin + sizes[i];
  }
  places.push_back(end);
  return places;
}

}  // namespace tally::benchmarks
