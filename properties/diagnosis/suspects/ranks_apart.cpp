// Suspects of ranks that part before their sum or behind it: they begin apart, add up too early, or keep what they had.
#include <cmath>

#include "oracle/case/ranks.hpp"
#include "oracle/window/rank_division.hpp"
#include "properties/compare/ranks_of_trace.hpp"
#include "properties/diagnosis/suspect.hpp"

namespace tally::ranks_apart_suspect {
namespace {

std::size_t ranks(const Evidence& evidence) { return ranks_of(whole_of(evidence.c)); }

// A rank trains from its own parameters.
namespace own_parameters {

std::optional<Values> left(const Evidence& evidence, const HeldTensor& held) {
  if (evidence.c.rank == 0 || held.name.window > 0 || parameter_in(evidence, held, "in.").empty()) return std::nullopt;
  return held.got;  // nothing says what it came from, but that it is not what the case gives every rank
}

const RegisterSuspect registered{{
    .name = "parameters-not-broadcast",
    .faults = {},
    .stages = {"cast"},
    .sentence = "the rank began with parameters of its own: nobody handed it those of rank 0",
    .formula = "p_r",
    .remedy = "hand rank 0's parameters to all before the first window, as DDP does when it is made",
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

const RegisterSuspect registered{{
    .name = "no-sync-inverted",
    .faults = {},
    .stages = {"accumulate"},
    .sentence = "the ranks are summed behind an earlier micro-batch than the window's last",
    .formula = "A = D(sum_r A_r) before k = K",
    .remedy = "sum over ranks behind the window's last micro-batch alone: `with model.no_sync():` around all others",
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

const RegisterSuspect registered{{
    .name = "updated-shard-not-gathered",
    .faults = {},
    .stages = {"optimizer"},
    .sentence = "the rank keeps parameters as they were before the step: what another rank moved did not come back",
    .formula = "p before the step",
    .remedy = "gather every rank's updated pieces behind the step",
    .left = left,
}};

}  // namespace not_gathered

}  // namespace
}  // namespace tally::ranks_apart_suspect
