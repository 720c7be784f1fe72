// Coverage of windows: first, second and last ones, their micro-batches and items.
#include <algorithm>

#include "oracle/case/contract.hpp"
#include "properties/campaign/coverage/coverage_point.hpp"

// First, second and last windows, and how the epoch ends.
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

const Register<TriggerGroup> registered{
    {2,
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
       "a case states the micro-batches that each window really has; no K stands beside them", nullptr}}}};

}  // namespace
}  // namespace tally::windows_trigger

// How many items the micro-batches of a window hold, and how many micro-batches there are.
namespace tally::items_trigger {
namespace {

using Items = std::vector<double>;

std::ptrdiff_t empty_in(const Items& items) { return std::count(items.begin(), items.end(), 0.0); }

bool all_equal(const Items& n) {
  return std::all_of(n.begin(), n.end(), [&](double each) { return each == n[0]; });
}

bool equal(const Sight& s) {
  return s.any_items([](const Items& n) { return n.size() > 1 && all_equal(n); });
}
bool unequal(const Sight& s) {
  return s.any_items([](const Items& n) { return !all_equal(n); });
}
bool one_empty(const Sight& s) {
  return s.any_items([](const Items& n) { return n.size() > 1 && empty_in(n) == 1; });
}
bool all_in_one(const Sight& s) {
  return s.any_items([](const Items& n) { return n.size() > 1 && empty_in(n) + 1 == std::ssize(n); });
}
bool window_without_items(const Sight& s) {
  return s.any_items([](const Items& n) { return empty_in(n) == std::ssize(n); });
}
template <std::size_t least, std::size_t most>
bool cut_into(const Sight& s) {
  return std::any_of(s.c.windows.begin(), s.c.windows.end(),
                     [](const auto& window) { return window.size() >= least && window.size() <= most; });
}
constexpr std::size_t any = ~std::size_t{0};

/// The rows of a micro-batch, of x and target, repeat those of the one before it.
bool repeats(const Sight& s) {
  const Tensor& x = s.c.tensors.at(input_tensor(s.c.model));
  const auto columns = static_cast<std::size_t>(s.c.model.tokens ? 1 : s.c.model.input);
  const auto width = columns * size_of(x.dtype);
  for (std::size_t w = 0; w < s.windows(); ++w) {
    for (std::size_t k = 1; k < s.c.windows[w].size(); ++k) {
      if (s.c.windows[w][k] != s.c.windows[w][k - 1]) continue;
      const auto bytes = static_cast<std::ptrdiff_t>(static_cast<std::size_t>(s.c.windows[w][k]) * width);
      const auto at = x.bytes.begin() + first_row(s.c, w, k) * static_cast<std::ptrdiff_t>(width);
      if (std::equal(at, at + bytes, at - bytes)) return true;
    }
  }
  return false;
}
bool all_differ(const Sight& s) { return cut_into<2, any>(s) && !repeats(s); }

const Register<TriggerGroup> registered{
    {1,
     "items",
     {{"equal n_k", TriggerKind::of_case, "all micro-batches of a window hold as many items", equal},
      {"unequal n_k", TriggerKind::of_case, "two micro-batches of a window differ in items", unequal},
      {"one n_k = 0", TriggerKind::of_case, "one micro-batch of a window holds no item", one_empty},
      {"all items in one micro-batch", TriggerKind::of_case, "every other one of the window holds none", all_in_one},
      {"window without items", TriggerKind::of_case, "N = 0", window_without_items},
      {"K = 1", TriggerKind::of_case, "a window in one micro-batch", cut_into<1, 1>},
      {"K = 2", TriggerKind::of_case, "", cut_into<2, 2>},
      {"K = 3", TriggerKind::of_case, "", cut_into<3, 3>},
      {"large K", TriggerKind::of_case, "256 micro-batches in a window, or more", cut_into<256, any>},
      {"micro-batches differ", TriggerKind::of_case, "no micro-batch repeats the rows before it", all_differ}}}};

}  // namespace
}  // namespace tally::items_trigger
