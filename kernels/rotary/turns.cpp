#include "kernels/rotary/turns.hpp"

#include <cmath>

namespace tally {
namespace {

/// B^(-2 i / r) p in T, operation by operation as frameworks do: the power, its reciprocal, the product.
template <class T>
T angle(const Choice& rotary, std::int64_t i, std::int64_t rotated, std::int64_t position) {
  const T exponent = static_cast<T>(2 * i) / static_cast<T>(rotated);
  return 1 / std::pow(static_cast<T>(rotary.number("base").to_double()), exponent) * static_cast<T>(position);
}

/// The value in S.
double stored(Dtype storage, float value) {
  Tensor one(storage, {1});
  one.set(0, static_cast<double>(value));
  return static_cast<double>(one.value(0));
}

}  // namespace

Tensor turns_of(const Choice& rotary, const RotaryPairs& pairs, const Tensor& positions, TableOf table, Dtype storage) {
  Tensor turns(Dtype::fp32, {static_cast<std::int64_t>(positions.elements()), pairs.rotated});
  const auto rotated = static_cast<std::size_t>(pairs.rotated);
  for (std::size_t row = 0; row < positions.elements(); ++row) {
    for (std::size_t i = 0; i < rotated / 2; ++i) {
      const auto pair = static_cast<std::int64_t>(i);
      const std::size_t cosine = row * rotated + i, sine = cosine + rotated / 2;
      if (table == TableOf::binary64) {
        const double by = angle<double>(rotary, pair, pairs.rotated, positions.integer(row));
        turns.set(cosine, std::cos(by));
        turns.set(sine, std::sin(by));
      } else {
        const auto by = angle<float>(rotary, pair, pairs.rotated, positions.integer(row));
        turns.set(cosine, stored(storage, std::cos(by)));
        turns.set(sine, stored(storage, std::sin(by)));
      }
    }
  }
  return turns;
}

}  // namespace tally
