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
/// The division of a sum of what as many ranks hand over; of all ranks of a case, or of the case that a part is of.
RankDivision rank_division(const Case& c, std::size_t added);
RankDivision rank_division(const Case& c);
/// By how much larger the factor of a loss is: the number of ranks where the sum is divided by it, else 1.
long double rank_multiple(const Case& c);

/// What is declared of the wire: `declared`, with the wire's format in the place of the buffer's. The two below, and the
/// sums of rank_sums.hpp, are of what travels, and take this.
Declared of_the_wire(const Declared& declared, const Case& c);
/// fl(x factor) stored in the wire's format; without a factor only stored.
Matrix<float> rounded_wire(const Declared& declared, const std::optional<RankFactor>& factor, const Matrix<float>& x);
Expected on_the_wire(const Declared& declared, const std::optional<RankFactor>& factor, const Expected& x);

/// A sum that travelled in the wire's format, as the buffer of `declared` keeps it.
Matrix<float> rounded_in_the_buffer(const Declared& declared, const Case& c, Matrix<float> sum);
Expected in_the_buffer(const Declared& declared, const Case& c, Expected sum);

}  // namespace tally::oracle
