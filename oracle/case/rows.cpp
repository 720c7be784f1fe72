// Rows of a case: sequences, pairs, weights, and what a window counts.
#include "oracle/case/rows.hpp"

#include <algorithm>
#include <cstring>

#include "oracle/case/contract.hpp"
#include "oracle/case/kinds.hpp"
#include "oracle/case/sizes.hpp"

namespace tally {
namespace {

/// Whether no row of the same sequence follows.
bool is_last(const std::vector<std::int64_t>& sequences, std::int64_t row) {
  std::int64_t end = 0;
  for (const std::int64_t length : sequences)
    if (end += length; row < end) return row == end - 1;
  return true;
}

}  // namespace

std::vector<std::int64_t> places_in_sequences(const Case& c) {
  std::vector<std::int64_t> places;
  for (const std::int64_t length : c.sequences)
    for (std::int64_t place = 0; place < length; ++place) places.push_back(place);
  places.resize(static_cast<std::size_t>(rows_of(c)), 0);
  return places;
}

Tensor places_of(const Case& c) {
  const std::vector<std::int64_t> places = places_in_sequences(c);
  Tensor column(Dtype::i64, {static_cast<std::int64_t>(places.size()), 1});
  for (std::size_t row = 0; row < places.size(); ++row) column.set_bits(row, static_cast<std::uint64_t>(places[row]));
  return column;
}

SequenceRows sequence_rows(const Case& c) {
  const std::vector<std::int64_t> places = places_in_sequences(c);
  SequenceRows rows;
  std::size_t first = 0;
  for (const auto& window : c.windows) {
    for (const std::int64_t size : window) {
      const std::size_t last = first + static_cast<std::size_t>(size);
      for (std::size_t row = first; row < last; ++row)
        rows.begin.push_back(static_cast<std::int64_t>(row - first) - places[row]);
      rows.end.resize(last);
      std::size_t end = last;
      for (std::size_t row = last; row-- > first;) {
        rows.end[row] = static_cast<std::int64_t>(end - first);
        if (places[row] == 0) end = row;
      }
      first = last;
    }
  }
  return rows;
}

Tensor positions_of(const Case& c) {
  if (const auto given = c.tensors.find("positions"); given != c.tensors.end()) return given->second;
  Tensor positions(Dtype::i64, {rows_of(c)});
  const std::vector<std::int64_t> places = places_in_sequences(c);
  for (std::size_t row = 0; row < places.size(); ++row)
    positions.set_bits(row, static_cast<std::uint64_t>(places[row]));
  return positions;
}

bool shifts_labels(const Choice& loss) { return loss.options.contains("shift") && loss.flag("shift"); }

std::int64_t scored_class(const Case& c, std::int64_t row) {
  const Tensor& target = c.tensors.at("target");
  if (!shifts_labels(c.model.loss)) return target.integer(static_cast<std::size_t>(row));
  if (is_last(c.sequences, row)) return c.model.loss.integer("ignore_index");
  return target.integer(static_cast<std::size_t>(row) + 1);
}

ScoredTarget::ScoredTarget(const Case& c) : given_(c.tensors.at("target")) {
  if (!shifts_labels(c.model.loss)) return;
  Tensor& scored = shifted_.emplace(given_.dtype, given_.shape);
  const std::vector<std::int64_t> places = places_in_sequences(c);
  for (std::size_t row = 0; row < places.size(); ++row) {
    const bool last = row + 1 == places.size() || places[row + 1] == 0;
    const std::int64_t label = last ? c.model.loss.integer("ignore_index") : given_.integer(row + 1);
    scored.set_bits(row, static_cast<std::uint64_t>(label));
  }
}

namespace {

/// Bytes, one an element, of rows or columns that follow each other.
void copy(const Tensor& from, std::int64_t at, Tensor& to, std::int64_t there, std::int64_t count) {
  if (count > 0) std::memcpy(to.bytes.data() + there, from.bytes.data() + at, static_cast<std::size_t>(count));
}

/// Lengths that no rule has looked at yet are held within what a count can be.
std::int64_t with_pairs(std::int64_t pairs, std::int64_t length) {
  constexpr std::int64_t longest = std::int64_t{1} << 30, most = std::int64_t{1} << 62;
  const std::int64_t held = std::clamp<std::int64_t>(length, 0, longest);
  return std::min(most - longest * longest, pairs) + held * held;
}

}  // namespace

std::int64_t pairs_of(const Case& c) {
  std::int64_t pairs = 0;
  for (const std::int64_t length : c.sequences) pairs = with_pairs(pairs, length);
  return pairs;
}

std::int64_t pairs_of(const Case& c, std::int64_t first, std::int64_t count) {
  std::int64_t pairs = 0, end = 0;
  for (const std::int64_t length : c.sequences)
    if (end += length; end > first && end <= first + count) pairs = with_pairs(pairs, length);
  return pairs;
}

std::vector<std::int64_t> shape_in(const Case& c, const LayerTensor& tensor, const Layer& layer,
                                   std::int64_t features) {
  std::vector<std::int64_t> shape = tensor.shape(layer, features);
  std::ranges::replace(shape, rows_in_place, rows_of(c));
  std::ranges::replace(shape, pairs_in_place, pairs_of(c));
  return shape;
}

bool has_pairs(const Case& c, const std::string& tensor) {
  return std::ranges::any_of(c.model.layers, [&](const Layer& layer) {
    return layer.kind == kinds::attention && tensor == layer.name + ".mask";
  });
}

Tensor mask_of_rows(const Case& c, const std::string& layer, std::int64_t first, std::int64_t count) {
  const Tensor& mask = c.tensors.at(layer + ".mask");
  if (!has_pairs(c, layer + ".mask")) {
    const std::int64_t features = mask.shape.at(1);
    Tensor rows(mask.dtype, {count, features});
    copy(mask, first * features, rows, 0, count * features);
    return rows;
  }
  const std::int64_t heads = mask.shape.at(0), all = mask.shape.at(1);
  const std::int64_t pairs = pairs_of(c, first, count), before = pairs_of(c, 0, first);
  Tensor part(mask.dtype, {heads, pairs});
  for (std::int64_t head = 0; head < heads; ++head) copy(mask, head * all + before, part, head * pairs, pairs);
  return part;
}

Tensor masks_by_micro_batch(const Case& c, const std::string& layer) {
  const Tensor& mask = c.tensors.at(layer + ".mask");
  const std::int64_t heads = mask.shape.at(0);
  Tensor all(mask.dtype, {mask.shape.at(1), heads});
  std::int64_t first = 0, there = 0;
  for (const auto& window : c.windows) {
    for (const std::int64_t rows : window) {
      const Tensor part = mask_of_rows(c, layer, first, rows);
      copy(part, 0, all, there, static_cast<std::int64_t>(part.elements()));
      there += static_cast<std::int64_t>(part.elements());
      first += rows;
    }
  }
  return all;
}

namespace {

constexpr std::int64_t exact_in_binary64 = std::int64_t{1} << 53;

std::optional<std::int64_t> exact_or_none(std::int64_t weight) {
  return weight >= 0 && weight <= exact_in_binary64 ? std::optional(weight) : std::nullopt;
}

/// Rows that have a weight.
std::vector<std::int64_t> items_of_windows(const Case& c) {
  const ItemWeights weights(c);
  std::vector<std::int64_t> found;
  std::int64_t row = 0;
  for (const auto& window : c.windows) {
    found.push_back(0);
    for (const std::int64_t rows : window)
      for (const std::int64_t end = row + rows; row < end; ++row) found.back() += weights.nearest(row) > 0;
  }
  return found;
}
const Register<DeclaredSize> registered_items{{.name = "items of a window", .in = items_of_windows}};

}  // namespace

ItemWeights::ItemWeights(const Case& c) : case_(c) {
  const Choice& loss = c.model.loss;
  if (has_class_targets(loss)) {
    classes_.emplace(c);
    ignored_ = loss.integer("ignore_index");
    by_class_ = !loss.numbers("weight").empty();
  } else if (!is_opaque(loss) && loss.flag("item_weights")) {
    weights_ = &c.tensors.at("item_weight");
  }
}

std::optional<std::int64_t> ItemWeights::whole(std::int64_t row) const {
  const auto at = static_cast<std::size_t>(row);
  if (weights_ != nullptr) return exact_or_none(weights_->integer(at));
  if (!classes_) return 1;
  if ((**classes_).integer(at) == ignored_) return 0;
  return by_class_ ? std::nullopt : std::optional<std::int64_t>(1);
}

double ItemWeights::nearest(std::int64_t row) const {
  const auto known = whole(row);
  return known ? static_cast<double>(*known) : item_weight(case_, row).to_double();
}

std::optional<std::int64_t> ItemWeights::whole_sum(std::int64_t first_row, std::int64_t rows) const {
  std::int64_t sum = 0;
  for (std::int64_t row = first_row; row < first_row + rows; ++row) {
    const auto weight = whole(row);
    if (!weight || !exact_or_none(sum + *weight)) return std::nullopt;
    sum += *weight;
  }
  return sum;
}

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
