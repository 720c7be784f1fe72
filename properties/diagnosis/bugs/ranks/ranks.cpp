// Bugs of ranks: what they count and decide, and where they part.
#include "oracle/case/ranks.hpp"

#include <algorithm>
#include <cmath>

#include "oracle/exact/exact.hpp"
#include "oracle/graph/stage.hpp"
#include "oracle/window/rank_stages.hpp"
#include "properties/diagnosis/bug.hpp"
#include "properties/judge/ranks/ranks_of_trace.hpp"

// Bugs of what ranks count: by which items a rank divides, which micro-batches are dealt, who decides.
namespace tally::ranks_bug {
namespace {

std::size_t ranks(const Evidence& evidence) { return ranks_of(whole_of(evidence.c)); }

bool is_factor(const Evidence& evidence, const HeldTensor& held) {
  return ranks(evidence) > 1 && held.name.stage == StageName::loss && held.name.tensor == "in.factor";
}

// Every rank divides by its own items.
namespace own_items {

std::optional<Values> left(const Evidence& evidence, const HeldTensor& held) {
  const auto window = static_cast<std::size_t>(held.name.window);
  const double own = evidence.items(held.name.window);
  if (!is_factor(evidence, held) || own == 0) return std::nullopt;
  const double by = static_cast<double>(busy_ranks_of(whole_of(evidence.c), window)) * own;
  const auto multiple = static_cast<double>(oracle::rank_multiple(evidence.c));
  return Values{rounded_to(held.dtype, multiple * evidence.scale(held.name.window) / by)};
}

const RegisterBug registered{{
    .name = "own-rank-denominator",
    .stages = {"loss"},
    .sentence = "every rank divides by its own items and the number of ranks, not by the items of all ranks",
    .formula = "c = S / (R n_r), times R where the sum is divided by it",
    .remedy = "divide by the items of all ranks: sum the counts by `dist.all_reduce` before the loss is divided",
    .left = left,
}};

}  // namespace own_items

// The ranks are multiplied in.
namespace times_ranks {

std::optional<Values> left(const Evidence& evidence, const HeldTensor& held) {
  if (!is_factor(evidence, held)) return std::nullopt;
  return times(held.expected, static_cast<double>(ranks(evidence)));
}

const RegisterBug registered{{
    .name = "ranks-multiplied-in-twice",
    .stages = {"loss"},
    .sentence = "the loss is multiplied by the number of ranks, but gradients are summed, not averaged",
    .formula = "c = R S / N",
    .remedy = "multiply the loss by the number of ranks only where their gradients are averaged",
    .left = left,
}};

}  // namespace times_ranks

// Micro-batches that not every rank has count for nothing.
namespace tail {

std::optional<Values> left(const Evidence& evidence, const HeldTensor& held) {
  if (!is_factor(evidence, held)) return std::nullopt;
  const auto window = static_cast<std::size_t>(held.name.window);
  const Case& whole = whole_of(evidence.c);
  std::size_t fewest = whole.windows[window].size();
  for (std::size_t rank = 0; rank < ranks(evidence); ++rank)
    fewest = std::min(fewest, micro_batches_of(whole, window, rank));
  if (static_cast<std::size_t>(held.name.micro_batch) < fewest) return std::nullopt;
  return Values{0};
}

const RegisterBug registered{{
    .name = "tail-rows-never-dealt",
    .stages = {"loss"},
    .sentence = "a rank's micro-batches beyond the fewest of any rank are not counted",
    .formula = "c = 0 for k > min K_r",
    .remedy = "deal out the last micro-batches too, or drop them on every rank (`drop_last=True`)",
    .left = left,
}};

}  // namespace tail

// A rank looks at its own buffers alone.
namespace own_overflow {

std::optional<Values> left(const Evidence& evidence, const HeldTensor& held) {
  if (ranks(evidence) < 2 || held.name.tensor != "found") return std::nullopt;
  bool found = false;
  for (const std::string& p : parameters_of(evidence.c.model)) {
    const auto own = evidence.tap(held.name.window, -1, "reduce", "in.buffer." + p);
    if (!own) return std::nullopt;
    found = found || std::ranges::any_of(*own, [](double each) { return !std::isfinite(each); });
  }
  return Values{found ? 1.0 : 0.0};
}

const RegisterBug registered{{
    .name = "overflow-seen-by-one-rank",
    .stages = {"overflow_check", "agree"},
    .sentence = "a rank checks its own gradients for overflow, not their sum over ranks",
    .formula = "found = any not finite of x_r",
    .remedy = "check the gradients summed over ranks for infinities",
    .left = left,
}};

}  // namespace own_overflow

// The schedule counts a step for every rank.
namespace step_of_ranks {

std::optional<Values> left(const Evidence& evidence, const HeldTensor& held) {
  if (ranks(evidence) < 2 || held.name.stage != StageName::schedule || held.name.tensor != "step") return std::nullopt;
  const double before = evidence.scalar(held.name.window, "schedule", "in.step", held.expected[0] - 1);
  if (held.expected[0] == before) return std::nullopt;  // a window that took no step
  return Values{before + static_cast<double>(ranks(evidence))};
}

const RegisterBug registered{{
    .name = "rate-steps-by-ranks",
    .stages = {"schedule"},
    .sentence = "the schedule steps once per rank, not once per window",
    .formula = "t + R",
    .remedy =
        "step the schedule once per window, not once per rank (Accelerate: `split_batches`, or do not prepare it)",
    .left = left,
}};

}  // namespace step_of_ranks
}  // namespace
}  // namespace tally::ranks_bug

