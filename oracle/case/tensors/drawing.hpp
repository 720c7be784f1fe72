// What drawn tensors are made of: the generator, and the families of drawing number 1 (oracle/case/drawing.md).
#pragma once

#include <array>
#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "oracle/case/tensors/tensor.hpp"

namespace tally {

// Philox4x32-10, the counter-based generator of Salmon, Moraes, Dror, Shaw, "Parallel random numbers: as easy as
// 1, 2, 3" (SC 2011). A pure function of counter and key: any element can be drawn alone, in any order.

constexpr std::array<std::uint32_t, 4> philox(std::array<std::uint32_t, 4> counter, std::array<std::uint32_t, 2> key) {
  for (int round = 0; round < 10; ++round) {
    const std::uint64_t a = std::uint64_t{0xD2511F53} * counter[0];
    const std::uint64_t b = std::uint64_t{0xCD9E8D57} * counter[2];
    counter = {static_cast<std::uint32_t>(b >> 32) ^ counter[1] ^ key[0], static_cast<std::uint32_t>(b),
               static_cast<std::uint32_t>(a >> 32) ^ counter[3] ^ key[1], static_cast<std::uint32_t>(a)};
    key = {key[0] + 0x9E3779B9u, key[1] + 0xBB67AE85u};
  }
  return counter;
}

/// The random words of one element.
class Words {
 public:
  Words(std::uint64_t seed, std::uint32_t salt, std::uint64_t element) : seed_(seed), salt_(salt), element_(element) {}
  std::uint32_t operator[](std::uint32_t i) const;
  /// The words of the even element of this one's pair, and whether this one is the odd one.
  Words of_pair() const { return {seed_, salt_, element_ & ~std::uint64_t{1}}; }
  bool is_odd() const { return element_ % 2 != 0; }
  /// The words of the first element of this one's row of n, and where in the row this one stands.
  Words of_row(std::uint64_t n) const { return {seed_, salt_, element_ - element_ % n}; }
  std::uint64_t column(std::uint64_t n) const { return element_ % n; }
  /// floor(word i * n / 2^32), in 0 ... n-1.
  std::uint64_t below(std::uint32_t i, std::uint64_t n) const { return (std::uint64_t{(*this)[i]} * n) >> 32; }

 private:
  std::uint64_t seed_;
  std::uint32_t salt_;
  std::uint64_t element_;
  mutable std::uint32_t block_ = ~std::uint32_t{0};  // which four words are held
  mutable std::array<std::uint32_t, 4> held_{};
};

/// Arguments after the family's name, `<a>:<b>`.
using Arguments = std::vector<std::int64_t>;

struct RealFamily {
  std::string name;
  std::vector<std::int64_t> most;  // one argument each, from 1 to this
  double (*value)(const Words& words, const FormatRow& format, const Arguments& arguments);
};

struct WholeFamily {
  std::string name;
  std::vector<std::int64_t> most;  // one argument each, from 0 to this
  std::vector<Dtype> dtypes;
  std::int64_t (*value)(const Words& words, const Arguments& arguments);
};

const std::vector<RealFamily>& real_families();
const std::vector<WholeFamily>& whole_families();

}  // namespace tally
