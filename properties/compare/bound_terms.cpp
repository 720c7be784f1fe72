#include "properties/compare/bound_terms.hpp"

#include <algorithm>
#include <numeric>
#include <set>

#include "properties/compare/lens.hpp"
#include "properties/lenses/walk.hpp"

namespace tally {
namespace {

constexpr std::size_t kept_checks = 5;

/// Taps of one lens whose bounds can be split.
std::set<std::string> wanted_of(const std::string& lens, const std::vector<const TensorCheck*>& checks) {
  std::set<std::string> taps;
  for (const TensorCheck* check : checks) {
    const bool finite = check->bound > 0 && check->bound < std::numeric_limits<double>::infinity();
    if (check->lens == lens && finite) taps.insert(check->tap);
  }
  return taps;
}

void take_over_split(std::vector<TensorCheck>& checks, const std::vector<TensorCheck>& split) {
  for (const TensorCheck& found : split) {
    if (found.terms.sum() == 0) continue;
    for (TensorCheck& check : checks) {
      if (check.lens == found.lens && check.tap == found.tap && check.bound == found.bound) check.terms = found.terms;
    }
  }
}

}  // namespace

std::vector<std::size_t> worst_of(const std::vector<TensorCheck>& checks) {
  std::vector<std::size_t> order(checks.size());
  std::iota(order.begin(), order.end(), std::size_t{0});
  std::erase_if(order, [&](std::size_t i) {
    return checks[i].status != Status::fail && !(checks[i].status == Status::pass && checks[i].worst_ratio > 0);
  });
  std::stable_sort(order.begin(), order.end(), [&](std::size_t i, std::size_t j) {
    const TensorCheck &a = checks[i], &b = checks[j];
    const bool fails_a = a.status == Status::fail, fails_b = b.status == Status::fail;
    return fails_a != fails_b ? fails_a : a.worst_ratio > b.worst_ratio;
  });
  const bool failed = !order.empty() && checks[order.front()].status == Status::fail;
  order.resize(std::min(order.size(), failed ? kept_checks : std::size_t{1}));
  return order;
}

void split_bounds(const Case& c, const Trace& trace, std::vector<TensorCheck>& checks) {
  std::vector<const TensorCheck*> chosen;
  for (const std::size_t i : worst_of(checks)) chosen.push_back(&checks[i]);
  if (const TensorCheck* failure = first_failure(checks)) chosen.push_back(failure);
  for (const Lens lens : {Lens::local, Lens::end_to_end, Lens::group}) {
    const auto wanted = wanted_of(word_of(lens), chosen);
    if (wanted.empty()) continue;
    Walk walk(c, trace, lens);
    walk.wanted = &wanted;
    if (lens != Lens::local) walk.know_local(checks);
    walk_all(walk);
    take_over_split(checks, walk.checks);
  }
}

}  // namespace tally
