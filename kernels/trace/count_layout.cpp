#include "kernels/trace/count_layout.hpp"

#include "oracle/case/counted.hpp"
#include "oracle/case/ranks.hpp"
#include "oracle/case/sequences.hpp"

namespace tally {

std::optional<TapLayout> count_layout(const Case& c, const TapName& name) {
  const Choice& loss = c.model.loss;
  if (!counts_items(loss)) return std::nullopt;
  if (name.tensor == "items") return TapLayout{Dtype::i64, {}};
  if (name.micro_batch < 0)
    return name.tensor == "in.items" && in_ranks(c) ? std::optional(TapLayout{Dtype::i64, {}}) : std::nullopt;
  const auto window = static_cast<std::size_t>(name.window), micro_batch = static_cast<std::size_t>(name.micro_batch);
  if (name.tensor == std::string("in.") + counted_tensor(loss))
    return TapLayout{Dtype::i64, {c.windows[window][micro_batch]}};
  if (name.tensor == "in.sequences" && shifts_labels(loss))
    return TapLayout{Dtype::i64, sequence_lengths(c, window, micro_batch).shape};
  return std::nullopt;
}

}  // namespace tally
