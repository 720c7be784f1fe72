#include "oracle/case/pairs.hpp"

#include <algorithm>
#include <cstring>

#include "oracle/case/expected_tensors.hpp"

namespace tally {
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
  return std::ranges::any_of(
      c.model.layers, [&](const Layer& layer) { return layer.kind == "attention" && tensor == layer.name + ".mask"; });
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

}  // namespace tally
