// Rotary positions: which features turn, in which pairs, and how far.
#include <algorithm>

#include "oracle/case/sequences.hpp"
#include "properties/triggers/trigger.hpp"

namespace tally::rotary_trigger {
namespace {

bool is_rotary(const Layer& l) { return l.kind == "rotary"; }
bool is_slice(const Layer& l) { return l.kind == "slice"; }

template <class Holds>
bool any_rotary(const Sight& s, Holds holds) {
  return std::ranges::any_of(s.c.model.layers, [&](const Layer& l) { return is_rotary(l) && holds(l); });
}

bool from_position(const Sight& s, std::int64_t least) {
  if (!s.any_layer(is_rotary)) return false;
  const Tensor positions = positions_of(s.c);
  for (std::size_t i = 0; i < positions.elements(); ++i)
    if (positions.integer(i) >= least) return true;
  return false;
}

bool turns(const Sight& s) { return from_position(s, 1); }
bool from_50(const Sight& s) { return from_position(s, 50); }
bool from_2048(const Sight& s) { return from_position(s, 2048); }
bool from_65536(const Sight& s) { return from_position(s, 65536); }
bool interleaves(const Sight& s) {
  return any_rotary(s, [](const Layer& l) { return l.text("pairing") == "interleaved"; });
}
bool turns_a_part(const Sight& s) {
  return any_rotary(s, [](const Layer& l) { return l.integer("dimensions") > 0; });
}
bool several_heads(const Sight& s) {
  return any_rotary(s, [](const Layer& l) { return l.integer("heads") > 1; });
}
bool slices(const Sight& s) { return s.any_layer(is_slice); }

const RegisterTriggers registered{
    13,
    "rotary",
    {{"pairs that turn", TriggerKind::of_case, "", turns},
     {"position of 50 and more", TriggerKind::of_case, "a frequency in bf16 shows", from_50},
     {"position of 2048 and more", TriggerKind::of_case, "", from_2048},
     {"position of 65536 and more", TriggerKind::of_case, "an angle in fp32 is off", from_65536},
     {"interleaved pairs", TriggerKind::of_case, "", interleaves},
     {"features that do not turn", TriggerKind::of_case, "", turns_a_part},
     {"several heads that turn", TriggerKind::of_case, "", several_heads},
     {"q, k and v as slices of one product", TriggerKind::of_case, "", slices}}};

}  // namespace
}  // namespace tally::rotary_trigger
