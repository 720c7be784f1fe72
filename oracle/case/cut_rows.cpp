#include "oracle/case/cut_rows.hpp"

#include <cstring>
#include <string>
#include <utility>

#include "oracle/case/expected_tensors.hpp"
#include "oracle/case/pairs.hpp"

namespace tally {
namespace {

Tensor taken(const Tensor& tensor, const std::vector<Rows>& rows) {
  std::vector<std::int64_t> shape = tensor.shape;
  shape.front() = 0;
  for (const Rows& each : rows) shape.front() += each.count;
  const std::size_t width =
      tensor.shape.front() == 0 ? 0 : tensor.bytes.size() / static_cast<std::size_t>(tensor.shape.front());
  std::vector<std::byte> bytes;
  for (const Rows& each : rows) {
    const std::byte* from = tensor.bytes.data() + static_cast<std::size_t>(each.first) * width;
    bytes.insert(bytes.end(), from, from + static_cast<std::size_t>(each.count) * width);
  }
  return {tensor.dtype, std::move(shape), Bytes(std::move(bytes))};
}

/// [heads, pairs]: of every head the pairs of these rows.
Tensor taken_pairs(const Case& whole, const std::string& layer, const std::vector<Rows>& rows) {
  std::vector<Tensor> parts;
  std::int64_t pairs = 0, heads = 0;
  for (const Rows& each : rows) {
    if (each.count == 0) continue;
    const Tensor& part = parts.emplace_back(mask_of_rows(whole, layer, each.first, each.count));
    heads = part.shape.front(), pairs += part.shape.back();
  }
  Tensor all(Dtype::u8, {heads, pairs});
  std::size_t next = 0;
  for (std::int64_t head = 0; head < heads; ++head)
    for (const Tensor& part : parts) {
      const auto own = static_cast<std::size_t>(part.shape.back());
      std::memcpy(all.bytes.data() + next, part.bytes.data() + static_cast<std::size_t>(head) * own, own);
      next += own;
    }
  return all;
}

std::vector<std::int64_t> taken_sequences(const Case& whole, const std::vector<Rows>& rows) {
  std::vector<std::int64_t> own;
  for (const Rows& each : rows) {
    std::int64_t row = 0;
    for (const std::int64_t length : whole.sequences) {
      if (row >= each.first && row < each.first + each.count) own.push_back(length);
      row += length;
    }
  }
  return own;
}

}  // namespace

void keep_rows(const Case& whole, const std::vector<Rows>& rows, Case& part) {
  part.sequences = taken_sequences(whole, rows);
  for (auto& [name, tensor] : part.tensors) {
    if (!has_rows(name)) continue;
    const std::string layer = name.substr(0, name.rfind('.'));
    tensor = has_pairs(whole, name) ? taken_pairs(whole, layer, rows) : taken(whole.tensors.at(name), rows);
  }
}

}  // namespace tally
