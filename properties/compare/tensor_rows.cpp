#include "properties/compare/tensor_rows.hpp"

#include <cstring>

namespace tally {

Tensor rows_of(const Tensor& tensor, std::int64_t first, std::int64_t count) {
  std::vector<std::int64_t> shape = tensor.shape;
  const std::int64_t all = shape.at(0);
  shape[0] = count;
  Tensor cut(tensor.dtype, std::move(shape));
  const std::size_t bytes_a_row = all == 0 ? 0 : tensor.bytes.size() / static_cast<std::size_t>(all);
  const auto begin = static_cast<std::size_t>(first) * bytes_a_row;
  if (!cut.bytes.empty()) std::memcpy(cut.bytes.data(), tensor.bytes.data() + begin, cut.bytes.size());
  return cut;
}

bool same_bits(const Tensor& a, const Tensor& b) {
  if (a.dtype != b.dtype || a.shape != b.shape || a.bytes.size() != b.bytes.size()) return false;
  return a.bytes.empty() || std::memcmp(a.bytes.data(), b.bytes.data(), a.bytes.size()) == 0;
}

}  // namespace tally
