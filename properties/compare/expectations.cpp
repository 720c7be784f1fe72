#include "properties/compare/expectations.hpp"

#include <cmath>

#include "oracle/case/ranks.hpp"
#include "oracle/window/trajectory.hpp"
#include "properties/compare/ranks_of_trace.hpp"
#include "properties/lenses/walk.hpp"

namespace tally {
namespace {

constexpr double resolution = 0x1p-50;

double ratio_of(double part, double whole) { return whole > 0 ? part / whole : 0; }

}  // namespace

namespace {

/// Adds the expectations of one generation, from what the one before left behind.
void add_ranks(const RanksOfTrace& ranks, LeftBehind* between, std::map<std::string, oracle::Expected>& all) {
  std::deque<Walk> walks;
  std::vector<std::map<std::string, oracle::Expected>> kept(ranks.count());
  for (std::size_t rank = 0; rank < ranks.count(); ++rank)
    walks.emplace_back(ranks.parts[rank], ranks.traces[rank], Lens::end_to_end).expected = &kept[rank];
  walk_ranks(walks, between);
  for (std::size_t rank = 0; rank < ranks.count(); ++rank)
    for (auto& [tap, expected] : kept[rank]) all.emplace(ranks.name_in_whole(tap, rank), std::move(expected));
}

std::map<std::string, oracle::Expected> of_all_ranks(const Case& c, const Trace& trace) {
  const GenerationsOfTrace generations(c, trace);
  std::map<std::string, oracle::Expected> all;
  LeftBehind between;
  for (const RanksOfTrace& ranks : generations.all)
    add_ranks(ranks, generations.all.size() > 1 ? &between : nullptr, all);
  return all;
}

}  // namespace

std::map<std::string, oracle::Expected> end_to_end_expectations(const Case& c, const Trace& trace) {
  if (in_ranks(c) && c.whole == nullptr) return of_all_ranks(c, trace);
  std::map<std::string, oracle::Expected> kept;
  Walk walk(c, trace, Lens::end_to_end);
  walk.expected = &kept;
  walk_all(walk);
  return kept;
}

TensorCheck relation_check(const std::string& tap, const std::string& stage, const oracle::Expected& expected_a,
                           const Tensor& a, const oracle::Expected& expected_f, const Tensor& f) {
  const Place place{"relation", tap, stage};
  const auto size = static_cast<std::size_t>(expected_a.v.size());
  const bool same_size = a.elements() == size && f.elements() == size && expected_f.v.size() == expected_a.v.size();
  // Judged as A against F + (v_A - v_F): the same difference, and A's own census.
  oracle::Expected shifted{expected_a.v, expected_a.e};
  if (!same_size) return judge(place, oracle::Expected{}, a);
  for (Eigen::Index i = 0; i < shifted.v.size(); ++i) {
    shifted.v.data()[i] += f.value(static_cast<std::size_t>(i)) - expected_f.v.data()[i];
    shifted.e.data()[i] += expected_f.e.data()[i];
    if (!std::isfinite(shifted.v.data()[i])) shifted.e.data()[i] = std::numeric_limits<double>::infinity();
  }
  return judge(place, shifted, a);
}

GradientDrift gradient_drift(const Case& c, const Trace& trace,
                             const std::map<std::string, oracle::Expected>& expectations) {
  double error = 0, bound = 0, value = 0;
  for (const std::string& p : parameters_of(c.model)) {
    const std::string tap = TapName{0, -1, "unscale", "d." + p}.text();
    const auto expected = expectations.find(tap);
    const Tensor* got = trace.find(tap);
    if (expected == expectations.end() || got == nullptr) return {};
    for (Eigen::Index i = 0; i < expected->second.v.size(); ++i) {
      const auto v = static_cast<double>(expected->second.v.data()[i]);
      const double e = expected->second.e.data()[i];
      const auto off = static_cast<double>(got->value(static_cast<std::size_t>(i)) - expected->second.v.data()[i]);
      error += off * off;
      bound += e * e;
      value += v * v;
    }
  }
  return {ratio_of(std::sqrt(error), std::sqrt(value)), ratio_of(std::sqrt(bound), std::sqrt(value))};
}

double semantic_gap(const Case& c) {
  const auto before = oracle::initial_state<long double>(c);
  const auto apart = oracle::evaluate_window<long double>(c, 0, oracle::Branch::accumulated, before);
  const auto whole = oracle::evaluate_window<long double>(c, 0, oracle::Branch::full_batch, before);
  long double gap = 0, size = 0;
  for (const auto& [name, gradient] : whole.grad) {
    gap += (apart.grad.at(name) - gradient).squaredNorm();
    size += gradient.squaredNorm();
  }
  const double relative = ratio_of(static_cast<double>(std::sqrt(gap)), static_cast<double>(std::sqrt(size)));
  return relative < resolution ? 0 : relative;
}

}  // namespace tally