// Bugs of ranks that part before their sum or behind it: they begin apart, add up too early, or keep what they had.
namespace tally::ranks_apart_bug {
namespace {

std::size_t ranks(const Evidence& evidence) { return ranks_of(whole_of(evidence.c)); }

// A rank trains from its own parameters.
namespace own_parameters {

std::optional<Values> left(const Evidence& evidence, const HeldTensor& held) {
  if (evidence.c.rank == 0 || held.name.window > 0 || parameter_in(evidence, held, "in.").empty()) return std::nullopt;
  return held.got;  // nothing says what it came from, but that it is not what the case gives every rank
}

const RegisterBug registered{{
    .name = "parameters-not-broadcast",
    .stages = {"cast"},
    .sentence = "the rank began with its own parameters: those of rank 0 were not broadcast to it",
    .formula = "p_r",
    .remedy = "broadcast rank 0's parameters before the first window, as DDP does when it is constructed",
    .left = left,
}};

}  // namespace own_parameters

// The buffers are summed over ranks, but not behind the last micro-batch.
namespace too_early {

/// What every rank's buffer held behind the micro-batch before, summed and divided as the case says.
std::optional<Values> left(const Evidence& evidence, const HeldTensor& held) {
  const std::string p = parameter_in(evidence, held, "in.buffer.");
  const int before = held.name.micro_batch - 1;
  if (p.empty() || before < 0 || ranks(evidence) < 2 || communicate_of(evidence.c) != Communicate::window)
    return std::nullopt;
  Values sum(held.expected.size());
  for (std::size_t rank = 0; rank < ranks(evidence); ++rank) {
    const Tensor* buffer =
        handed_over(evidence.trace, ranks(evidence), rank, held.name.window, before, "accumulate", "buffer." + p);
    if (buffer == nullptr || buffer->elements() != sum.size()) return std::nullopt;
    for (std::size_t i = 0; i < sum.size(); ++i) sum[i] += buffer->value(i);
  }
  const double by = oracle::rank_division(evidence.c).around_the_sum() ? static_cast<double>(ranks(evidence)) : 1;
  for (double& each : sum) each = rounded_to(held.dtype, each / by);
  return sum;
}

const RegisterBug registered{{
    .name = "no-sync-inverted",
    .stages = {"accumulate"},
    .sentence = "gradients are summed over ranks before the window's last micro-batch",
    .formula = "A = D(sum_r A_r) before k = K",
    .remedy = "sum over ranks only after the window's last micro-batch: `with model.no_sync():` around all others",
    .left = left,
}};

}  // namespace too_early

// A rank holds the parameters that another one was to move for it.
namespace not_gathered {

/// Whether another rank holds other numbers of it.
bool another_differs(const Evidence& evidence, const HeldTensor& held) {
  for (std::size_t rank = 0; rank < ranks(evidence); ++rank) {
    const Tensor* its =
        handed_over(evidence.trace, ranks(evidence), rank, held.name.window, -1, "optimizer", held.name.tensor);
    for (std::size_t i = 0; its != nullptr && i < its->elements() && i < held.got.size(); ++i)
      if (its->value(i) != held.got[i]) return true;
  }
  return false;
}

/// A rank's own parameters have moved.
bool is_right(const HeldTensor& held) {
  for (std::size_t i = 0; i < held.got.size(); ++i) {
    const double bound = held.bound.empty() ? 0 : held.bound[i];
    if (!(std::fabs(held.got[i] - held.expected[i]) <= bound)) return false;
  }
  return true;
}

std::optional<Values> left(const Evidence& evidence, const HeldTensor& held) {
  const std::string p = parameter_in(evidence, held, "");
  if (p.empty() || ranks(evidence) < 2 || is_right(held) || !another_differs(evidence, held)) return std::nullopt;
  for (int window = held.name.window - 1; window >= 0; --window)
    if (auto moved = evidence.tap(window, -1, "optimizer", p)) return moved;
  Values began(held.expected.size());
  const Tensor& given = evidence.c.tensors.at(p);
  for (std::size_t i = 0; i < began.size(); ++i) began[i] = given.value(i);
  return began;
}

const RegisterBug registered{{
    .name = "updated-shard-not-gathered",
    .stages = {"optimizer"},
    .sentence = "the rank keeps parameters from before the step: another rank's updates were not gathered",
    .formula = "p before the step",
    .remedy = "gather every rank's updated shards after the step",
    .left = left,
}};

}  // namespace not_gathered

}  // namespace
}  // namespace tally::ranks_apart_bug
