#include "oracle/window/rank_sums.hpp"

#include <map>
#include <stdexcept>

#include "oracle/case/rank_keys.hpp"
#include "oracle/case/ranks.hpp"
#include "oracle/tolerance/each.hpp"
#include "oracle/window/bound_stages.hpp"

namespace tally::oracle {
namespace {

std::string algorithm_of(const Declared& declared) { return claim_of(declared, "reduce").algorithm; }

/// The additions of each chunk, made once.
class Orders {
 public:
  Orders(const Declared& declared, int ranks) : algorithm_(algorithm_of(declared)), ranks_(ranks) {}
  const RankAdditions& of(int chunk) {
    const int number = algorithm_ == "ring" ? chunk : 0;
    const auto known = orders_.find(number);
    if (known != orders_.end()) return known->second;
    return orders_.emplace(number, rank_additions(algorithm_, ranks_, number)).first->second;
  }

 private:
  const std::string algorithm_;
  const int ranks_;
  std::map<int, RankAdditions> orders_;
};

/// values[sum] once all additions are made.
template <class T, class Add>
T added(const RankAdditions& order, std::vector<T>& values, Add add) {
  for (const auto& [to, from] : order.steps) {
    T& sum = values[static_cast<std::size_t>(to)];
    sum = add(sum, values[static_cast<std::size_t>(from)]);
  }
  return values[static_cast<std::size_t>(order.sum)];
}

/// What additions are rounded to.
Format added_in(const Declared& declared, RankRounding rounding) {
  return rounding == RankRounding::once ? format_of(Dtype::fp32) : declared.accumulate;
}

/// A sum as it travels on.
Bounded stored(const Declared& declared, RankRounding rounding, Bounded sum) {
  return rounding == RankRounding::once ? Arithmetic(declared.accumulate).store(sum) : sum;
}

Bounded read(const Expected& x, Eigen::Index i) {
  return {static_cast<double>(x.v.data()[i]), incoming(x.e.data()[i])};
}

}  // namespace

RankRounding rank_rounding(const Case& c) { return adds_in_fp32(c) ? RankRounding::once : RankRounding::each; }

std::optional<Matrix<float>> rounded_over_ranks(const Declared& declared, const PlaceInBucket& place,
                                                const std::vector<Matrix<float>>& addends, RankRounding rounding) {
  if (!claims_an_order(algorithm_of(declared))) return {};
  const Format in = added_in(declared, rounding);
  Orders orders(declared, static_cast<int>(addends.size()));
  Matrix<float> sum = addends.front();
  std::vector<float> values(addends.size());
  for (Eigen::Index i = 0; i < sum.size(); ++i) {
    for (std::size_t rank = 0; rank < addends.size(); ++rank) values[rank] = addends[rank].data()[i];
    sum.data()[i] = added(orders.of(place.chunk_of(i)), values,
                          [&](float x, float y) { return static_cast<float>(rounded_sum(in, x, y)); });
  }
  return rounding == RankRounding::once ? rounded_cast(declared.accumulate, sum) : sum;
}

namespace {

Matrix<long double> exact_sum(const std::vector<const Expected*>& addends) {
  Matrix<long double> exact = addends.front()->v;
  for (std::size_t rank = 1; rank < addends.size(); ++rank) exact += addends[rank]->v;
  return exact;
}

}  // namespace

Expected summed_in_any_order(const Declared& declared, const std::vector<const Expected*>& addends,
                             RankRounding rounding) {
  const Arithmetic in(added_in(declared, rounding));
  const Matrix<long double> exact = exact_sum(addends);
  BoundedMatrix bound(exact.rows(), exact.cols());
  for (Eigen::Index i = 0; i < exact.size(); ++i) {
    Addends terms;
    for (const Expected* each : addends) terms.add(read(*each, i));
    bound.set(i, stored(declared, rounding, in.sum(terms)));
  }
  return joined(exact, bound);
}

Expected summed_over_ranks(const Declared& declared, const PlaceInBucket& place,
                           const std::vector<const Expected*>& addends, RankRounding rounding) {
  if (!claims_an_order(algorithm_of(declared))) return summed_in_any_order(declared, addends, rounding);
  const Arithmetic in(added_in(declared, rounding));
  Orders orders(declared, static_cast<int>(addends.size()));
  const Matrix<long double> exact = exact_sum(addends);
  BoundedMatrix bound(exact.rows(), exact.cols());
  std::vector<Bounded> values(addends.size());
  for (Eigen::Index i = 0; i < exact.size(); ++i) {
    for (std::size_t rank = 0; rank < addends.size(); ++rank) values[rank] = read(*addends[rank], i);
    const Bounded sum = added(orders.of(place.chunk_of(i)), values, [&](Bounded x, Bounded y) { return in.add(x, y); });
    bound.set(i, stored(declared, rounding, sum));
  }
  return joined(exact, bound);
}

}  // namespace tally::oracle
