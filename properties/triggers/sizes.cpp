// Sizes around what kernels are cut into: vectors of 4, warps of 32, blocks of 128 and 256, grids of 65,535.
#include <algorithm>

#include "properties/triggers/trigger.hpp"

namespace tally {
namespace {

/// Features of any layer, or rows of any micro-batch.
bool any_size(const Sight& s, bool (*holds)(std::int64_t)) {
  for (std::size_t i = 0; i <= s.c.model.layers.size(); ++i) {
    if (holds(features_before(s.c.model, i))) return true;
  }
  return std::any_of(s.c.windows.begin(), s.c.windows.end(),
                     [&](const auto& window) { return std::any_of(window.begin(), window.end(), holds); });
}
template <std::int64_t edge>
bool below(const Sight& s) {
  return any_size(s, [](std::int64_t n) { return n == edge - 1; });
}
template <std::int64_t edge>
bool at(const Sight& s) {
  return any_size(s, [](std::int64_t n) { return n == edge; });
}
template <std::int64_t edge>
bool above(const Sight& s) {
  return any_size(s, [](std::int64_t n) { return n == edge + 1; });
}
bool no_vector(const Sight& s) {
  return any_size(s, [](std::int64_t n) { return n > 4 && n % 4 != 0; });
}
bool one_element(const Sight& s) {
  for (const std::string& parameter : parameters_of(s.c.model)) {
    if (s.c.tensors.at(parameter).elements() == 1) return true;
  }
  return false;
}
template <std::size_t edge>
bool tensor_above(const Sight& s) {
  return std::any_of(s.c.tensors.begin(), s.c.tensors.end(),
                     [](const auto& tensor) { return tensor.second.elements() > edge; });
}
bool beyond_the_grid(const Sight& s) {
  return any_size(s, [](std::int64_t n) { return n > 65535; });
}

const RegisterTriggers registered{
    8,
    "sizes",
    {{"no multiple of a vector", TriggerKind::of_case, "more than 4 and no multiple of 4", no_vector},
     {"warp - 1", TriggerKind::of_case, "31 features or rows", below<32>},
     {"warp", TriggerKind::of_case, "32", at<32>},
     {"warp + 1", TriggerKind::of_case, "33", above<32>},
     {"half block - 1", TriggerKind::of_case, "127", below<128>},
     {"half block + 1", TriggerKind::of_case, "129", above<128>},
     {"block - 1", TriggerKind::of_case, "255", below<256>},
     {"block + 1", TriggerKind::of_case, "257", above<256>},
     {"one element", TriggerKind::of_case, "a parameter of a single element", one_element},
     {"several blocks", TriggerKind::of_kernel, "a tensor of more than 1,024 elements", tensor_above<1024>},
     {"more than 65,535 rows", TriggerKind::of_kernel, "a grid's limit in its second dimension", beyond_the_grid},
     {"no element", TriggerKind::of_kernel, "a kernel called on an empty tensor", nullptr},
     {"index above 2^31", TriggerKind::later, "a tensor of that size takes more memory than a test has", nullptr}}};

}  // namespace
}  // namespace tally
