// Rows are counted where their weights should be added.
#include "properties/diagnosis/suspect.hpp"

namespace tally {
namespace {

std::optional<Values> left(const Evidence& evidence, const HeldTensor& held) {
  if (held.name.tensor != "in.factor") return std::nullopt;
  const int w = held.name.window;
  const std::int64_t first = first_row(evidence.c, static_cast<std::size_t>(w));
  int counted = 0;
  for (std::int64_t i = 0; i < evidence.rows(w); ++i) counted += item_weight(evidence.c, first + i).to_double() != 0;
  return Values{counted == 0 ? 0.0 : evidence.scale(w) / counted};
}

const RegisterSuspect registered{{
    .name = "rows-for-items",
    .faults = {"wrong-item-kind"},
    .stages = {"loss"},
    .sentence = "the denominator counts rows, whatever they weigh: sentences for tokens",
    .formula = "c = S / (rows of weight other than 0)",
    .left = left,
}};

}  // namespace
}  // namespace tally
