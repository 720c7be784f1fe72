// Laws of orders of additions: any keeps the bound, a declared one gives its bits, and repeats do too.
#include <cmath>

#include "kernels/training_step/run/own_step.hpp"
#include "properties/judge/lens.hpp"
#include "properties/laws/run_and_check.hpp"
#include "properties/laws/shapes.hpp"

// Law: whatever order the matrix products add in, drawn anew for every call, every tensor stays inside its bound.
namespace tally::any_order_of_additions_law {
namespace {

Outcome holds(const Case& c, const RunOptions& subject) {
  Outcome outcome;
  for (std::uint64_t seed = 1; seed <= 3; ++seed) {
    RunOptions other = subject;
    other.order_seed = seed;
    add(outcome, run_and_check(c, other).outcome);
  }
  return settled(std::move(outcome));
}

bool differs(const Case& c, const RunOptions& subject) {
  if (subject.executor == ExecutorKind::cuda) return true;  // a library's order is its own, whatever is drawn
  RunOptions other = subject;
  other.order_seed = 1;
  return bits_differ(run(c, subject), run(c, other), {"forward", "backward"});
}

const RegisterLaw registered{{
    .name = "any_order_of_additions",
    .family = "kernels",
    .statement = "Whatever order the matrix products add in, every tensor stays inside its bound.",
    .holds = holds,
    .control = "another order of additions leaves other bits in some case",
    .differs = differs,
    .weight = 0.5,
}};

}  // namespace
}  // namespace tally::any_order_of_additions_law

// Law: products whose claim names one order of additions have the bits of that order. Any order keeps its bound, so a
// label that says more than is done shows in bits alone. Held on the gradients of linear layers, which are products
// and nothing else, where the claim says "sequential_fma": acc = fma(a, b, acc) in fp32, from the first term up.
namespace tally::declared_order_gives_its_bits_law {
namespace {

/// Every other case keeps the order that it drew: a claim that forgets it would name the sequential one.
void shape(Plan& plan) {
  if (plan.seed % 2 == 0) plan.execution.order = 0;
  plan.precision.compute = Dtype::fp32;
  plan.precision.tf32 = false;
}

float sequential(const Tensor& a, std::size_t a_first, std::size_t a_step, const Tensor& b, std::size_t b_first,
                 std::size_t b_step, std::size_t terms) {
  float sum = 0;
  for (std::size_t i = 0; i < terms; ++i) {
    const auto left = static_cast<float>(a.value(a_first + i * a_step));
    const auto right = static_cast<float>(b.value(b_first + i * b_step));
    sum = std::fma(left, right, sum);
  }
  return sum;
}

/// [rows, out] -> transposed times [rows, in] -> [out, in].
Tensor weight_gradient(const Tensor& dy, const Tensor& x) {
  const auto rows = static_cast<std::size_t>(x.shape[0]), in = static_cast<std::size_t>(x.shape[1]);
  const std::size_t out = dy.elements() / rows;
  Tensor gradient(x.dtype, {dy.shape[1], x.shape[1]});
  for (std::size_t o = 0; o < out; ++o)
    for (std::size_t i = 0; i < in; ++i) gradient.set(o * in + i, sequential(dy, o, out, x, i, in, rows));
  return gradient;
}

/// [rows, out] times [out, in] -> [rows, in].
Tensor input_gradient(const Tensor& dy, const Tensor& weight) {
  const auto out = static_cast<std::size_t>(weight.shape[0]), in = static_cast<std::size_t>(weight.shape[1]);
  Tensor gradient(dy.dtype, {dy.shape[0], weight.shape[1]});
  for (std::size_t r = 0; r < dy.elements() / out; ++r)
    for (std::size_t i = 0; i < in; ++i) gradient.set(r * in + i, sequential(dy, r * out, 1, weight, i, in, out));
  return gradient;
}

/// The products of one layer in one micro-batch, where they were tapped.
void require_products(Outcome& outcome, const Trace& trace, const TapName& of_weight, const std::string& label) {
  TapName name = of_weight;
  const auto named = [&](const std::string& tensor) {
    name.tensor = tensor;
    return trace.find(name.view());
  };
  const Tensor *dy = named("in.d." + label + ".y"), *x = named("in." + label + ".x");
  const Tensor* weight = named("in." + label + ".weight");
  if (dy == nullptr || x == nullptr || weight == nullptr) return;
  if (const Tensor* got = named("d." + label + ".weight"))
    add(outcome, bitwise_check(name.text(), "backward", weight_gradient(*dy, *x), *got));
  if (const Tensor* got = named("d." + label + ".x"))
    add(outcome, bitwise_check(name.text(), "backward", input_gradient(*dy, *weight), *got));
}

Outcome products_of(const Case& c, const Trace& trace) {
  Outcome outcome;
  for (std::size_t i = 0; i < c.model.layers.size(); ++i) {
    if (c.model.layers[i].kind != "linear") continue;
    const std::string label = label_of(c.model, i);
    for (const Tap& tap : trace.taps()) {
      if (tap.name.stage == "backward" && tap.name.tensor == "in." + label + ".weight")
        require_products(outcome, trace, tap.name, label);
    }
  }
  return outcome;
}

Outcome holds(const Case& c, const RunOptions& subject) {
  CheckedRun judged = run_and_check(c, subject);
  if (judged.outcome.status == Status::not_run) return judged.outcome;
  const auto gemm = judged.trace.claims.kernels.find("gemm");
  const bool is_one_chain =
      gemm != judged.trace.claims.kernels.end() && gemm->second.variant == "sequential_fma" && gemm->second.splits == 1;
  if (!is_one_chain) return vacuous(settled(std::move(judged.outcome)), "the claim of these products names no order");
  const Outcome products = products_of(c, judged.trace);
  if (products.checks.empty()) return vacuous(settled(std::move(judged.outcome)), "no product stands alone in a tap");
  add(judged.outcome, products);
  return settled(std::move(judged.outcome));
}

bool differs(const Case& c, const RunOptions& subject) {
  return bits_differ(run(c, subject), run(with_other_input(c), subject), {"backward"});
}

const RegisterLaw registered{{
    .name = "declared_order_gives_its_bits",
    .family = "kernels",
    .statement = "Products whose claim names an order of additions have the bits of that order.",
    .shape = shape,
    .holds = holds,
    .control = "another input gives other products",
    .differs = differs,
    .weight = 0.5,
}};

}  // namespace
}  // namespace tally::declared_order_gives_its_bits_law

