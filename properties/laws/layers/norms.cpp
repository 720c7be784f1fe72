// Laws of norms: the definition of BatchNorm, its gap to the full batch, its running statistics, and the scale that RMS
// norm ignores.
#include <algorithm>
#include <cmath>

#include "oracle/case/contract.hpp"
#include "oracle/exact/answer.hpp"
#include "properties/generators/blocks.hpp"
#include "properties/generators/choices.hpp"
#include "properties/laws/judge.hpp"
#include "properties/laws/run_and_check.hpp"
#include "properties/laws/shapes.hpp"

// Law: BatchNorm over each micro-batch equals its own definition (not the full batch's); the exact gap to the full
// batch is reported, and is not rounding.
namespace tally::batch_norm_keeps_its_definition_law {
namespace {

void shape(Plan& plan) {
  with_batch_norm(plan, "micro_batch");
  at_least_micro_batches(plan, 2);
}

Outcome holds(const Case& c, const RunOptions& subject) {
  Outcome outcome = run_and_check(c, subject).outcome;
  outcome.semantic_gap = oracle::first_gradient_gap(c);
  return outcome;
}

bool differs(const Case& c, const RunOptions& subject) {
  Case shared = c;
  for (Layer& l : shared.model.layers) {
    if (l.kind == "batch_norm") l.options["statistics"] = std::string("window");
  }
  return bits_differ(run(c, subject), run(shared, subject), {"unscale"});
}

const RegisterLaw registered{{
    .name = "batch_norm_keeps_its_definition",
    .family = "BatchNorm",
    .statement = "BatchNorm over each micro-batch equals its own definition; its gap to the full batch is reported.",
    .shape = shape,
    .holds = holds,
    .control = "statistics over the whole window give other gradients",
    .differs = differs,
}};

}  // namespace
}  // namespace tally::batch_norm_keeps_its_definition_law

// Law: with statistics over the whole window BatchNorm is the full batch's, forward, backward and running values,
// however the window is cut.
namespace tally::window_batch_norm_equals_full_batch_law {
namespace {

void shape(Plan& plan) {
  with_batch_norm(plan, "window");
  plan.normalisation = Normalisation::window_items;
  unequal_micro_batches(plan);
}

Outcome holds(const Case& c, const RunOptions& subject) {
  Outcome outcome = run_and_check(c, subject).outcome;
  if (outcome.status == Status::not_run) return outcome;
  add(outcome, run_and_check(full_batch_of(c), subject).outcome);
  outcome.semantic_gap = oracle::first_gradient_gap(c);
  require(outcome, outcome.semantic_gap == 0, "w0/semantic_gap", "forward",
          "statistics over the window leave a gap to the full batch");
  return settled(std::move(outcome));
}

bool differs(const Case& c, const RunOptions& subject) {
  Case own = c;
  for (Layer& l : own.model.layers) {
    if (l.kind == "batch_norm") l.options["statistics"] = std::string("micro_batch");
  }
  return bits_differ(run(c, subject), run(own, subject), {"unscale"});
}

const RegisterLaw registered{{
    .name = "window_batch_norm_equals_full_batch",
    .family = "BatchNorm",
    .statement = "BatchNorm over the whole window equals the full batch, however it is cut.",
    .shape = shape,
    .holds = holds,
    .control = "statistics of each micro-batch give other gradients",
    .differs = differs,
    .weight = 0.5,
}};

}  // namespace
}  // namespace tally::window_batch_norm_equals_full_batch_law

// Law: LayerNorm takes its statistics from each row alone, so that cutting the batch changes nothing: its gap to the
// full batch is exactly zero.
namespace tally::layer_norm_leaves_no_gap_law {
namespace {

void shape(Plan& plan) {
  take_out_if(plan.hidden, [](const Layer& l) { return contract_of("layer", l).norm; });
  plan.hidden.insert(plan.hidden.begin(), layer("layer_norm", "norm1"));
  plan.normalisation = Normalisation::window_items;
  plan.input = std::max<std::int64_t>(plan.input, 2);
  unequal_micro_batches(plan);
  for (auto& window : plan.windows) {
    for (auto& rows : window) rows = std::max<std::int64_t>(rows, 2);  // the control's BatchNorm needs two
  }
}

Outcome holds(const Case& c, const RunOptions& subject) {
  Outcome outcome = run_and_check(c, subject).outcome;
  if (outcome.status == Status::not_run) return outcome;
  outcome.semantic_gap = oracle::first_gradient_gap(c);
  require(outcome, outcome.semantic_gap == 0, "w0/semantic_gap", "forward", "LayerNorm leaves a gap to the full batch");
  return settled(std::move(outcome));
}

bool differs(const Case& c, const RunOptions&) {
  Case batch = c;
  for (Layer& l : batch.model.layers) {
    if (l.kind == "layer_norm") l = layer("batch_norm", l.name, {{"statistics", std::string("micro_batch")}});
  }
  batch.tensors["norm1.running_mean"] = Tensor(c.precision.master, {c.model.input});
  Tensor& variance = batch.tensors["norm1.running_var"] = Tensor(c.precision.master, {c.model.input});
  for (std::size_t i = 0; i < variance.elements(); ++i) variance.set(i, 1);
  return oracle::first_gradient_gap(batch) > 0;
}

const RegisterLaw registered{{
    .name = "layer_norm_leaves_no_gap",
    .family = "BatchNorm",
    .statement = "LayerNorm leaves no gap to the full batch, however it is cut.",
    .shape = shape,
    .holds = holds,
    .control = "BatchNorm in its place leaves one",
    .differs = differs,
    .weight = 0.5,
}};

}  // namespace
}  // namespace tally::layer_norm_leaves_no_gap_law

