#include "oracle/case/counted.hpp"

#include "oracle/case/item_weights.hpp"
#include "oracle/case/kinds.hpp"

namespace tally {

bool counts_items(const Choice& loss) {
  if (is_opaque(loss)) return false;
  return has_class_targets(loss) ? loss.numbers("weight").empty() : loss.flag("item_weights");
}

std::optional<CountedItems> counted_items(const Case& c, std::size_t window) {
  if (!counts_items(c.model.loss)) return std::nullopt;
  if (c.windows[window].empty()) return CountedItems{};
  const ItemWeights weights(c);
  CountedItems counted;
  std::int64_t row = first_row(c, window), rows = 0;
  for (const std::int64_t size : c.windows[window]) {
    const auto items = weights.whole_sum(row + rows, size);
    if (!items) return std::nullopt;
    counted.of_micro_batch.push_back(*items);
    rows += size;
  }
  const auto all = weights.whole_sum(row, rows);
  if (!all) return std::nullopt;
  counted.of_window = *all;
  return counted;
}

const char* counted_tensor(const Choice& loss) { return has_class_targets(loss) ? "target" : "item_weight"; }

Tensor counted_rows(const Case& c, std::size_t window, std::size_t micro_batch) {
  const Tensor& all = c.tensors.at(counted_tensor(c.model.loss));
  const auto first = static_cast<std::size_t>(first_row(c, window, micro_batch));
  const auto rows = static_cast<std::size_t>(c.windows[window][micro_batch]);
  Tensor own(Dtype::i64, {static_cast<std::int64_t>(rows)});
  for (std::size_t row = 0; row < rows; ++row) own.set_bits(row, static_cast<std::uint64_t>(all.integer(first + row)));
  return own;
}

Tensor sequence_lengths(const Case& c, std::size_t window, std::size_t micro_batch) {
  const std::int64_t first = first_row(c, window, micro_batch), last = first + c.windows[window][micro_batch];
  std::vector<std::int64_t> lengths;
  std::int64_t row = 0;
  for (const std::int64_t length : c.sequences) {
    if (row >= first && row < last) lengths.push_back(length);
    row += length;
  }
  Tensor own(Dtype::i64, {static_cast<std::int64_t>(lengths.size())});
  for (std::size_t i = 0; i < lengths.size(); ++i) own.set_bits(i, static_cast<std::uint64_t>(lengths[i]));
  return own;
}

}  // namespace tally
