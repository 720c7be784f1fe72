#include "oracle/tolerance/added_in_turn.hpp"

#include "oracle/tolerance/rule.hpp"

namespace tally::oracle {
namespace {

Bounded in_turn(const Arithmetic& fp32, const Arithmetic& storage, const std::vector<Bounded>& addends) {
  Bounded sum = addends.front();
  for (std::size_t i = 1; i < addends.size(); ++i) sum = storage.store(fp32.add(sum, addends[i]));
  return sum;
}

/// An addend passes through at most n - 1 additions, each of which rounds to fp32 and once more to the storage format:
/// |computed - sum| <= ((1 + u_32)^(n-1) (1 + u_S)^(n-1) - 1) sum |a_i|, and what underflows on the way. What two
/// addends come to does not depend on their order.
Bounded in_any_order(const Arithmetic& fp32, const Arithmetic& storage, const std::vector<Bounded>& addends) {
  if (addends.size() < 3) return in_turn(fp32, storage, addends);
  const auto additions = static_cast<double>(addends.size() - 1);
  Bounded sum{};
  double size = 0;
  for (const Bounded& addend : addends) {
    sum.v += addend.v;
    sum.e += addend.e;
    size += std::fabs(addend.v) + addend.e;
  }
  const double twice = std::expm1(additions * (std::log1p(fp32.u()) + std::log1p(storage.u())));
  sum.e += twice * size + 2 * additions * (1 + twice) * (fp32.underflow() + storage.underflow());
  if (!((size + sum.e) < storage.threshold())) sum.e = infinite;
  sum.e *= inflation;
  return sum;
}

}  // namespace

Expected added_in_turn(const Declared& declared, std::string_view operation,
                       const std::vector<const Expected*>& addends) {
  const Arithmetic fp32 = single(), storage(declared.storage);
  const bool ordered = as_written(declared, operation);
  Matrix<long double> exact = addends.front()->v;
  for (std::size_t j = 1; j < addends.size(); ++j) exact += addends[j]->v;
  BoundedMatrix bound(exact.rows(), exact.cols());
  std::vector<BoundedMatrix> inputs;
  for (const Expected* addend : addends) inputs.emplace_back(*addend);
  std::vector<Bounded> elements(addends.size());
  for (Eigen::Index r = 0; r < bound.rows(); ++r) {
    for (Eigen::Index c = 0; c < bound.cols(); ++c) {
      for (std::size_t j = 0; j < inputs.size(); ++j) elements[j] = inputs[j].at(r, c);
      bound.set(r, c, ordered ? in_turn(fp32, storage, elements) : in_any_order(fp32, storage, elements));
    }
  }
  return joined(std::move(exact), std::move(bound));
}

Prediction predicted_in_turn(const Declared& declared, std::string_view operation,
                             const std::vector<Matrix<float>>& addends) {
  if (!as_written(declared, operation)) return {};
  return of_each(addends.front().rows(), addends.front().cols(), [&](Eigen::Index i) {
    float sum = addends.front().data()[i];
    for (std::size_t j = 1; j < addends.size(); ++j) sum = stored(declared.storage, sum + addends[j].data()[i]);
    return sum;
  });
}

}  // namespace tally::oracle