// Law: running statistics move once per micro-batch (once per window with `window` statistics), also when the forward
// pass is run again for the backward pass.
namespace tally::running_statistics_move_once_law {
namespace {

void shape(Plan& plan) {
  with_batch_norm(plan, plan.seed % 2 == 0 ? "micro_batch" : "window");
  at_least_micro_batches(plan, 2);
  plan.execution.recompute = true;
}

Outcome holds(const Case& c, const RunOptions& subject) {
  CheckedRun twice = run_and_check(c, subject);
  if (twice.outcome.status == Status::not_run) return twice.outcome;
  require_equal_bits(twice.outcome, run(without_recomputation(c), subject), twice.trace, {"running_stats", "unscale"},
                     "running the forward pass again changed the result");
  return settled(std::move(twice.outcome));
}

bool differs(const Case& c, const RunOptions& subject) {
  return bits_differ(run(c, subject), run(with_other_input(c), subject), {"running_stats"});
}

const RegisterLaw registered{{
    .name = "running_statistics_move_once",
    .family = "BatchNorm",
    .statement = "Running statistics move as often as defined, also when the forward pass is run again.",
    .shape = shape,
    .holds = holds,
    .control = "another input moves the running statistics elsewhere",
    .differs = differs,
}};

}  // namespace
}  // namespace tally::running_statistics_move_once_law

// Law: an RMS norm ignores the scale of what it reads. With x times 2^k and eps times 4^k every output keeps its bits,
// and so does the gradient of its weight.
namespace tally::rms_norm_ignores_scale_law {
namespace {

constexpr int exponent = 2;
const std::string first = "rms";

/// x itself is normalised, by a sum that is far from under- and overflow; eps is a power of two, and as large as x is.
void shape(Plan& plan) {
  plan.input = 1 + static_cast<std::int64_t>(plan.seed % 40);
  plan.hidden = {layer("rms_norm", first,
                       {{"eps", Decimal{"0.25"}},
                        {"affine", plan.seed % 4 != 0},
                        {"offset", Decimal{plan.seed % 3 == 0 ? "1" : "0"}}}),
                 layer("linear", "fc1", {{"out", std::int64_t{3}}}), layer("relu")};
  plan.values.clear();
  plan.gradient_magnitude = 1;
}

bool is_for(const Case& c) {
  const Layer& norm = c.model.layers.front();
  return norm.kind == "rms_norm" && !c.model.tokens && norm.inputs.empty() && norm.number("eps").text == "0.25";
}

Case scaled(Case c, bool eps_too) {
  Tensor& x = c.tensors.at("x");
  for (std::size_t i = 0; i < x.elements(); ++i) x.set(i, std::ldexp(x.value(i), exponent));
  x.drawing.reset();
  if (eps_too) c.model.layers.front().options["eps"] = decimal(std::ldexp(0.25, 2 * exponent));
  return c;
}

/// Whether no square of an element that counts is lost below the normal range, on either side.
bool stays_in_range(const Tensor& x) {
  for (std::size_t i = 0; i < x.elements(); ++i) {
    const double size = std::fabs(x.value(i));
    if (size != 0 && (size < 0x1p-12 || size > 0x1p10)) return false;
  }
  return true;
}

/// What is left does not depend on the scale: everything but x itself and rstd.
bool keeps(const TapName& name) {
  if (name.stage == "forward") return name.tensor.ends_with(".y");
  return name.stage == "loss" || name.stage == "accumulate" || name.stage == "unscale";
}

Outcome holds(const Case& c, const RunOptions& subject) {
  if (!is_for(c) || !stays_in_range(c.tensors.at("x")))
    return not_for("a first layer that is an rms_norm with an eps of 1/4, of numbers near 1");
  CheckedRun straight = run_and_check(c, subject);
  if (straight.outcome.status == Status::not_run) return straight.outcome;
  const CheckedRun other = run_and_check(scaled(c, true), subject);
  add(straight.outcome, other.outcome);
  const PromisedBits promised(straight.trace);
  for (const Tap& tap : straight.trace.taps()) {
    if (tap.name.window != 0 || !keeps(tap.name) || !promised.of(tap.name)) continue;
    const Tensor* got = other.trace.find(tap.name.view());
    require(straight.outcome, got != nullptr && *got == tap.value, tap.name.text(), tap.name.stage,
            "x and the root of eps four times as large left other bits");
  }
  return settled(std::move(straight.outcome));
}

bool differs(const Case& c, const RunOptions& subject) {
  return bits_differ(run(c, subject), run(scaled(c, false), subject), {"forward"});
}

const RegisterLaw registered{{
    .name = "rms_norm_ignores_scale",
    .family = "rms_norm",
    .statement = "An RMS norm of x times 2^k with eps times 4^k leaves the same bits.",
    .shape = shape,
    .holds = holds,
    .control = "with eps kept the output is another",
    .differs = differs,
    .weight = 0.5,
}};

}  // namespace
}  // namespace tally::rms_norm_ignores_scale_law
