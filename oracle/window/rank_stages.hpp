// What ranks work out together, exactly, bit by bit and bounded: sums, what is divided out around them, norms,
// statistics of a micro-step. Defined in rank_stages.cpp, rank_division_exact.cpp, rank_norm_exact.cpp,
// rank_sum_exact.cpp, step_statistics.cpp.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "oracle/case/sharding.hpp"
#include "oracle/tolerance/expected.hpp"
#include "oracle/tolerance/moments.hpp"
#include "oracle/tolerance/predicted_bits.hpp"
#include "oracle/tolerance/rule.hpp"

namespace tally::oracle {

// Sums over ranks: in which order each algorithm adds, (rank_sum.1) to (rank_sum.5), the bits that follow, and the
// bound where no order is claimed. Written from the definitions of oracle/ranks.md, never from the code of a
// collective. Their heights stand there too.

/// values[first] += values[second], one after another, of R leaves; the sum is then values[sum].
struct RankAdditions {
  std::vector<std::pair<int, int>> steps;
  int sum = 0;
};
/// The additions of an element in this chunk; no other algorithm than the ring asks. Throws std::logic_error for an
/// algorithm that claims no order.
RankAdditions rank_additions(const std::string& algorithm, int ranks, int chunk);
/// The most additions that a leaf passes through.
int height_of(const RankAdditions& order);
/// Whether the word claims an order.
bool claims_an_order(const std::string& algorithm);

/// To what every addition is rounded: the format that travels, or fp32, whose sum is then stored in that format.
enum class RankRounding { each, once };
RankRounding rank_rounding(const Case& c);

/// The bits of a sum of what all ranks handed over, in their order, where the claim of `reduce` fixes them.
std::optional<Matrix<float>> rounded_over_ranks(const Declared& declared, const PlaceInBucket& place,
                                                const std::vector<Matrix<float>>& addends,
                                                RankRounding rounding = RankRounding::each);
/// The sum with the bound of any order.
Expected summed_in_any_order(const Declared& declared, const std::vector<const Expected*>& addends,
                             RankRounding rounding = RankRounding::each);
/// The sum with its bound: of the claimed order, else of any.
Expected summed_over_ranks(const Declared& declared, const PlaceInBucket& place,
                           const std::vector<const Expected*>& addends, RankRounding rounding = RankRounding::each);

// What is divided out around a sum over ranks, (rank_division.1) to (rank_division.4) of oracle/ranks.md: exactly, bit
// by bit, and bounded. Written from the definitions, never from the code of a subject.

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
/// sums of rank_stages.hpp, are of what travels, and take this.
Declared of_the_wire(const Declared& declared, const Case& c);
/// fl(x factor) stored in the wire's format; without a factor only stored.
Matrix<float> rounded_wire(const Declared& declared, const std::optional<RankFactor>& factor, const Matrix<float>& x);
Expected on_the_wire(const Declared& declared, const std::optional<RankFactor>& factor, const Expected& x);

/// A sum that travelled in the wire's format, as the buffer of `declared` keeps it.
Matrix<float> rounded_in_the_buffer(const Declared& declared, const Case& c, Matrix<float> sum);
Expected in_the_buffer(const Declared& declared, const Case& c, Expected sum);

// The norm over gradients of which every rank has pieces, (rank_norm.1) to (rank_norm.3): what a rank hands to the
// others, and the norm of all.

/// Whether ranks hand over sums of squares, so that the root comes last.
bool hands_over_squares(const Case& c);

/// A rank's part of its pieces, fp32 [1, 1]; 0 where it has none.
Expected norm_part(const Declared& declared, const Case& c, const ExpectedTensors& pieces);
/// The parts of every stage of a pipeline, or of the one there is, in the order of the ranks; none is empty.
template <class Part>
using PartsByStage = std::vector<std::vector<Part>>;
/// The norm's bits by those of all parts.
float rounded_norm(const Case& c, const PartsByStage<float>& parts);
/// The norm with its bound by those of all parts.
Expected norm_of_parts(const Declared& declared, const Case& c, const PartsByStage<Expected>& parts);

// What ranks put together of a micro-step: the statistics of a batch_norm over all its rows, (batch_norm.1) to
// (batch_norm.3), and the two sums of (batch_norm.5). Sums are added as a sum over ranks is (rank_stages.hpp), in fp32.
// moments   merged in the order of the ranks (oracle/tolerance/moments.hpp)   sums      mean = fl(S fl(1/n)),
// var = max(0, fl(fl(Q fl(1/n)) - fl(mean mean))) of the sums S of x and Q of x²   two_pass  mean likewise, var = fl(Q
// fl(1/n)) of the sum Q of squares of deviations from it Derivations: oracle/variants.md, "Moments of ranks".

/// Where a tensor stands among those that travel together: side by side, padded to a multiple of the ranks, which each
/// have one chunk of it.
PlaceInBucket place_in_step(std::int64_t features, std::size_t ranks, std::size_t tensor, std::size_t tensors);

struct PooledStatistics {
  Expected mean, var, rstd;  // [1, features]
};

/// The statistics of what each rank handed over, by the names of step_tensors(), with "squares" of two_pass; counts:
/// rows of each.
PooledStatistics pooled_statistics(const Declared& declared, const Layer& layer, StepStatistics by,
                                   const std::vector<std::int64_t>& counts, const std::vector<ExpectedTensors>& handed);
/// The same of all rows themselves, from the first operation to the last; of each rank its own, no row where it has
/// none. A shift of all rows changes no variance, so that this is the sharper bound where rows have bounds.
PooledStatistics pooled_statistics(const Declared& declared, const Layer& layer, StepStatistics by,
                                   const std::vector<Expected>& rows);
/// A sum over ranks of tensor number `tensor` of so many that travel together.
Expected pooled_sum(const Declared& declared, std::size_t tensor, std::size_t tensors,
                    const std::vector<const Expected*>& addends);

/// Bits that follow from what was handed over, where the subject claims its orders and to be as written; else nothing.
struct PooledBits {
  Prediction mean, var, rstd;
};
PooledBits pooled_bits(const Declared& declared, const Layer& layer, StepStatistics by,
                       const std::vector<std::int64_t>& counts,
                       const std::vector<std::map<std::string, Matrix<float>>>& handed);
Prediction pooled_sum_bits(const Declared& declared, std::size_t tensor, std::size_t tensors,
                           const std::vector<Matrix<float>>& addends);

}  // namespace tally::oracle
