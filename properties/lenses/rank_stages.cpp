// What ranks do together: the sums of their buffers, or of their gradients, and the flag that all of them act upon.
#include "oracle/window/rank_stages.hpp"

#include <algorithm>
#include <numeric>
#include <utility>

#include "oracle/case/rank_keys.hpp"
#include "oracle/case/ranks.hpp"
#include "oracle/case/sharding.hpp"
#include "properties/judge/ranks/ranks_of_trace.hpp"
#include "properties/lenses/stages.hpp"

namespace tally {
namespace {

using oracle::Expected;
using Floats = oracle::Matrix<float>;

// Under the local lens.

/// What of a parameter a sum may be made of: what travels, or, where that is not tapped, what was handed over.
struct Handed {
  std::vector<const Tensor*> tensors;
  bool travels = false;  // else it has still to be made what travels
};

/// One tensor of each who adds; of replicas what each group has pieces of, put together in `kept`.
std::vector<const Tensor*> of_all_addends(const Walk& walk, const std::string& tensor, std::deque<Tensor>& kept) {
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

Handed handed_by_all(const Walk& walk, const std::string& p, std::deque<Tensor>& kept) {
  std::vector<const Tensor*> wires = of_all_addends(walk, "wire." + p, kept);
  if (!wires.empty()) return {std::move(wires), true};
  return {of_all_addends(walk, handed_prefix(walk.c, walk.micro_batch) + p, kept), false};
}

/// A rank's buffer where all add up their buffers at this place.
Value left_buffer(Walk& walk, const std::string& p) {
  if (is_sum_of_replicas(walk)) {
    const auto steps = static_cast<int>(micro_steps_of(walk.c, static_cast<std::size_t>(walk.window)));
    return steps > 0 ? walk.left("accumulate", "buffer." + p, steps - 1) : walk.zeros(p, walk.c.precision.accumulate);
  }
  const int last = nth_backward(walk.c, walk.micro_batches(), walk.micro_batches() - 1);
  const int k = walk.micro_batch < 0 ? last : walk.micro_batch;
  if (k >= 0 && k < walk.micro_batches()) return walk.left("accumulate", "buffer." + p, k);
  if (k > 0) return walk.left("reduce", "reduced." + p, k - 1);
  return walk.zeros(p, walk.c.precision.accumulate);
}

/// A rank's gradient of this micro-batch, zeros where it has none.
Value left_gradient(Walk& walk, const std::string& p) {
  if (walk.micro_batch >= walk.micro_batches()) return walk.zeros(p, walk.c.precision.storage);
  const StageTensor given = gradient_of_parameter(walk.layers, p);
  return walk.left(given.stage, given.tensor);
}

/// What travels of it: the same number, times a constant, stored.
void check_wire(Walk& walk, const std::string& p, const oracle::RankDivision& division) {
  const Tensor* handed = walk.tap("reduce", handed_prefix(walk.c, walk.micro_batch) + p);
  if (handed == nullptr || walk.tap("reduce", "wire." + p) == nullptr) return;
  walk.exact_output("reduce", "wire." + p,
                    [&] {
                      return oracle::rounded_wire(oracle::of_the_wire(walk.declared, walk.c), division.front,
                                                  oracle::floats_of(*handed));
                    },
                    {});
}

// Running values that all begin a window with.

Value broadcast_of(Walk& walk, const std::string& name, const Value& state, const Value* first) {
  const std::string stage = "running_stats", handed = "in.broadcast." + name, held = "broadcast." + name;
  if (walk.is_local() && walk.c.rank == 0) walk.input(stage, handed, state);
  const Tensor* told = handed_over(walk.trace, ranks_of(whole_of(walk.c)), 0, walk.window, -1, stage, handed);
  if (walk.is_local()) {
    if (walk.passes_over(stage, held)) return walk.c.rank > 0 ? Value(told) : state;
    return told == nullptr ? Value(walk.require_tap(stage, held))
                           : walk.exact_output(stage, held, [&] { return oracle::floats_of(*told); }, {});
  }
  if (walk.c.rank == 0) return walk.output(stage, held, *state.read());
  if (first != nullptr) return walk.output(stage, held, *first->read());
  // What the first rank tapped of it, or this rank did; else any number.
  if (told == nullptr) told = walk.tap(stage, held);
  Expected any = told != nullptr ? oracle::as_read(*told) : *state.read();
  if (told == nullptr) any.e.setConstant(oracle::infinite);
  return walk.output(stage, held, any);
}

}  // namespace

/// Whether gradients are added up at this place, not buffers.
bool adds_gradients(const Walk& walk) {
  return communicate_of(walk.c) == Communicate::micro_batch && walk.micro_batch >= 0;
}
bool is_sum_of_replicas(const Walk& walk) { return walk.micro_batch < 0 && replicas_of(walk.c) > 1; }

std::vector<const Tensor*> of_ranks(const Walk& walk, const std::vector<std::size_t>& asked, const std::string& stage,
                                    const std::string& tensor) {
  std::vector<const Tensor*> all;
  const std::size_t ranks = ranks_of(whole_of(walk.c));
  for (const std::size_t from : asked) {
    all.push_back(handed_over(walk.trace, ranks, from, walk.window, walk.micro_batch, stage, tensor, walk.pipe));
    if (all.back() == nullptr) return {};
  }
  return all;
}

void walk_broadcast(Walk& walk, const WindowState* first) {
  walk.micro_batch = -1;
  for (const LayerView& layer : walk.layers) {
    if (!takes_first_running(walk.c, *layer.layer)) continue;
    Value &mean = walk.state.running_mean[layer.label], &var = walk.state.running_var[layer.label];
    mean = broadcast_of(walk, layer.label + ".running_mean", mean,
                        first == nullptr ? nullptr : &first->running_mean.at(layer.label));
    var = broadcast_of(walk, layer.label + ".running_var", var,
                       first == nullptr ? nullptr : &first->running_var.at(layer.label));
  }
}

void walk_handed_over(Walk& walk) {
  const std::size_t added = ranks_of_sum(whole_of(walk.c), walk.c.rank, walk.micro_batch).size();
  const oracle::RankDivision division = oracle::rank_division(walk.c, added);
  for (std::size_t stage = 0; stage < stages_of(walk.c) && division.around_the_sum(); ++stage) {
    const OfStage own(walk, stage == 0 ? -1 : static_cast<int>(stage));  // the first one's tap names no stage
    walk.output("reduce", "in.divisor", oracle::scalar(static_cast<long double>(added)));
  }
  for (const std::string& p : walk.parameters) {
    walk.input("reduce", handed_prefix(walk.c, walk.micro_batch) + p,
               adds_gradients(walk) ? left_gradient(walk, p) : left_buffer(walk, p));
    check_wire(walk, p, division);
  }
}

void walk_reduce(Walk& walk) {
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
    const auto bound = [&](const oracle::Declared& declared) {
      const oracle::Declared bound_wire = oracle::of_the_wire(declared, walk.c);
      std::vector<Expected> read;
      std::vector<const Expected*> all;
      for (const Tensor* each : addends.tensors) {
        const Expected handed = oracle::as_read(*each);
        read.push_back(travels(*each) ? handed : oracle::on_the_wire(bound_wire, division.front, handed));
      }
      for (const Expected& each : read) all.push_back(&each);
      Expected sum =
          oracle::summed_in_any_order(bound_wire, all, oracle::rank_rounding(walk.c));  // other bits: another order's
      if (division.behind) sum = oracle::on_the_wire(bound_wire, division.behind, sum);
      return oracle::in_the_buffer(declared, walk.c, std::move(sum));
    };
    const Bits bits{[&]() -> oracle::Prediction {
                      std::vector<Floats> read;
                      for (const Tensor* each : addends.tensors) {
                        const Floats handed = oracle::floats_of(*each);
                        read.push_back(travels(*each) ? handed : oracle::rounded_wire(wire, division.front, handed));
                      }
                      auto sum = oracle::rounded_over_ranks(wire, place, read, oracle::rank_rounding(walk.c));
                      if (!sum) return sum;
                      if (division.behind) sum = oracle::rounded_wire(wire, division.behind, *sum);
                      return oracle::rounded_in_the_buffer(walk.declared, walk.c, std::move(*sum));
                    },
                    FailureClass::order};
    walk.output("reduce", "reduced." + p, bound, {}, bits);
  }
}

void walk_agree(Walk& walk) {
  std::vector<std::size_t> all(ranks_of(whole_of(walk.c)));
  std::iota(all.begin(), all.end(), std::size_t{0});
  const std::vector<const Tensor*> found =
      is_pipelined(walk.c) ? found_by_stages(walk) : of_ranks(walk, all, "agree", "in.found");
  if (!shards_optimizer(walk.c) && !is_pipelined(walk.c))
    walk.input("agree", "in.found", walk.tap("overflow_check", "found"));
  const bool any = std::ranges::any_of(found, [](const Tensor* each) { return each->integer(0) != 0; });
  const Value decision = found.empty() ? Value(walk.require_tap("agree", "found"))
                                       : walk.output("agree", "found", oracle::scalar(any ? 1 : 0));
  if (decision.known()) walk.note_failure(FailureClass::skip_decision);
  walk.skipped = decision.known() && decision.bits()->integer(0) != 0;
}

void BehindTheSum::note(const Walk& first, std::size_t begin) {
  trace_ = &first.trace;
  windows_.resize(static_cast<std::size_t>(first.window) + 1);
  const auto from = first.checks.begin() + static_cast<std::ptrdiff_t>(begin);
  windows_.back() = {{from, first.checks.end()}, first.state, first.skipped};
}

bool BehindTheSum::take_over(Walk& walk) const {
  const auto window = static_cast<std::size_t>(walk.window);
  walk.follows_first = walk.follows_first && window < windows_.size() &&
                       same_behind_sum(*trace_, walk.trace, walk.window, shards_optimizer(walk.c));
  if (!walk.follows_first) return false;
  const Window& first = windows_[window];
  walk.checks.insert(walk.checks.end(), first.checks.begin(), first.checks.end());
  WindowState own = std::exchange(walk.state, first.state);
  walk.state.running_mean = std::move(own.running_mean);  // no sum over ranks stands behind these
  walk.state.running_var = std::move(own.running_var);
  walk.skipped = first.skipped;
  return true;
}

}  // namespace tally
