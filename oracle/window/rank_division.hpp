// What is divided out around a sum over ranks, (rank_division.1) to (rank_division.4) of oracle/ranks.md: exactly, bit by
// bit, and bounded. Written from the definitions, never from the code of a subject.
// Defined in rank_division.cpp, rank_division_exact.cpp.
#pragma once

#include <optional>

#include "oracle/tolerance/expected.hpp"

namespace tally::oracle {

/// A number that a subject keeps as a float.
struct RankFactor {
  long double exact;
  float held;
};

struct RankDivision {
  std::optional<RankFactor> front;   // what every addend is multiplied by before it travels
  std::optional<RankFactor> behind;  // and the sum
  bool around_the_sum() const { return front || behind; }
};
/// Of a case or one rank's part of it.
RankDivision rank_division(const Case& c);
/// By how much larger the factor of a loss is: the number of ranks where the sum is divided by it, else 1.
long double rank_multiple(const Case& c);

/// fl(x factor) stored in the buffer's format; without a factor only stored.
Matrix<float> rounded_wire(const Declared& declared, const std::optional<RankFactor>& factor, const Matrix<float>& x);
Expected on_the_wire(const Declared& declared, const std::optional<RankFactor>& factor, const Expected& x);

}  // namespace tally::oracle
