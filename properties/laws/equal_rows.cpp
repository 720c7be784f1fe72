#include "properties/laws/equal_rows.hpp"

#include <algorithm>
#include <cmath>
#include <functional>
#include <string_view>

#include "oracle/case/pairs.hpp"
#include "properties/laws/promised_bits.hpp"

namespace tally {
namespace {

bool is_of_a_parameter(const std::vector<std::string>& parameters, std::string_view tensor) {
  for (const std::string_view mark : {"in.", "d."})
    if (tensor.starts_with(mark)) tensor.remove_prefix(mark.size());
  return tensor.find('@') != std::string_view::npos || std::ranges::find(parameters, tensor) != parameters.end();
}

bool same(const Tensor& a, const Tensor& b, std::size_t i) {
  if (a.bits(i) == b.bits(i)) return true;
  const bool floats = a.dtype != Dtype::i64 && a.dtype != Dtype::u8;
  return floats && (a.value(i) == b.value(i) || (std::isnan(a.value(i)) && std::isnan(b.value(i))));
}

/// Has no row for a row, though it may have as many.
bool is_mask_of_pairs(const Case& c, const std::string& tensor) {
  return tensor.starts_with("in.") && has_pairs(c, tensor.substr(3));
}

/// The first of these rows that holds other bits, counted in the case's rows; -1: none.
std::int64_t other_row(const Tensor& a, const Tensor& b, std::int64_t first, const std::vector<bool>& rows) {
  const std::size_t width = a.elements() / static_cast<std::size_t>(a.shape.front());
  for (std::size_t i = 0; i < a.elements(); ++i) {
    const std::int64_t row = first + static_cast<std::int64_t>(i / width);
    if (rows[static_cast<std::size_t>(row)] && !same(a, b, i)) return row;
  }
  return -1;
}

}  // namespace

bool require_equal_rows(Outcome& outcome, const Case& c, const Trace& expected, const Trace& got,
                        const std::vector<bool>& rows, const std::string& message) {
  const PromisedBits promised(expected), also(got);
  const std::vector<std::string> parameters = parameters_of(c.model);
  bool held = false;
  for (const Tap& tap : expected.taps()) {
    const TapName& name = tap.name;
    const bool stage =
        name.stage == "forward" || name.stage == "loss" || name.stage == "backward" || name.stage == "fork";
    if (!stage || name.window != 0 || name.micro_batch < 0 || is_of_a_parameter(parameters, name.tensor)) continue;
    if (is_mask_of_pairs(c, name.tensor)) continue;
    const std::int64_t size = c.windows.front()[static_cast<std::size_t>(name.micro_batch)];
    if (tap.value.shape.empty() || tap.value.shape.front() != size || tap.value.elements() == 0) continue;
    if (!promised.of(name) || !also.of(name)) continue;
    const Tensor* other = got.find(name.view());
    if (other == nullptr || other->shape != tap.value.shape) {
      require(outcome, false, name.text(), name.stage, "the other run left no such tensor");
      continue;
    }
    const std::int64_t first = first_row(c, 0, static_cast<std::size_t>(name.micro_batch));
    held = held || std::any_of(rows.begin() + first, rows.begin() + first + size, std::identity());
    const std::int64_t row = other_row(tap.value, *other, first, rows);
    require(outcome, row < 0, name.text(), name.stage, message + " (row " + std::to_string(row) + ")");
  }
  return held;
}

Case with_other_tokens(Case c, const std::vector<bool>& rows) {
  Tensor& tokens = c.tensors.at("tokens");
  for (std::size_t row = 0; row < rows.size(); ++row)
    if (rows[row]) tokens.set_bits(row, static_cast<std::uint64_t>((tokens.integer(row) + 1) % c.model.input));
  tokens.drawing.reset();
  return c;
}

}  // namespace tally
