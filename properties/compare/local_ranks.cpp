// What ranks do together: the sum of their buffers, and the flag that all of them act upon.
#include <algorithm>

#include "oracle/case/ranks.hpp"
#include "oracle/window/rank_sums.hpp"
#include "properties/compare/local_walk.hpp"
#include "properties/compare/ranks_of_trace.hpp"

namespace tally {
namespace {

/// What every rank handed over; empty where one of them left no tap of it.
std::vector<const Tensor*> of_all_ranks(const LocalWalk& walk, const std::string& stage, const std::string& tensor) {
  std::vector<const Tensor*> all;
  const std::size_t ranks = ranks_of(whole_of(walk.c));
  for (std::size_t from = 0; from < ranks; ++from) {
    all.push_back(handed_over(walk.trace, ranks, from, walk.window, stage, tensor));
    if (all.back() == nullptr) return {};
  }
  return all;
}

}  // namespace

void hand_over(LocalWalk& walk) {
  for (const std::string& p : walk.parameters) {
    std::optional<Tensor> zeros;
    const Tensor* left = walk.micro_batches() == 0 ? &zeros.emplace(walk.zeros(p, walk.c.precision.accumulate))
                                                   : walk.tap("accumulate", "buffer." + p, walk.micro_batches() - 1);
    walk.handed("reduce", "in.buffer." + p, left);
  }
}

void check_reduce(LocalWalk& walk) {
  for (const std::string& p : walk.parameters) {
    const std::vector<const Tensor*> addends = of_all_ranks(walk, "reduce", "in.buffer." + p);
    if (addends.empty()) {
      walk.require_tap("reduce", "reduced." + p);
      continue;
    }
    const oracle::PlaceInBucket place = oracle::place_in_bucket(whole_of(walk.c), p);
    const auto bound = [&] {
      std::vector<oracle::Expected> read;
      std::vector<const oracle::Expected*> all;
      for (const Tensor* each : addends) read.push_back(oracle::as_read(*each));
      for (const oracle::Expected& each : read) all.push_back(&each);
      return oracle::summed_in_any_order(walk.declared, all);  // inside it other bits are another order's
    };
    const Bits bits{[&] {
                      std::vector<oracle::Matrix<float>> read;
                      for (const Tensor* each : addends) read.push_back(oracle::floats_of(*each));
                      return oracle::rounded_over_ranks(walk.declared, place, read);
                    },
                    FailureClass::order};
    walk.check_output("reduce", "reduced." + p, bound, {}, bits);
  }
}

void check_agree(LocalWalk& walk) {
  walk.handed("agree", "in.found", walk.tap("overflow_check", "found"));
  const std::vector<const Tensor*> found = of_all_ranks(walk, "agree", "in.found");
  const bool any = std::ranges::any_of(found, [](const Tensor* each) { return each->integer(0) != 0; });
  const Tensor* decision = found.empty() ? walk.require_tap("agree", "found")
                                         : walk.check_output("agree", "found", oracle::scalar(any ? 1 : 0));
  if (decision != nullptr && !walk.checks.empty() && walk.checks.back().status == Status::fail)
    walk.checks.back().failure = FailureClass::skip_decision;
  walk.skipped = decision != nullptr && decision->integer(0) != 0;
}

void BehindTheSum::note(const LocalWalk& first, std::size_t begin) {
  trace_ = &first.trace;
  windows_.resize(static_cast<std::size_t>(first.window) + 1);
  const auto from = first.checks.begin() + static_cast<std::ptrdiff_t>(begin);
  windows_.back() = {{from, first.checks.end()}, first.state, first.skipped};
}

bool BehindTheSum::take_over(LocalWalk& walk) const {
  const auto window = static_cast<std::size_t>(walk.window);
  walk.follows_first =
      walk.follows_first && window < windows_.size() && same_behind_sum(*trace_, walk.trace, walk.window);
  if (!walk.follows_first) return false;
  const Window& first = windows_[window];
  walk.checks.insert(walk.checks.end(), first.checks.begin(), first.checks.end());
  walk.state = first.state;
  walk.skipped = first.skipped;
  return true;
}

}  // namespace tally
