// Laws of extreme values: any bit pattern, values that are not finite, and functions at the ends of their range.
#include <algorithm>
#include <array>
#include <cmath>
#include <utility>

#include "kernels/device/kernel_registry.hpp"
#include "oracle/case/tensors/tensor.hpp"
#include "properties/generators/choices.hpp"
#include "properties/laws/law.hpp"
#include "properties/laws/run_and_check.hpp"
#include "properties/laws/shapes.hpp"

// Law: whatever the bit patterns of the operands, every stage keeps its bound: signed zeros, subnormals, powers of two
// and their neighbours, half-way cases of the next narrower format, pairs that cancel, outliers, graded magnitudes,
// means far from zero, and 256 micro-batches in a row.
namespace tally::any_bit_pattern_keeps_its_bound_law {
namespace {

/// A long accumulation takes a small model.
void cut_often(Plan& plan) {
  plan.input = 3;
  plan.hidden.clear();
  plan.outputs = 2;
  plan.loss = choice("loss", "mse");
  plan.ignored_percent = 0;
  plan.empty_micro_batch = false;
  plan.windows = {std::vector<std::int64_t>(256, 1)};
}

void shape(Plan& plan) {
  static const char* classes[] = {"zeros_signed", "tiny", "powers", "halfway", "pairs", "outlier", "wide"};
  if (plan.values.empty()) plan.values = classes[plan.seed % 7];
  if (plan.seed % 16 == 3) cut_often(plan);
  if (plan.seed % 6 != 1) return;
  plan.far_mean = true;
  with_batch_norm(plan, plan.seed % 4 == 1 ? "window" : "micro_batch");
}

Outcome holds(const Case& c, const RunOptions& subject) { return run_and_check(c, subject).outcome; }

bool differs(const Case& c, const RunOptions& subject) {
  return bits_differ(run(c, subject), run(with_other_input(c), subject), {"forward", "unscale"});
}

const RegisterLaw registered{{
    .name = "any_bit_pattern_keeps_its_bound",
    .family = "kernels",
    .statement = "Whatever the bit patterns of its operands, every stage keeps its bound.",
    .shape = shape,
    .holds = holds,
    .control = "another input gives other bits",
    .differs = differs,
    .any_values = true,
}};

}  // namespace
}  // namespace tally::any_bit_pattern_keeps_its_bound_law

// Law: non-finite values appear exactly where the definition says: of all rows only the one that is huge may leave the
// range, and no later micro-batch sees it.
// Vacuous where nothing overflows. Row 0 of the first micro-batch is huge; layers act on rows alone.
namespace tally::non_finite_stays_in_its_rows_law {
namespace {

void shape(Plan& plan) {
  overflow_in_first_micro_batch(plan);
  plan.hidden = {layer("linear", "fc1", {{"out", std::int64_t{3}}}), layer("relu"), layer("layer_norm", "norm1")};
  plan.gradient_magnitude = 1;
  plan.recipe.clip = choice("clip", "global_norm", {{"max_norm", Decimal{"1"}}});
}

/// Row 0 times its first weight leaves the range; every other row has a product of ordinary size.
Case with_a_huge_row(Case c) {
  const bool narrow = !format_row(c.precision.storage).has_range_of_fp32();
  for (const auto& [name, value] : {std::pair{"x", narrow ? 0x1p15 : 0x1p126}, {"fc1.weight", 8.0}}) {
    Tensor& tensor = c.tensors.at(name);
    tensor.set(0, value);
    tensor.drawing.reset();
  }
  return c;
}

/// Elements of the first layer's output that are not finite: of row 0, and of all other rows.
struct Census {
  std::size_t huge = 0, others = 0;
};

Census census_of(const Trace& trace) {
  Census census;
  for (const Tap& tap : trace.taps()) {
    if (tap.name.stage != "forward" || tap.name.tensor != "fc1.y") continue;
    const auto width = static_cast<std::size_t>(tap.value.shape[1]);
    for (std::size_t i = 0; i < tap.value.elements(); ++i) {
      const bool first = tap.name.window == 0 && tap.name.micro_batch == 0 && i < width;
      (first ? census.huge : census.others) += !std::isfinite(tap.value.value(i));
    }
  }
  return census;
}

Outcome holds(const Case& c, const RunOptions& subject) {
  CheckedRun judged = run_and_check(with_a_huge_row(c), subject);
  if (judged.outcome.status == Status::not_run) return judged.outcome;
  const Census census = census_of(judged.trace);
  require(judged.outcome, census.others == 0, "forward/fc1.y", "forward",
          std::to_string(census.others) + " elements of rows that are not huge are not finite");
  Outcome outcome = settled(std::move(judged.outcome));
  return census.huge == 0 ? vacuous(std::move(outcome), "no activation overflowed") : outcome;
}

bool differs(const Case& c, const RunOptions& subject) {
  return census_of(run(with_a_huge_row(c), subject)).huge > 0 && census_of(run(c, subject)).huge == 0;
}

const RegisterLaw registered{{
    .name = "non_finite_stays_in_its_rows",
    .family = "kernels",
    .statement = "Non-finite values appear exactly where the oracle says, and in no other row.",
    .shape = shape,
    .holds = holds,
    .control = "the same case without the huge row stays finite",
    .differs = differs,
    .weight = 0.5,
}};

}  // namespace
}  // namespace tally::non_finite_stays_in_its_rows_law

