// Law: an RMS norm ignores the scale of what it reads. With x times 2^k and eps times 4^k every output keeps its bits,
// and so does the gradient of its weight.
#include <algorithm>
#include <cmath>

#include "properties/compare/tensor_rows.hpp"
#include "properties/generators/choices.hpp"
#include "properties/laws/promised_bits.hpp"
#include "properties/laws/run_and_check.hpp"
#include "properties/laws/shapes.hpp"

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
    require(straight.outcome, got != nullptr && same_bits(*got, tap.value), tap.name.text(), tap.name.stage,
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
