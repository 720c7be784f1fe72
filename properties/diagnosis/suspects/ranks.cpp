// Suspects of what ranks count: by which items a rank divides, which micro-batches are dealt, who decides.
#include "oracle/case/ranks.hpp"

#include <algorithm>
#include <cmath>

#include "oracle/window/exact_stages.hpp"
#include "oracle/window/rank_division.hpp"
#include "properties/compare/ranks_of_trace.hpp"
#include "properties/diagnosis/suspect.hpp"

namespace tally::ranks_suspect {
namespace {

std::size_t ranks(const Evidence& evidence) { return ranks_of(whole_of(evidence.c)); }

bool is_factor(const Evidence& evidence, const HeldTensor& held) {
  return ranks(evidence) > 1 && held.name.stage == "loss" && held.name.tensor == "in.factor";
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

const RegisterSuspect registered{{
    .name = "own-rank-denominator",
    .faults = {"own-rank-denominator"},
    .stages = {"loss"},
    .sentence = "every rank divides by its own items and the ranks, and nobody by the items of all",
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

const RegisterSuspect registered{{
    .name = "ranks-multiplied-in-twice",
    .faults = {"ranks-multiplied-in-twice"},
    .stages = {"loss"},
    .sentence = "the loss is multiplied by the number of ranks, whose gradients are summed and not averaged",
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

const RegisterSuspect registered{{
    .name = "tail-rows-never-dealt",
    .faults = {"tail-rows-never-dealt"},
    .stages = {"loss"},
    .sentence = "a rank's micro-batches beyond the fewest of any rank count for nothing",
    .formula = "c = 0 for k > min K_r",
    .remedy = "deal the last micro-batches to ranks as well, or drop them on every rank (`drop_last=True`)",
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

const RegisterSuspect registered{{
    .name = "overflow-seen-by-one-rank",
    .faults = {"overflow-seen-by-one-rank"},
    .stages = {"overflow_check", "agree"},
    .sentence = "a rank looks for an overflow in what it handed over, not in the sum over ranks",
    .formula = "found = any not finite of x_r",
    .remedy = "look for infinities in the gradients that were summed over ranks",
    .left = left,
}};

}  // namespace own_overflow

// The schedule counts a step for every rank.
namespace step_of_ranks {

std::optional<Values> left(const Evidence& evidence, const HeldTensor& held) {
  if (ranks(evidence) < 2 || held.name.stage != "schedule" || held.name.tensor != "step") return std::nullopt;
  const double before = evidence.scalar(held.name.window, "schedule", "in.step", held.expected[0] - 1);
  if (held.expected[0] == before) return std::nullopt;  // a window that took no step
  return Values{before + static_cast<double>(ranks(evidence))};
}

const RegisterSuspect registered{{
    .name = "rate-steps-by-ranks",
    .faults = {"rate-steps-by-ranks"},
    .stages = {"schedule"},
    .sentence = "the schedule counts a step for every rank",
    .formula = "t + R",
    .remedy =
        "step the schedule once a window, not once for each rank (Accelerate: `split_batches`, or do not prepare it)",
    .left = left,
}};

}  // namespace step_of_ranks

}  // namespace
}  // namespace tally::ranks_suspect
