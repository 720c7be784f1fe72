// Law: rotary positions are relative. With every position of a sequence further by the same number, what the first
// attention leaves is the same, (rotary.1) turning q and k alike: each run keeps its bounds, and the two are no further
// apart than both bounds allow.
#include <algorithm>
#include <array>

#include "oracle/case/graph.hpp"
#include "oracle/case/sequences.hpp"
#include "properties/compare/expectations.hpp"
#include "properties/generators/attention_plan.hpp"
#include "properties/generators/choices.hpp"
#include "properties/laws/run_and_check.hpp"

namespace tally::rotary_is_relative_law {
namespace {

constexpr std::array<std::int64_t, 3> further{50, 2048, 65536};

void shape(Plan& plan) { attend(plan, QueriesAndKeys::turned); }

bool is_rotary(const Model& model, const std::string& name) {
  return std::ranges::any_of(model.layers, [&](const Layer& l) { return l.name == name && l.kind == "rotary"; });
}

/// The first attention, where nothing before it but rotary layers reads positions.
const Layer* first_attention(const Model& model) {
  for (const Layer& l : model.layers) {
    if (l.kind == "attention") return is_rotary(model, l.inputs[0]) && is_rotary(model, l.inputs[1]) ? &l : nullptr;
    if (l.kind == "position_embedding") return nullptr;
  }
  return nullptr;
}

Case moved(Case c, std::int64_t by, std::int64_t apart = 1) {
  Tensor positions = positions_of(c);
  for (std::size_t i = 0; i < positions.elements(); ++i)
    positions.set_bits(i, static_cast<std::uint64_t>(positions.integer(i) * apart + by));
  positions.drawing.reset();
  c.tensors["positions"] = std::move(positions);
  return c;
}

Outcome holds(const Case& c, const RunOptions& subject) {
  const Layer* attention = first_attention(c.model);
  if (attention == nullptr) return not_for("a first attention whose q and k turn, and no other positions");
  CheckedRun near = run_and_check(c, subject);
  if (near.outcome.status == Status::not_run) return near.outcome;
  const Case far_case = moved(c, further[c.tensors.at("tokens").elements() % further.size()]);
  const CheckedRun far = run_and_check(far_case, subject);
  add(near.outcome, far.outcome);
  const auto expected = end_to_end_expectations(c, near.trace),
             expected_far = end_to_end_expectations(far_case, far.trace);
  for (std::size_t k = 0; k < c.windows.front().size(); ++k) {
    const std::string tap = "w0/m" + std::to_string(k) + "/forward/" + attention->name + ".y";
    const Tensor *a = near.trace.find(tap), *b = far.trace.find(tap);
    if (a == nullptr || b == nullptr || !expected.contains(tap) || !expected_far.contains(tap)) continue;
    add(near.outcome, relation_check(tap, "forward", expected.at(tap), *a, expected_far.at(tap), *b));
  }
  return settled(std::move(near.outcome));
}

bool differs(const Case& c, const RunOptions& subject) {
  return bits_differ(run(moved(c, 1), subject), run(moved(c, 2, 3), subject), {"forward"});
}

const RegisterLaw registered{{
    .name = "rotary_is_relative",
    .family = "attention",
    .statement = "Positions that are all further by the same number leave the same attention, within both bounds.",
    .shape = shape,
    .holds = holds,
    .control = "positions three times as far apart give other bits",
    .differs = differs,
    .weight = 0.5,
}};

}  // namespace
}  // namespace tally::rotary_is_relative_law
