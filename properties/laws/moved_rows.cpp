#include "properties/laws/moved_rows.hpp"

#include <optional>

namespace tally {
namespace {

/// The micro-batch of the first window that holds a row, and the row's place there.
struct At {
  int micro_batch;
  std::size_t row;
};

At at(const Case& c, std::int64_t row) {
  int k = 0;
  for (const std::int64_t size : c.windows.front()) {
    if (row < size) break;
    row -= size;
    ++k;
  }
  return {k, static_cast<std::size_t>(row)};
}

/// nullopt where a part of it is missing, or is no tensor of rows.
std::optional<Tensor> gathered(const Tap& tap, const Case& other, const Trace& got, std::int64_t first,
                               const std::vector<std::int64_t>& places) {
  Tensor rows(tap.value.dtype, tap.value.shape);
  const auto count = static_cast<std::size_t>(rows.shape.front());
  const std::size_t width = rows.elements() / count;
  for (std::size_t i = 0; i < count; ++i) {
    const At from = at(other, places[static_cast<std::size_t>(first) + i]);
    const Tensor* part = got.find(TapView{0, from.micro_batch, tap.name.stage, tap.name.tensor});
    if (part == nullptr || part->dtype != rows.dtype || part->shape.empty() ||
        part->shape.front() != other.windows.front()[static_cast<std::size_t>(from.micro_batch)] ||
        part->elements() != width * static_cast<std::size_t>(part->shape.front()))
      return {};
    for (std::size_t j = 0; j < width; ++j) rows.set_bits(i * width + j, part->bits(from.row * width + j));
  }
  return rows;
}

}  // namespace

Trace rows_as_in(const Case& c, const Trace& expected, const Case& other, const Trace& got,
                 const std::vector<std::int64_t>& places) {
  Trace moved;
  moved.claims = got.claims;
  for (const Tap& tap : expected.taps()) {
    if (tap.name.window != 0 || tap.name.micro_batch < 0 || tap.value.shape.empty()) continue;
    const auto k = static_cast<std::size_t>(tap.name.micro_batch);
    if (tap.value.shape.front() != c.windows.front()[k] || tap.value.elements() == 0) continue;
    if (std::optional<Tensor> rows = gathered(tap, other, got, first_row(c, 0, k), places))
      moved.add(tap.name, *std::move(rows));
  }
  return moved;
}

}  // namespace tally
