// A step is taken after every micro-batch: each is a window of its own, divided as a part of the one it belongs to.
#include <utility>

#include "oracle/case/kinds.hpp"
#include "oracle/window/exact_stages.hpp"
#include "properties/diagnosis/regrouped.hpp"
#include "properties/diagnosis/restatement.hpp"

namespace tally::step_at_every_micro_batch_restatement {
namespace {

/// The window and the micro-batch that a regrouped window was.
std::pair<int, int> stated_place(const Case& c, int regrouped) {
  int window = 0;
  while (regrouped_window(c, window + 1, 0) <= regrouped) ++window;
  return {window, regrouped - regrouped_window(c, window, 0)};
}

struct Choices {
  bool by_own_items, schedule_by_window, keeps_buffers;
};

Restated stepped(const Case& c, const Choices& choices) {
  Restated way;
  way.steps_each_micro_batch = true;
  way.changed = 2 + choices.by_own_items + choices.keeps_buffers;
  way.departure.divisor = [&c, own = choices.by_own_items](int regrouped, int) {
    const auto [w, k] = stated_place(c, regrouped);
    const auto window = static_cast<std::size_t>(w), micro_batch = static_cast<std::size_t>(k);
    return own ? oracle::micro_batch_items<long double>(c, window, micro_batch)
               : oracle::divisor<long double>(c, window, micro_batch);
  };
  if (choices.schedule_by_window) {
    way.departure.schedule_count = [&c](int regrouped, std::int64_t taken) {
      const int w = stated_place(c, regrouped).first;
      return taken - regrouped + w;
    };
  }
  if (choices.keeps_buffers) {
    way.departure.goes_on = [&c](int regrouped) { return stated_place(c, regrouped).second > 0; };
    way.formula = "step after each s_0 + … + s_k";
  }
  return way;
}

std::vector<Restated> ways(const Case& c, const Trace& trace) {
  if (trace.claims.divide == "window" || checks_overflow(c.recipe.loss_scale)) return {};
  std::vector<Restated> all;
  for (const bool own : {false, true}) {
    for (const bool by_window : {true, false}) {
      for (const bool keeps : {false, true}) all.push_back(stepped(c, {own, by_window, keeps}));
    }
  }
  return all;
}

const RegisterRestatement registered{{
    .name = "step-at-every-microbatch",
    .sentence = "a step is taken after every micro-batch",
    .formula = "step after each s_k",
    .ways = ways,
}};

}  // namespace
}  // namespace tally::step_at_every_micro_batch_restatement
