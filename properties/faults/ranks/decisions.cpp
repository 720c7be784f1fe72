// Faults of what ranks count and decide: norms, overflows, steps of the schedule, rows.
#include <cmath>

#include "kernels/training_step/kind_steps.hpp"
#include "kernels/training_step/ranks/rank_totals.hpp"
#include "oracle/case/ranks.hpp"
#include "properties/faults/planted_between.hpp"
#include "properties/faults/planted_change.hpp"
#include "properties/faults/ranks/ranks.hpp"
#include "properties/faults/seeded.hpp"

// Every rank clips by the norm of its own pieces.
namespace tally::norm_of_own_shard_fault {
namespace {

void norm(Run& run) {
  stage::norm(run);
  if (run.pieces.empty()) return;
  const Tensor* part = run.trace.find(TapView{run.window, -1, "norm", "part", run.rank_tag});
  if (part == nullptr) return;
  const double own = part->value(0), root = norm_kind_of(run) == NormKind::squares ? std::sqrt(own) : own;
  change(run, run.gradient_norm, [&](std::size_t, double value) { return blend(value, root); });
  run.tap("norm", "norm", run.gradient_norm);
}

const RegisterFault registered{{
    .name = "norm-of-own-shard",
    .right = "norm of g, the pieces of all ranks",
    .condition = "several ranks that share the optimizer, an active clip",
    .knob = "value",
    .source = "PyTorch issue 72548",
    .laws = {"norm_spans_ranks", "ranks_agree"},
    .stages = replaced<&Stages::norm, norm>,
}};

}  // namespace
}  // namespace tally::norm_of_own_shard_fault

// Every rank's part of the norm is that of all pieces, which are counted as often as there are ranks.
namespace tally::replicated_counted_by_every_rank_fault {
namespace {

void norm(Run& run) {
  stage::norm(run);
  if (run.pieces.empty()) return;
  const double times = norm_kind_of(run.c.recipe.clip) == NormKind::two ? std::sqrt(ranks(run)) : ranks(run);
  if (norm_kind_of(run.c.recipe.clip) == NormKind::infinity) return;
  change(run, run.gradient_norm, [&](std::size_t, double value) { return blend(value, value * times); });
  run.tap("norm", "norm", run.gradient_norm);
}

const RegisterFault registered{{
    .name = "replicated-counted-by-every-rank",
    .right = "norm of g",
    .condition = "several ranks that share the optimizer, not of the inf-norm",
    .knob = "value",
    .source = "PyTorch issue 88955",
    .laws = {"norm_spans_ranks"},
    .stages = replaced<&Stages::norm, norm>,
}};

}  // namespace
}  // namespace tally::replicated_counted_by_every_rank_fault

// What the first rank found is the finding of all.
namespace tally::overflow_decided_by_rank_0_fault {
namespace {

void agree(Run& run) {
  if (magnitude() == 0 || ranks(run) < 2) return stage::agree(run);
  run.tap("agree", "in.found", run.found_flag.data(), Dtype::u8, {});
  run.found = sum_over_ranks(run, "agree", std::int64_t{rank(run) == 0 && run.found}) > 0;
  run.found_flag.set_scalar<std::uint32_t>(run.found ? 1 : 0);
  run.tap("agree", "found", run.found_flag.data(), Dtype::u8, {});
}

const RegisterFault registered{{
    .name = "overflow-decided-by-rank-0",
    .stage = "agree",
    .right = "found = one of the ranks found something",
    .wrong = "found = the first rank did",
    .condition = "a shared optimizer, an overflow outside of the first rank's pieces",
    .knob = "none",
    .source = "WeatherGenerator 2718",
    .laws = {"overflow_on_one_rank_skips_all"},
    .stages = replaced<&Stages::agree, agree>,
}};

}  // namespace
}  // namespace tally::overflow_decided_by_rank_0_fault

// A rank looks for an overflow in what it hands over, and tells no one.
namespace tally::overflow_seen_by_one_rank_fault {
namespace {

bool own_overflow(const Run& run) {
  for (const Parameter& parameter : run.parameters) {
    const std::string tensor = "in.buffer." + parameter.name;
    const Tensor* handed = run.trace.find(TapView{run.window, -1, "reduce", tensor, run.rank_tag});
    for (std::size_t i = 0; handed != nullptr && i < handed->elements(); ++i)
      if (!std::isfinite(handed->value(i))) return true;
  }
  return false;
}

void overflow_check(Run& run) {
  stage::overflow_check(run);
  if (ranks(run) == 1 || magnitude() == 0) return;
  run.found = own_overflow(run);
  run.found_flag.set_scalar<std::uint32_t>(run.found ? 1 : 0);
  run.tap("overflow_check", "found", run.found_flag.data(), Dtype::u8, {});
}

void agree(Run& run) {
  if (magnitude() == 0) return stage::agree(run);
  run.tap("agree", "in.found", run.found_flag.data(), Dtype::u8, {});
  run.tap("agree", "found", run.found_flag.data(), Dtype::u8, {});
}

const Stages& stages() {
  static const Stages all = [] {
    Stages copy = shipped_stages();
    copy.overflow_check = overflow_check;
    copy.agree = agree;
    return copy;
  }();
  return all;
}

const RegisterFault registered{{
    .name = "overflow-seen-by-one-rank",
    .stage = "overflow_check",
    .right = "found = any not finite of sum_r x_r",
    .condition = "an overflow on some ranks alone",
    .knob = "none",
    .source = "fairscale PR 179, 181",
    .laws = {"overflow_on_one_rank_skips_all"},
    .stages = stages,
}};

}  // namespace
}  // namespace tally::overflow_seen_by_one_rank_fault

// The schedule counts a step for every rank.
namespace tally::rate_steps_by_ranks_fault {
namespace {

void schedule(Run& run) {
  const std::int64_t before = run.step;
  stage::schedule(run);
  if (run.step == before) return;
  run.step = before + blend_whole(1, ranks(run));
  run.tap("schedule", "step", run.step);
}

const RegisterFault registered{{
    .name = "rate-steps-by-ranks",
    .right = "t + 1",
    .condition = "several ranks",
    .knob = "steps",
    .source = "diffusers 3954, transformers 24088, accelerate 2926",
    .laws = {"ranks_equal_full_batch", "ranks_agree"},
    .stages = replaced<&Stages::schedule, schedule>,
}};

}  // namespace
}  // namespace tally::rate_steps_by_ranks_fault

// What is left over once every rank has as many micro-batches is dealt to no one: the last one of a rank that has more
// than another.
namespace tally::tail_rows_never_dealt_fault {
namespace {

std::size_t fewest(const Run& run) {
  const Case& whole = whole_of(run.c);
  const auto window = static_cast<std::size_t>(run.window);
  std::size_t least = whole.windows[window].size();
  for (std::size_t rank = 0; rank < ranks_of(whole); ++rank)
    least = std::min(least, micro_batches_of(whole, window, rank));
  return least;
}

void factor(Run& run) {
  stage::fix_factor(run);
  if (static_cast<std::size_t>(run.micro_batch) >= fewest(run)) run.factor = 0;
}

const RegisterFault registered{{
    .name = "tail-rows-never-dealt",
    .right = "c = S / N for every k",
    .condition = "K_r unequal",
    .knob = "value",
    .source = "ms-swift PR 9907",
    .laws = {"ranks_equal_full_batch"},
    .stages = replaced<&Stages::factor, between_factors<factor>>,
}};

}  // namespace
}  // namespace tally::tail_rows_never_dealt_fault
