// How many additions an addend passes through, measured from outside: by what is lost where one addend is large.
//
// A small addend is less than half a last place of the large one, two small ones together are more. The small ones that
// reach the large one apart, at different additions, are lost; two that have met before move it. So the small addends
// fall into groups that meet before they reach the large one, one group for every addition that it passes through.
// Zeros change nothing. Nothing is asked of the kernel but its sum.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <vector>

namespace tally {

enum class Addend { none, small, large };
using Addends = std::vector<Addend>;

/// A sum of n addends as one number that moves when the sum moves by a last place of its large addend.
using MeasuredSum = std::function<double(const Addends& addends)>;

inline std::vector<double> as(const Addends& addends, double large, double small, double none = 0) {
  std::vector<double> values;
  for (const Addend a : addends) values.push_back(a == Addend::large ? large : a == Addend::small ? small : none);
  return values;
}

/// 2^24 has places of 2 above it.
inline std::vector<double> plain(const Addends& addends) { return as(addends, 0x1p24, 1); }
inline std::vector<double> squared(const Addends& addends) { return as(addends, 0x1p12, 1); }

inline std::int64_t count(const Addends& addends) { return static_cast<std::int64_t>(addends.size()); }

inline std::size_t large_one(const Addends& addends) {
  for (std::size_t i = 0; i < addends.size(); ++i) {
    if (addends[i] == Addend::large) return i;
  }
  return 0;
}

inline std::vector<double> ones_of(const Addends& addends) { return std::vector<double>(addends.size(), 1); }

/// The additions of addend i with sums of the addends `among`; of all of them in all.
inline std::size_t additions_passed(const MeasuredSum& sum, std::size_t n, std::size_t i,
                                    const std::vector<std::size_t>& among) {
  Addends addends(n, Addend::none);
  addends[i] = Addend::large;
  const double alone = sum(addends);
  std::size_t groups = 0;
  for (const std::size_t j : among) {
    if (j == i || addends[j] != Addend::none) continue;
    addends[j] = Addend::small;
    if (sum(addends) == alone) {
      ++groups;  // it stands for its group
    } else {
      addends[j] = Addend::none;
    }
  }
  return groups;
}

inline std::size_t additions_passed(const MeasuredSum& sum, std::size_t n, std::size_t i) {
  std::vector<std::size_t> all(n);
  for (std::size_t j = 0; j < n; ++j) all[j] = j;
  return additions_passed(sum, n, i, all);
}

}  // namespace tally
