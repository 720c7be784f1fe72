// Data by class, as numbers of a format.
#pragma once

#include <random>
#include <string>
#include <vector>

#include "oracle/tolerance/format.hpp"

namespace tally::oracle::emulated {

enum class Data { ordinary, cancellation, large_mean, subnormal, same_sign };
inline constexpr Data data_classes[] = {Data::ordinary, Data::cancellation, Data::large_mean, Data::subnormal,
                                        Data::same_sign};

inline std::string name_of(Data data) {
  static const char* names[] = {"ordinary", "cancel", "mean", "subnorm", "same"};
  return names[static_cast<int>(data)];
}

/// n numbers: normal(0, 1); pairs that nearly cancel; a mean of 64 spreads; around the smallest normal number of
/// `small` (the format the results are in); uniform in (0, 1).
inline std::vector<double> drawn(Data data, const Format& format, const Format& small, std::size_t n,
                                 std::mt19937_64& random) {
  std::normal_distribution<double> normal;
  std::uniform_real_distribution<double> uniform;
  std::vector<double> x;
  for (std::size_t i = 0; i < n; ++i) {
    double value = normal(random);
    if (data == Data::cancellation && i % 2 == 1) value = -x[i - 1] * (1 + 0x1p-9 * value);
    if (data == Data::large_mean) value += 64;
    if (data == Data::subnormal) value = std::ldexp(value, small.emin - 1);
    if (data == Data::same_sign) value = uniform(random);
    x.push_back(rounded(format, value));
  }
  return x;
}

/// The other operand of a dot product: equal in pairs where the first cancels in pairs.
inline std::vector<double> other(Data data, const Format& format, std::size_t n, std::mt19937_64& random) {
  std::vector<double> x = drawn(data == Data::same_sign ? data : Data::ordinary, format, format, n, random);
  for (std::size_t i = 1; i < n && data == Data::cancellation; i += 2) x[i] = x[i - 1];
  return x;
}

}  // namespace tally::oracle::emulated
