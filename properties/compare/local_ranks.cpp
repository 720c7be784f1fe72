// What ranks do together: the sum of their buffers, and the flag that all of them act upon.
#include <algorithm>
#include <numeric>
#include <utility>

#include "oracle/case/pipeline.hpp"
#include "oracle/case/rank_keys.hpp"
#include "oracle/case/ranks.hpp"
#include "oracle/case/shards.hpp"
#include "oracle/window/rank_division.hpp"
#include "oracle/window/rank_sums.hpp"
#include "properties/compare/local_walk.hpp"
#include "properties/compare/of_stage.hpp"
#include "properties/compare/ranks_of_trace.hpp"

namespace tally {

std::vector<const Tensor*> of_ranks(const LocalWalk& walk, const std::vector<std::size_t>& asked,
                                    const std::string& stage, const std::string& tensor) {
  std::vector<const Tensor*> all;
  const std::size_t ranks = ranks_of(whole_of(walk.c));
  for (const std::size_t from : asked) {
    all.push_back(handed_over(walk.trace, ranks, from, walk.window, walk.micro_batch, stage, tensor, walk.pipe));
    if (all.back() == nullptr) return {};
  }
  return all;
}

namespace {

/// What of a parameter a sum may be made of: what travels, or, where that is not tapped, what was handed over.
struct Handed {
  std::vector<const Tensor*> tensors;
  bool travels = false;  // else it has still to be made what travels
};

bool is_sum_of_replicas(const LocalWalk& walk) { return walk.micro_batch < 0 && replicas_of(walk.c) > 1; }

/// One tensor of each who adds; of replicas what each group has pieces of, put together in `kept`.
std::vector<const Tensor*> of_all_addends(const LocalWalk& walk, const std::string& tensor, std::deque<Tensor>& kept) {
  const Case& whole = whole_of(walk.c);
  const std::vector<std::size_t> ranks = ranks_of_sum(whole, walk.c.rank, walk.micro_batch);
  if (!is_sum_of_replicas(walk)) return of_ranks(walk, ranks, "reduce", tensor);
  std::vector<const Tensor*> all;
  for (std::size_t group = 0; group < ranks.size(); ++group) {
    auto together = kept_by_group(whole, *walk.trace.whole, {walk.window, -1, "reduce", tensor}, group);
    if (!together) return {};
    all.push_back(&kept.emplace_back(std::move(*together)));
  }
  return all;
}

Handed handed_by_all(const LocalWalk& walk, const std::string& p, std::deque<Tensor>& kept) {
  std::vector<const Tensor*> wires = of_all_addends(walk, "wire." + p, kept);
  if (!wires.empty()) return {std::move(wires), true};
  return {of_all_addends(walk, handed_prefix(walk.c, walk.micro_batch) + p, kept), false};
}

/// A rank's buffer where all add up their buffers at this place.
const Tensor* left_buffer(LocalWalk& walk, const std::string& p, std::optional<Tensor>& zeros) {
  if (is_sum_of_replicas(walk)) {
    const auto steps = static_cast<int>(micro_steps_of(walk.c, static_cast<std::size_t>(walk.window)));
    return steps > 0 ? walk.tap("accumulate", "buffer." + p, steps - 1)
                     : &zeros.emplace(walk.zeros(p, walk.c.precision.accumulate));
  }
  const int last = nth_backward(walk.c, walk.micro_batches(), walk.micro_batches() - 1);
  const int k = walk.micro_batch < 0 ? last : walk.micro_batch;
  if (k >= 0 && k < walk.micro_batches()) return walk.tap("accumulate", "buffer." + p, k);
  if (k > 0) return walk.tap("reduce", "reduced." + p, k - 1);
  return &zeros.emplace(walk.zeros(p, walk.c.precision.accumulate));
}

/// A rank's gradient of this micro-batch, zeros where it has none.
const Tensor* left_gradient(LocalWalk& walk, const std::string& p, std::optional<Tensor>& zeros) {
  const StageTensor given = gradient_of_parameter(walk.layers, p);
  if (walk.micro_batch < walk.micro_batches()) return walk.tap(given.stage, given.tensor);
  return &zeros.emplace(walk.zeros(p, walk.c.precision.storage));
}

/// What travels of it: the same number, times a constant, stored.
void check_wire(LocalWalk& walk, const std::string& p, const oracle::RankDivision& division) {
  const Tensor* handed = walk.tap("reduce", handed_prefix(walk.c, walk.micro_batch) + p);
  if (handed == nullptr || walk.tap("reduce", "wire." + p) == nullptr) return;
  walk.check_bits("reduce", "wire." + p, [&] {
    return oracle::rounded_wire(oracle::of_the_wire(walk.declared, walk.c), division.front, oracle::floats_of(*handed));
  });
}

}  // namespace

void hand_over(LocalWalk& walk) {
  const std::size_t added = ranks_of_sum(whole_of(walk.c), walk.c.rank, walk.micro_batch).size();
  const oracle::RankDivision division = oracle::rank_division(walk.c, added);
  for (std::size_t stage = 0; stage < stages_of(walk.c) && division.around_the_sum(); ++stage) {
    const OfStage own(walk, stage == 0 ? -1 : static_cast<int>(stage));  // the first one's tap names no stage
    walk.check_output("reduce", "in.divisor", oracle::scalar(static_cast<long double>(added)));
  }
  const bool gradients = communicate_of(walk.c) == Communicate::micro_batch && walk.micro_batch >= 0;
  for (const std::string& p : walk.parameters) {
    std::optional<Tensor> zeros;
    walk.handed("reduce", handed_prefix(walk.c, walk.micro_batch) + p,
                gradients ? left_gradient(walk, p, zeros) : left_buffer(walk, p, zeros));
    check_wire(walk, p, division);
  }
}

void check_reduce(LocalWalk& walk) {
  const Case& whole = whole_of(walk.c);
  const oracle::RankDivision division =
      oracle::rank_division(walk.c, ranks_of_sum(whole, walk.c.rank, walk.micro_batch).size());
  const oracle::Declared wire = oracle::of_the_wire(walk.declared, walk.c);
  for (const std::string& p : walk.parameters) {
    std::deque<Tensor> kept;
    const Handed addends = handed_by_all(walk, p, kept);
    if (addends.tensors.empty()) {
      walk.require_tap("reduce", "reduced." + p);
      continue;
    }
    const PlaceInBucket place = place_in_sum(whole, p, walk.micro_batch);
    const auto travels = [&](const Tensor& each) {  // as it is
      return addends.travels || (!division.front && each.dtype == wire_of(walk.c));
    };
    const auto bound = [&] {
      std::vector<oracle::Expected> read;
      std::vector<const oracle::Expected*> all;
      for (const Tensor* each : addends.tensors) {
        const oracle::Expected handed = oracle::as_read(*each);
        read.push_back(travels(*each) ? handed : oracle::on_the_wire(wire, division.front, handed));
      }
      for (const oracle::Expected& each : read) all.push_back(&each);
      oracle::Expected sum =
          oracle::summed_in_any_order(wire, all, oracle::rank_rounding(walk.c));  // other bits: another order's
      if (division.behind) sum = oracle::on_the_wire(wire, division.behind, sum);
      return oracle::in_the_buffer(walk.declared, walk.c, std::move(sum));
    };
    const Bits bits{[&]() -> oracle::Prediction {
                      std::vector<oracle::Matrix<float>> read;
                      for (const Tensor* each : addends.tensors) {
                        const oracle::Matrix<float> handed = oracle::floats_of(*each);
                        read.push_back(travels(*each) ? handed : oracle::rounded_wire(wire, division.front, handed));
                      }
                      auto sum = oracle::rounded_over_ranks(wire, place, read, oracle::rank_rounding(walk.c));
                      if (!sum) return sum;
                      if (division.behind) sum = oracle::rounded_wire(wire, division.behind, *sum);
                      return oracle::rounded_in_the_buffer(walk.declared, walk.c, std::move(*sum));
                    },
                    FailureClass::order};
    walk.check_output("reduce", "reduced." + p, bound, {}, bits);
  }
}

void check_agree(LocalWalk& walk) {
  std::vector<std::size_t> all(ranks_of(whole_of(walk.c)));
  std::iota(all.begin(), all.end(), std::size_t{0});
  const std::vector<const Tensor*> found =
      is_pipelined(walk.c) ? found_by_stages(walk) : of_ranks(walk, all, "agree", "in.found");
  if (!shards_optimizer(walk.c) && !is_pipelined(walk.c))
    walk.handed("agree", "in.found", walk.tap("overflow_check", "found"));
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
  walk.follows_first = walk.follows_first && window < windows_.size() &&
                       same_behind_sum(*trace_, walk.trace, walk.window, shards_optimizer(walk.c));
  if (!walk.follows_first) return false;
  const Window& first = windows_[window];
  walk.checks.insert(walk.checks.end(), first.checks.begin(), first.checks.end());
  SubjectState own = std::exchange(walk.state, first.state);
  walk.state.running_mean = std::move(own.running_mean);  // no sum over ranks stands behind these
  walk.state.running_var = std::move(own.running_var);
  walk.skipped = first.skipped;
  return true;
}

}  // namespace tally
