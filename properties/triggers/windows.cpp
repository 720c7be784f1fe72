// First, second and last windows, and how the epoch ends.
#include <algorithm>

#include "oracle/case/optimizer_state.hpp"
#include "properties/triggers/trigger.hpp"

namespace tally::windows_trigger {
namespace {

bool has_state(const Case& c) {
  return std::any_of(c.tensors.begin(), c.tensors.end(),
                     [](const auto& tensor) { return !parameter_of_state(tensor.first).empty(); });
}

std::size_t first_k(const Sight& s) { return s.c.windows.front().size(); }
std::size_t last_k(const Sight& s) { return s.c.windows.back().size(); }

bool fresh(const Sight& s) { return !has_state(s.c); }
bool second(const Sight& s) { return s.windows() >= 2; }
bool third(const Sight& s) { return s.windows() >= 3; }
bool ends_on_boundary(const Sight& s) { return second(s) && last_k(s) == first_k(s); }
bool one_left(const Sight& s) { return second(s) && first_k(s) > 2 && last_k(s) == 1; }
bool all_but_one_left(const Sight& s) { return second(s) && first_k(s) > 2 && last_k(s) + 1 == first_k(s); }
bool grows(const Sight& s) {
  for (std::size_t w = 1; w < s.windows(); ++w) {
    if (s.c.windows[w].size() > s.c.windows[w - 1].size()) return true;
  }
  return false;
}
bool short_rows(const Sight& s) { return s.c.windows.back().back() < s.c.windows.front().front(); }

/// The rows of x as they lie in the drawn case, in another order.
bool permuted(const Sight& s) {
  if (s.drawn.model.tokens != s.c.model.tokens) return false;
  const char* input = input_tensor(s.c.model);
  const Tensor &drawn = s.drawn.tensors.at(input), &ran = s.c.tensors.at(input);
  if (drawn.shape != ran.shape || drawn.dtype != ran.dtype || drawn == ran) return false;
  const auto sorted_bits = [](const Tensor& tensor) {
    std::vector<std::uint64_t> bits;
    for (std::size_t i = 0; i < tensor.elements(); ++i) bits.push_back(tensor.bits(i));
    std::sort(bits.begin(), bits.end());
    return bits;
  };
  return sorted_bits(drawn) == sorted_bits(ran);
}
bool resumed(const Sight& s) { return has_state(s.c) && !has_state(s.drawn); }

const RegisterTriggers registered{
    2,
    "windows",
    {{"first window, fresh state", TriggerKind::of_case, "no optimizer state is given", fresh},
     {"second window", TriggerKind::of_case, "what the first one left is there", second},
     {"three steps or more", TriggerKind::of_case, "three windows", third},
     {"epoch ends at a boundary", TriggerKind::of_case, "the last window has the K of the first", ends_on_boundary},
     {"one micro-batch left over", TriggerKind::of_case, "K > 2, the last window has one", one_left},
     {"K - 1 micro-batches left over", TriggerKind::of_case, "K > 2, the last window has K - 1", all_but_one_left},
     {"K grows from window to window", TriggerKind::of_case, "", grows},
     {"short last micro-batch", TriggerKind::of_case, "fewer rows than the first one", short_rows},
     {"micro-batches permuted", TriggerKind::of_run, "the drawn case again with its rows in another order", permuted},
     {"resumed", TriggerKind::of_run, "started from the state that a window left", resumed},
     {"epoch shorter than K", TriggerKind::later,
      "a case states the micro-batches that each window really has; no K stands beside them", nullptr}}};

}  // namespace
}  // namespace tally::windows_trigger