// Law: a kernel that claims repeatability leaves the same bits in every run, under every schedule of its threads.
namespace tally::repeats_bitwise_law {
namespace {

const std::vector<std::string> everything{"forward",        "running_stats", "loss",     "backward", "accumulate",
                                          "overflow_check", "unscale",       "norm",     "clip",     "decay",
                                          "optimizer",      "scaler",        "schedule", "cast",     "fork"};

Outcome holds(const Case& c, const RunOptions& subject) {
  CheckedRun first = run_and_check(c, subject);
  if (first.outcome.status == Status::not_run) return first.outcome;
  require_equal_bits(first.outcome, first.trace, run(c, subject), everything, "a second run left other bits");
  const std::uint64_t schedules = own_step(subject) == nullptr ? 2 : 0;  // of threads that Tally runs
  for (std::uint64_t seed = 1; seed <= schedules; ++seed) {
    RunOptions other = subject;
    other.schedule_seed = seed;
    require_equal_bits(first.outcome, first.trace, run(c, other), everything, "another schedule left other bits");
  }
  return settled(std::move(first.outcome));
}

bool differs(const Case& c, const RunOptions& subject) {
  return bits_differ(run(c, subject), run(with_other_input(c), subject), everything);
}

const RegisterLaw registered{{
    .name = "repeats_bitwise",
    .family = "kernels",
    .statement = "Repeatable kernels leave the same bits in every run and under every schedule of their threads.",
    .holds = holds,
    .control = "another input leaves other bits",
    .differs = differs,
}};

}  // namespace
}  // namespace tally::repeats_bitwise_law
