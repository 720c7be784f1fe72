// Bugs of overflow_check and scaler, and of stages of a pipeline that act by what they know themselves.
#include <algorithm>
#include <cmath>

#include "oracle/case/sharding.hpp"
#include "oracle/graph/stage.hpp"
#include "oracle/window/rank_stages.hpp"
#include "properties/diagnosis/bug.hpp"

namespace tally::overflow_bug {
namespace {

// The count of clean windows goes on through an overflow.
namespace clean_windows_counted_on {

std::optional<Values> left(const Evidence& evidence, const HeldTensor& held) {
  if (held.name.tensor != "growth_counter") return std::nullopt;
  if (evidence.scalar(held.name.window, "scaler", "in.found", 0) == 0) return std::nullopt;
  return Values{evidence.scalar(held.name.window, "scaler", "in.growth_counter", 0) + 1};
}

const RegisterBug registered{{
    .name = "scaler-counter-kept-on-overflow",
    .stages = {"scaler"},
    .sentence = "the scaler's count of clean windows is not reset at an overflow",
    .formula = "count + 1 in a skipped window",
    .remedy = "reset the count of clean windows to 0 at an overflow",
    .left = left,
}};

}  // namespace clean_windows_counted_on

// The scaler is updated once for every micro-batch.
namespace scaler_counts_micro_batches {

struct Scaler {
  double scale, counter;
};

Scaler after(const Choice& choice, Scaler now, bool found, int updates) {
  for (int k = 0; k < updates; ++k) {
    if (found) {
      now = {now.scale * choice.number("backoff_factor").to_double(), 0};
    } else if (++now.counter >= static_cast<double>(choice.integer("growth_interval"))) {
      now = {now.scale * choice.number("growth_factor").to_double(), 0};
    }
  }
  return now;
}

std::optional<Values> left(const Evidence& evidence, const HeldTensor& held) {
  const bool scale = held.name.tensor == "scale";
  if (!scale && held.name.tensor != "growth_counter") return std::nullopt;
  const Scaler now{evidence.scalar(held.name.window, "scaler", "in.scale", 1),
                   evidence.scalar(held.name.window, "scaler", "in.growth_counter", 0)};
  const bool found = evidence.scalar(held.name.window, "scaler", "in.found", 0) != 0;
  const Scaler moved = after(evidence.c.recipe.loss_scale, now, found, evidence.micro_batches(held.name.window));
  return Values{scale ? moved.scale : moved.counter};
}

const RegisterBug registered{{
    .name = "scaler-counts-microbatches",
    .stages = {"scaler"},
    .sentence = "the loss scaler is updated once per micro-batch, not once per window",
    .formula = "K updates a window",
    .remedy = "call `scaler.update()` once per window, after `scaler.step(optimizer)`",
    .left = left,
}};

}  // namespace scaler_counts_micro_batches

// A run that goes on starts its scaler anew.
namespace scaler_starts_anew {

std::optional<Values> left(const Evidence&, const HeldTensor& held) {
  if (held.name.tensor != "in.growth_counter" || held.name.window != 0) return std::nullopt;
  return Values{0.0};
}

const RegisterBug registered{{
    .name = "scaler-state-not-restored",
    .stages = {"scaler"},
    .sentence = "a run resumed from a checkpoint restarts the scaler's count",
    .formula = "count of the first window = 0",
    .remedy = "save and load `scaler.state_dict()` with the checkpoint",
    .left = left,
}};

}  // namespace scaler_starts_anew

// What the first parameter holds is not seen.
namespace overflow_flag_cleared_late {

std::optional<Values> left(const Evidence& evidence, const HeldTensor& held) {
  if (held.name.tensor != "found") return std::nullopt;
  double found = 0;
  for (const std::string& p : parameters_of(evidence.c.model)) {
    if (p == parameters_of(evidence.c.model).front()) continue;
    for (const double g : evidence.tap(held.name.window, -1, "overflow_check", "in.buffer." + p).value_or(Values{})) {
      if (!std::isfinite(g)) found = 1;
    }
  }
  return Values{found};
}

const RegisterBug registered{{
    .name = "overflow-flag-cleared-late",
    .stages = {"overflow_check"},
    .sentence = "the overflow flag is cleared after the first parameter was checked: its overflow is missed",
    .formula = "found = any other parameter is not finite",
    .remedy = "clear the overflow flag before the first parameter is checked",
    .left = left,
}};

}  // namespace overflow_flag_cleared_late

// An overflow is never found.
namespace overflow_never_found {

std::optional<Values> left(const Evidence&, const HeldTensor& held) {
  if (held.name.tensor != "found") return std::nullopt;
  return Values{0.0};
}

const RegisterBug registered{{
    .name = "overflow-not-checked",
    .stages = {"overflow_check"},
    .sentence = "an overflow is never found",
    .formula = "found = 0",
    .remedy =
        "check gradients for infinity before the step: `scaler.unscale_(optimizer)`, then `scaler.step(optimizer)`",
    .left = left,
}};

}  // namespace overflow_never_found

// Only the last micro-batch is looked at.
namespace overflow_of_last_micro_batch {

std::optional<Values> left(const Evidence& evidence, const HeldTensor& held) {
  if (held.name.tensor != "found") return std::nullopt;
  const int last = evidence.micro_batches(held.name.window) - 1;
  double found = 0;
  for (const std::string& p : parameters_of(evidence.c.model)) {
    for (const double g : evidence.tap(held.name.window, last, "backward", "d." + p).value_or(Values{})) {
      if (!std::isfinite(g)) found = 1;
    }
  }
  return Values{found};
}

const RegisterBug registered{{
    .name = "found-inf-last-microbatch-only",
    .stages = {"overflow_check"},
    .sentence = "only the last micro-batch is checked for overflow",
    .formula = "found = last s_k is not finite",
    .remedy = "check the accumulated gradient for infinities, not the last micro-batch's",
    .left = left,
}};

}  // namespace overflow_of_last_micro_batch
}  // namespace
}  // namespace tally::overflow_bug

