#include "properties/studies/evidence/hard_values.hpp"

#include <algorithm>
#include <cmath>

#include "kernels/device/executor/schedule.hpp"
#include "oracle/case/io.hpp"
#include "oracle/tolerance/format.hpp"

namespace tally {
namespace {

std::size_t columns_of(const Tensor& tensor) { return static_cast<std::size_t>(tensor.shape.back()); }
std::size_t rows_of(const Tensor& tensor) { return tensor.elements() / columns_of(tensor); }

}  // namespace

void pair_columns(Tensor& tensor, int sign) {
  const std::size_t columns = columns_of(tensor);
  for (std::size_t row = 0; row < rows_of(tensor); ++row) {
    for (std::size_t column = 1; column < columns; column += 2) {
      const std::size_t i = row * columns + column;
      tensor.set(i, sign * tensor.value(i - 1));
      if (sign < 0 && row % 2 == 1 && tensor.value(i) != 0) tensor.set_bits(i, tensor.bits(i) - 1);
    }
  }
  tensor.drawing.reset();
}

void repeat_rows(Tensor& tensor) {
  const std::size_t columns = columns_of(tensor);
  for (std::size_t row = 1; row < rows_of(tensor); row += 2) {
    for (std::size_t k = 0; k < columns; ++k) tensor.set_bits(row * columns + k, tensor.bits((row - 1) * columns + k));
  }
  tensor.drawing.reset();
}

void powers_of_two(Tensor& tensor, std::uint64_t seed) {
  executor::Schedule random(seed);
  for (std::size_t i = 0; i < tensor.elements(); ++i) {
    const double power = std::ldexp(1.0, static_cast<int>(random.below(7)) - 3);
    tensor.set(i, random.below(2) == 0 ? power : -power);
    tensor.set_bits(i, tensor.bits(i) + random.below(3) - 1);
  }
  tensor.drawing.reset();
}

void tiny(Tensor& tensor, std::uint64_t seed) { draw(tensor, {1, seed, "tiny"}); }

void times_power(Tensor& tensor, int exponent) {
  const double most = largest(tensor.dtype);
  for (std::size_t i = 0; i < tensor.elements(); ++i) {
    tensor.set(i, std::clamp(std::ldexp(tensor.value(i), exponent), -most, most));
  }
  tensor.drawing.reset();
}

void fill(Tensor& tensor, double value) {
  for (std::size_t i = 0; i < tensor.elements(); ++i) tensor.set(i, value);
  tensor.drawing.reset();
}

double largest(Dtype dtype) {
  const oracle::Format format = oracle::format_of(dtype);
  return std::ldexp(2 - std::ldexp(1.0, 1 - format.p), format.emax);
}

}  // namespace tally
