// Law: where attention selects, a whole model is exact. Every weight is 1, 1/2 or 0, so that every sum is exact in any
// order: all kernels of attention leave one set of bits in every stage, under every order of additions and schedule, and
// in fp32 the gradients are the exact ones.
#include "kernels/device/kernel_registry.hpp"
#include "kernels/training_step/own_step.hpp"
#include "oracle/window/trajectory.hpp"
#include "properties/generators/attention_plan.hpp"
#include "properties/generators/selecting_model.hpp"
#include "properties/laws/run_and_check.hpp"

namespace tally::selecting_attention_is_exact_law {
namespace {

void shape(Plan& plan) {
  attend(plan, QueriesAndKeys::apart);
  for (const char* operation : {"attention.forward", "attention.backward"}) plan.execution.kernels.erase(operation);
}

/// What e^-128 comes to is below what a float holds.
void require_exact(Outcome& outcome, const Case& c, const Trace& trace) {
  const auto answer =
      oracle::evaluate_window<long double>(c, 0, oracle::Branch::accumulated, oracle::initial_state<long double>(c));
  for (const auto& [parameter, gradient] : answer.grad) {
    const std::string name = "w0/unscale/d." + parameter;
    const Tensor* got = trace.find(name);
    bool same = got != nullptr;
    for (std::size_t i = 0; same && i < got->elements(); ++i)
      same = got->value(i) == static_cast<float>(gradient.data()[i]);
    require(outcome, same, name, "unscale", "the gradient of a model that selects is not the exact one");
  }
}

bool same_values(const Tensor& a, const Tensor& b) {
  for (std::size_t i = 0; i < a.elements(); ++i)
    if (a.value(i) != b.value(i)) return false;
  return a.dtype == b.dtype && a.shape == b.shape;
}

/// Requires the same of sums by atomics too, whose order is nobody's promise: here every order gives the same.
void require_one_set_of_bits(Outcome& outcome, const Trace& expected, const Trace& got, const std::string& kernels) {
  for (const Tap& tap : expected.taps()) {
    if (tap.name.stage == "optimizer" || tap.value.dtype == Dtype::i64 || tap.value.dtype == Dtype::u8) continue;
    const Tensor* other = got.find(tap.name.view());
    require(outcome, other != nullptr && same_values(*other, tap.value), tap.name.text(), tap.name.stage,
            kernels + " left other bits where every sum is exact");
  }
}

Case with_kernels(Case c, const std::string& forward, const std::string& backward) {
  c.execution.kernels["attention.forward"] = forward;
  c.execution.kernels["attention.backward"] = backward;
  return c;
}

Outcome holds(const Case& drawn, const RunOptions& subject) {
  if (!drawn.model.tokens || drawn.model.input < 2) return not_for("a model over tokens");
  const Case c = selecting_model(drawn);
  CheckedRun straight = run_and_check(c, subject);
  if (straight.outcome.status == Status::not_run) return straight.outcome;
  if (c.precision.storage == Dtype::fp32) require_exact(straight.outcome, c, straight.trace);
  if (own_step(subject) != nullptr) return settled(std::move(straight.outcome));
  const auto forwards = shipped_variants("attention.forward", subject.executor),
             backwards = shipped_variants("attention.backward", subject.executor);
  std::size_t number = 0;
  for (const std::string& forward : forwards) {
    const std::string& backward = backwards[number++ % backwards.size()];
    RunOptions other = subject;
    other.order_seed = other.schedule_seed = number;
    require_one_set_of_bits(straight.outcome, straight.trace, run(with_kernels(c, forward, backward), other),
                            forward + " and " + backward);
  }
  return settled(std::move(straight.outcome));
}

bool differs(const Case& drawn, const RunOptions& subject) {
  const Case c = selecting_model(drawn);
  Case other = c;
  Tensor& values = other.tensors.at("v.weight");
  for (std::size_t i = 0; i < values.elements(); ++i) values.set(i, 2 * values.value(i));
  return bits_differ(run(c, subject), run(other, subject), {"forward", "unscale"});
}

const RegisterLaw registered{{
    .name = "selecting_attention_is_exact",
    .family = "attention",
    .statement = "Where attention selects rows, a whole model is exact: one set of bits by all its kernels.",
    .shape = shape,
    .holds = holds,
    .control = "values twice as large give other bits",
    .differs = differs,
    .weight = 0.5,
}};

}  // namespace
}  // namespace tally::selecting_attention_is_exact_law
