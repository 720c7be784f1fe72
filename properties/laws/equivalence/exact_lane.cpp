// Law: on dyadic data, for which every product and every sum is exact in any order, the kernels leave the exact bits:
// tolerance zero, under every order of additions and every schedule.
#include "kernels/training_step/own_step.hpp"
#include "oracle/window/trajectory.hpp"
#include "properties/compare/lens.hpp"
#include "properties/laws/any_case.hpp"
#include "properties/laws/run_and_check.hpp"
#include "properties/laws/shapes.hpp"

namespace tally::exact_lane_law {
namespace {

/// The exact value in the tapped tensor's format; representable, or the case is not exact and `exact` turns false.
Tensor rounded(const oracle::Matrix<long double>& value, const Tensor& like, bool& exact) {
  Tensor tensor(like.dtype, like.shape);
  for (std::size_t i = 0; i < tensor.elements(); ++i) {
    const auto v = static_cast<double>(value.data()[i]);
    tensor.set(i, v);
    exact = exact && tensor.value(i) == v;
  }
  return tensor;
}

void require_exact(Outcome& outcome, const Trace& trace, const oracle::WindowAnswer<long double>& answer) {
  bool exact = true;
  for (const auto& [parameter, gradient] : answer.grad) {
    for (const std::string stage : {"unscale", "optimizer"}) {
      const std::string name = "w0/" + stage + (stage == "unscale" ? "/d." : "/") + parameter;
      const Tensor* got = trace.find(name);
      if (!got) {
        require(outcome, false, name, stage, name + " was not tapped");
        continue;
      }
      const auto& value = stage == "unscale" ? gradient : answer.after.slots.at(parameter).parameter;
      add(outcome, bitwise_check(name, stage, rounded(value, *got, exact), *got));
    }
  }
  require(outcome, exact, "w0/exact", "unscale", "the case is not exact: a value does not fit its format");
}

Outcome holds(const Case& c, const RunOptions& subject) {
  const auto state = oracle::initial_state<long double>(c);
  const auto answer = oracle::evaluate_window<long double>(c, 0, oracle::Branch::accumulated, state);
  CheckedRun first = run_and_check(c, subject);
  if (first.outcome.status == Status::not_run) return first.outcome;
  require_exact(first.outcome, first.trace, answer);
  const std::uint64_t orders = own_step(subject) == nullptr ? 3 : 0;  // another step has its own
  for (std::uint64_t seed = 1; seed <= orders; ++seed) {
    RunOptions other = subject;
    other.order_seed = other.schedule_seed = seed;
    require_exact(first.outcome, run(c, other), answer);
  }
  return settled(std::move(first.outcome));
}

bool differs(const Case& c, const RunOptions& subject) {
  return bits_differ(run(c, subject), run(with_other_input(c), subject), {"unscale"});
}

const RegisterLaw registered{{
    .name = "exact_lane",
    .family = "equivalence",
    .statement = "Where every sum is exact in any order, the kernels leave the exact bits.",
    .shape = exact_arithmetic,
    .holds = holds,
    .control = "one row of x changed gives other bits",
    .differs = differs,
    .weight = 2,
}};
const RegisterAnyCase registered_any_case("exact_lane");

}  // namespace
}  // namespace tally::exact_lane_law
