#include "kernels/training_step/rank_totals.hpp"

#include <span>

#include "kernels/ranks/link.hpp"

namespace tally {
namespace {

template <class T>
T summed(Run& run, const char* about, T own) {
  Link* const link = run.options.link;
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
    own += other;
  }
  for (int to = 1; to < link->size(); ++to) link->send(to, name, bytes);
  return own;
}

}  // namespace

std::int64_t sum_over_ranks(Run& run, const char* about, std::int64_t own) { return summed(run, about, own); }
double sum_over_ranks(Run& run, const char* about, double own) { return summed(run, about, own); }

}  // namespace tally
