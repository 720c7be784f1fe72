#include "kernels/training_step/rank_totals.hpp"

#include <cmath>
#include <span>

#include "kernels/ranks/link.hpp"
#include "kernels/training_step/norm_kind.hpp"
#include "kernels/training_step/shards.hpp"

namespace tally {
namespace {

template <class T, class Combine>
T combined(Run& run, Link* link, const char* about, T own, Combine combine) {
  if (link == nullptr) return own;
  constexpr int root = 0;
  const std::string name = "w" + std::to_string(run.window) + "/" + about;
  const auto bytes = std::as_writable_bytes(std::span(&own, 1));
  if (link->rank() != root) {
    link->send(root, name, bytes);
    link->receive(root, name, bytes);
    return own;
  }
  for (int from = 1; from < link->size(); ++from) {
    T other{};
    link->receive(from, name, std::as_writable_bytes(std::span(&other, 1)));
    own = combine(own, other);
  }
  for (int to = 1; to < link->size(); ++to) link->send(to, name, bytes);
  return own;
}

template <class T>
T summed(Run& run, Link* link, const char* about, T own) {
  return combined(run, link, about, own, [](T a, T b) { return a + b; });
}

/// A NaN wins.
float larger(float a, float b) { return std::isnan(a) || a > b ? a : b; }

}  // namespace

std::int64_t sum_over_ranks(Run& run, const char* about, std::int64_t own) {
  return summed(run, run.options.link, about, own);
}
std::int64_t sum_over_stages(Run& run, const char* about, std::int64_t own) {
  return summed(run, run.options.pipe, about, own);
}
double sum_over_ranks(Run& run, const char* about, double own) { return summed(run, run.options.link, about, own); }

float norm_over_ranks(Run& run, float own) {
  const NormKind kind = norm_kind_of(run);
  Link* const ranks = run.pieces.empty() ? nullptr : &sharers_of(run);  // what replicas keep counts once
  Link* const stages = run.options.pipe;
  if (kind == NormKind::infinity)
    return combined(run, stages, "norm of stages", combined(run, ranks, "norm", own, larger), larger);
  const float of_stage = summed(run, ranks, "norm", kind == NormKind::two ? own * own : own);
  const float sum = summed(run, stages, "norm of stages", of_stage);
  return kind == NormKind::one ? sum : std::sqrt(sum);
}

}  // namespace tally