// Law: norms of one number keep their bounds. Where all that is normalised is one large number, the variance is 0 and
// eps alone stands under the root; a variance that is worked out from E[x²] comes to a little more or less, by so many
// times eps, and below 0 it is none. By every kernel of statistics, rows and columns.
namespace tally::norms_of_one_number_keep_their_bound_law {
namespace {

/// What works out a variance, and of how many features: squares of 16-bit numbers are summed exactly where these are
/// few.
constexpr std::array operations{"layer_norm.forward", "batch_norm.statistics"};
constexpr std::array<std::int64_t, 4> features{3, 7, 13, 41};

void shape(Plan& plan) {
  std::uint64_t left = plan.seed;
  const auto next = [&](std::size_t count) {
    const std::uint64_t drawn = left % count;
    left /= count;
    return static_cast<std::size_t>(drawn);
  };
  const std::string operation = operations[next(operations.size())], kind = operation.substr(0, operation.find('.'));
  const std::vector<std::string> variants = shipped_variants(operation, ExecutorKind::host);
  const std::string& variant = variants[next(variants.size())];
  const Options options = kind == "batch_norm" ? Options{{"statistics", std::string("window")}} : Options{};
  plan.tokens = {};
  plan.hidden = {layer("linear", "fc1", {{"out", features[next(features.size())]}}), layer(kind, "norm1", options)};
  plan.execution.kernels[operation] = variant;
  plan.windows = {{7, 5}};
  plan.empty_micro_batch = false;
  plan.constant = true;
}

bool is_for(const Case& c) {
  return std::ranges::any_of(c.model.layers, [](const Layer& l) {
    return l.name == "norm1" && (l.kind == "layer_norm" || l.kind == "batch_norm");
  });
}

Outcome holds(const Case& c, const RunOptions& subject) {
  if (!is_for(c)) return not_for("a layer_norm or batch_norm called norm1");
  return run_and_check(c, subject).outcome;
}

bool differs(const Case& c, const RunOptions& subject) {
  return bits_differ(run(c, subject), run(with_other_input(c), subject), {"forward", "unscale"});
}

const RegisterLaw registered{{
    .name = "norms_of_one_number_keep_their_bound",
    .family = "kernels",
    .statement = "Where all that is normalised is one large number, every kernel of statistics keeps its bound.",
    .shape = shape,
    .holds = holds,
    .control = "another input gives other bits",
    .differs = differs,
    .designed = true,
}};

}  // namespace
}  // namespace tally::norms_of_one_number_keep_their_bound_law

// Law: SiLU keeps its bound where exp overflows: far above 0 it is x, with slope 1, far below it is 0, with slope 0.
namespace tally::silu_spans_the_range_law {
namespace {

/// One row of x is large: its activations are hundreds away from 0, of either sign, in its micro-batch alone.
void shape(Plan& plan) {
  static const std::int64_t widths[] = {1, 2, 4, 33, 65};
  at_least_micro_batches(plan, 2);
  plan.hidden = {layer("linear", "fc1", {{"out", widths[plan.seed % std::size(widths)]}}), layer("silu")};
  plan.gradient_magnitude = 512;
}

Outcome holds(const Case& c, const RunOptions& options) { return run_and_check(c, options).outcome; }

bool differs(const Case& c, const RunOptions& options) {
  return bits_differ(run(c, options), run(with_other_input(c), options), {"forward"});
}

const RegisterLaw registered{{
    .name = "silu_spans_the_range",
    .family = "kernels",
    .statement = "SiLU keeps its bound where exp overflows: far above 0 it is its input, far below it is 0.",
    .shape = shape,
    .holds = holds,
    .control = "another input gives other activations",
    .differs = differs,
}};

}  // namespace
}  // namespace tally::silu_spans_the_range_law

// Law: cross-entropy keeps its bound for one class, for more than one thread takes, and where logits lie further apart
// than exp can span (88 in fp32): the largest is taken off before any exponential.
namespace tally::softmax_holds_far_apart_law {
namespace {

/// One row's logits are infinite, of either sign.
void overflow_in_logits(Plan& plan) {
  const bool narrow = !format_row(plan.precision.storage).has_range_of_fp32();
  plan.input = 1;
  plan.hidden = {layer("scale", "enlarged", {{"factor", Decimal{narrow ? "4096" : "1099511627776"}}})};
  plan.gradient_magnitude = narrow ? 0x1p12 : 0x1p100;
}

/// One row of x is large: its logits are hundreds apart, of either sign, in its micro-batch alone.
void shape(Plan& plan) {
  static const std::int64_t classes[] = {1, 2, 4, 33, 65};
  at_least_micro_batches(plan, 2);
  plan.hidden.clear();
  plan.loss = choice("loss", "cross_entropy", {{"label_smoothing", Decimal{plan.seed % 2 == 0 ? "0" : "0.125"}}});
  plan.outputs = classes[plan.seed % std::size(classes)];
  plan.gradient_magnitude = 512;
  if (plan.seed % 4 == 1) overflow_in_logits(plan);
  if (plan.seed % 8 < 4) plan.execution.kernels["cross_entropy"] = "online";
}

Outcome holds(const Case& c, const RunOptions& subject) { return run_and_check(c, subject).outcome; }

bool differs(const Case& c, const RunOptions& subject) {
  return bits_differ(run(c, subject), run(with_other_input(c), subject), {"forward"});
}

const RegisterLaw registered{{
    .name = "softmax_holds_far_apart",
    .family = "kernels",
    .statement =
        "Cross-entropy keeps its bound for one class, for many, and for logits further apart than exp can span.",
    .shape = shape,
    .holds = holds,
    .control = "another input gives other logits",
    .differs = differs,
    .weight = 1,
}};

}  // namespace
}  // namespace tally::softmax_holds_far_apart_law