// Bugs of the stages of a pipeline that act by what they know themselves.
namespace tally::pipelines_bug {
namespace {

/// The number that the stage itself has of it, for a tensor that all stages are to have alike.
std::optional<double> own_number(const Evidence& evidence, const HeldTensor& held, const std::string& stage,
                                 const std::string& tensor) {
  if (!is_pipelined(evidence.c)) return std::nullopt;
  const int pipe = std::max(held.name.pipe, 0);  // the first stage's tap names none
  const Tensor* own = evidence.trace.find(TapView{held.name.window, -1, stage, tensor, -1, pipe});
  return own == nullptr || own->elements() != 1 ? std::nullopt : std::optional(own->value(0));
}

// The norm of its own layers.
namespace own_layers {

std::optional<Values> left(const Evidence& evidence, const HeldTensor& held) {
  if (held.name.stage != StageName::norm || held.name.tensor != "norm") return std::nullopt;
  const std::optional<double> part = own_number(evidence, held, "norm", "part");
  if (!part) return std::nullopt;
  return Values{oracle::hands_over_squares(evidence.c) ? std::sqrt(*part) : *part};
}

const RegisterBug registered{{
    .name = "norm-of-own-stage",
    .stages = {"norm"},
    .sentence = "each stage of the pipeline clips by the norm of its own layers only",
    .formula = "norm of g_p",
    .remedy = "sum the squares over the pipeline's stages before the clip",
    .left = left,
}};

}  // namespace own_layers

// Its own finding.
namespace own_finding {

std::optional<Values> left(const Evidence& evidence, const HeldTensor& held) {
  if (held.name.stage != StageName::agree || held.name.tensor != "found") return std::nullopt;
  const std::optional<double> found = own_number(evidence, held, "agree", "in.found");
  return found ? std::optional(Values{*found}) : std::nullopt;
}

const RegisterBug registered{{
    .name = "stages-skip-apart",
    .stages = {"agree"},
    .sentence = "each stage of the pipeline skips the step only on its own overflow",
    .formula = "found_p",
    .remedy = "skip the step on all stages of the pipeline when one finds an overflow",
    .left = left,
}};

}  // namespace own_finding

}  // namespace
}  // namespace tally::pipelines_bug
