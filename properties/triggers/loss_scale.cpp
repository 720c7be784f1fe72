// Loss scales, and windows that overflow.
#include <cmath>

#include "properties/triggers/trigger.hpp"

namespace tally::loss_scale_trigger {
namespace {

double scale_of(const Sight& s) {
  const Choice& scale = s.c.recipe.loss_scale;
  if (scale.kind == "none") return 1;
  return scale.number(scale.kind == "static" ? "scale" : "initial").to_double();
}

bool is_one(const Sight& s) { return scale_of(s) == 1; }
bool is_256(const Sight& s) { return scale_of(s) == 256; }
bool is_65536(const Sight& s) { return scale_of(s) == 65536; }
bool no_power_of_two(const Sight& s) {
  int exponent = 0;
  return std::frexp(scale_of(s), &exponent) != 0.5;
}

bool scale_moves(const Sight& s, bool up) {
  for (std::size_t w = 0; w + 1 < s.windows(); ++w) {  // the window after it runs under another scale
    const double before = s.number(w, "scaler", "in.scale"), after = s.number(w, "scaler", "scale");
    if (up ? after > before : after < before) return true;
  }
  return false;
}
bool grows(const Sight& s) { return scale_moves(s, true); }
bool backs_off(const Sight& s) { return scale_moves(s, false); }

bool below_one(const Sight& s) {
  for (std::size_t w = 0; w + 1 < s.windows(); ++w) {
    const double before = s.number(w, "scaler", "in.scale"), after = s.number(w, "scaler", "scale");
    if (after < before && after < 1) return true;
  }
  return false;
}

enum class Place { first, middle, last };
template <Place place>
bool overflow_in(const Sight& s) {
  for (std::size_t w = 0; w < s.windows(); ++w) {
    const int k = s.overflowed[w], last = static_cast<int>(s.c.windows[w].size()) - 1;
    if (k < 0 || last < 1) continue;
    if (place == (k == 0 ? Place::first : k == last ? Place::last : Place::middle)) return true;
  }
  return false;
}

bool skips_then(const Sight& s, bool again) {
  for (std::size_t w = 1; w < s.windows(); ++w) {
    if (s.skipped[w - 1] && s.skipped[w] == again) return true;
  }
  return false;
}
bool twice(const Sight& s) { return skips_then(s, true); }
bool recovers(const Sight& s) { return skips_then(s, false); }
bool resumed(const Sight& s) {
  return s.c.recipe.loss_scale.kind == "dynamic" && s.drawn.recipe.loss_scale.kind == "dynamic" &&
         s.c.recipe.loss_scale.integer("growth_counter") > 0 &&
         s.drawn.recipe.loss_scale.integer("growth_counter") == 0;
}

const RegisterTriggers registered{
    3,
    "loss scale",
    {{"scale 1", TriggerKind::of_case, "or none", is_one},
     {"scale 2^8", TriggerKind::of_case, "", is_256},
     {"scale 2^16", TriggerKind::of_case, "", is_65536},
     {"scale no power of two", TriggerKind::of_case, "", no_power_of_two},
     {"scale grows", TriggerKind::of_case, "and another window runs under it", grows},
     {"scale backs off", TriggerKind::of_case, "and another window runs under it", backs_off},
     {"scale backs off below 1", TriggerKind::of_case, "and another window runs under it", below_one},
     {"overflow in the first micro-batch", TriggerKind::of_case, "of several", overflow_in<Place::first>},
     {"overflow in a middle micro-batch", TriggerKind::of_case, "of three or more", overflow_in<Place::middle>},
     {"overflow in the last micro-batch", TriggerKind::of_case, "of several", overflow_in<Place::last>},
     {"two overflows in a row", TriggerKind::of_case, "two windows are skipped", twice},
     {"recovery", TriggerKind::of_case, "a step is taken after a window that was skipped", recovers},
     {"scaler resumed", TriggerKind::of_run, "started with clean windows already counted", resumed}}};

}  // namespace
}  // namespace tally::loss_scale_trigger
