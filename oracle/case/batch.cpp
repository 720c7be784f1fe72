// A case whose batch has other rows: some of its own, or those that padding adds.
#include "oracle/case/batch.hpp"

#include <algorithm>
#include <cstring>
#include <stdexcept>
#include <string>
#include <utility>

#include "oracle/case/contract.hpp"
#include "oracle/case/rows.hpp"

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

namespace {

constexpr std::int64_t filled = -1;

/// The lengths of the sequences of each micro-batch, in order. Rows of a case that names none are each its own.
std::vector<std::vector<std::vector<std::int64_t>>> sequences_of(const Case& c) {
  std::vector<std::vector<std::vector<std::int64_t>>> all;
  std::size_t next = 0;
  for (const auto& window : c.windows) {
    all.emplace_back();
    for (const std::int64_t size : window) {
      auto& lengths = all.back().emplace_back();
      for (std::int64_t row = 0; row < size; row += lengths.back())
        lengths.push_back(c.sequences.empty() ? 1 : c.sequences[next++]);
    }
  }
  return all;
}

/// The row that every row of the padded case holds, or `filled`; and what becomes of the cut.
struct Lines {
  std::vector<std::int64_t> rows, sequences;
  std::vector<std::vector<std::int64_t>> windows;
};

class Filling {
 public:
  Filling(Lines& lines, const Padding& padding) : lines_(lines), padding_(padding) {}

  void micro_batch(const std::vector<std::int64_t>& lengths) {
    const std::int64_t longest = lengths.empty() ? 0 : *std::ranges::max_element(lengths), m = padding_.multiple;
    const std::int64_t line = (longest + m - 1) / m * m;
    for (const std::int64_t length : lengths) {
      if (padding_.side == PaddedSide::left) fill(line - length);
      lines_.sequences.push_back(length);
      for (std::int64_t i = 0; i < length; ++i) lines_.rows.push_back(next_++);
      if (padding_.side == PaddedSide::right) fill(line - length);
    }
    lines_.windows.back().push_back(line * static_cast<std::int64_t>(lengths.size()));
  }

 private:
  void fill(std::int64_t rows) {
    lines_.sequences.insert(lines_.sequences.end(), static_cast<std::size_t>(rows), 1);
    lines_.rows.insert(lines_.rows.end(), static_cast<std::size_t>(rows), filled);
  }

  Lines& lines_;
  const Padding& padding_;
  std::int64_t next_ = 0;
};

Lines lines_of(const Case& c, const Padding& padding) {
  Lines lines;
  Filling filling(lines, padding);
  for (const auto& window : sequences_of(c)) {
    lines.windows.emplace_back();
    for (const auto& lengths : window) filling.micro_batch(lengths);
  }
  return lines;
}

/// What a row of padding holds in a tensor.
std::uint64_t filler(const Case& c, const std::string& tensor, const Padding& padding) {
  if (tensor == "tokens") return static_cast<std::uint64_t>(padding.token);
  if (tensor == "target") return static_cast<std::uint64_t>(c.model.loss.integer("ignore_index"));
  return tensor.ends_with(".mask") ? 1 : 0;
}

Tensor with_padding(const Tensor& of, const std::vector<std::int64_t>& rows, std::uint64_t filler) {
  std::vector<std::int64_t> shape = of.shape;
  const std::size_t width = of.shape.front() == 0 ? 0 : of.elements() / static_cast<std::size_t>(of.shape.front());
  shape.front() = static_cast<std::int64_t>(rows.size());
  Tensor padded(of.dtype, shape);
  for (std::size_t row = 0; row < rows.size(); ++row)
    for (std::size_t j = 0; j < width; ++j)
      padded.set_bits(row * width + j,
                      rows[row] == filled ? filler : of.bits(static_cast<std::size_t>(rows[row]) * width + j));
  return padded;
}

/// A mask of attention, [heads, pairs]: a row of padding has one pair, with itself.
Tensor with_pairs_of_padding(const Tensor& of, const Lines& lines) {
  std::vector<std::int64_t> pairs;
  std::int64_t row = 0, next = 0;
  for (const std::int64_t length : lines.sequences) {
    const bool padding = lines.rows[static_cast<std::size_t>(row)] == filled;
    for (std::int64_t i = 0; i < length * length; ++i) pairs.push_back(padding ? filled : next++);
    row += length;
  }
  const auto heads = static_cast<std::size_t>(of.shape[0]), before = static_cast<std::size_t>(of.shape[1]);
  Tensor padded(of.dtype, {of.shape[0], static_cast<std::int64_t>(pairs.size())});
  for (std::size_t head = 0; head < heads; ++head)
    for (std::size_t i = 0; i < pairs.size(); ++i)
      padded.set_bits(head * pairs.size() + i,
                      pairs[i] == filled ? 1 : of.bits(head * before + static_cast<std::size_t>(pairs[i])));
  return padded;
}

void require_that_it_can(const Case& c, const Padding& padding) {
  if (!c.model.tokens || !has_class_targets(c.model.loss))
    throw std::invalid_argument("a case of tokens and a loss over classes is padded, and no other");
  if (padding.multiple < 1 || padding.token < 0 || padding.token >= c.model.input)
    throw std::invalid_argument("padding takes a token of the vocabulary, and lines of 1 and more");
}

}  // namespace

PaddedCase padded(const Case& c, const Padding& padding) {
  require_that_it_can(c, padding);
  Lines lines = lines_of(c, padding);
  PaddedCase made{c, {}};
  for (const std::int64_t row : lines.rows) made.padding.push_back(row == filled);
  for (auto& [name, tensor] : made.c.tensors)
    if (has_pairs(c, name))
      tensor = with_pairs_of_padding(tensor, lines);
    else if (has_rows(name))
      tensor = with_padding(tensor, lines.rows, filler(c, name, padding));
  made.c.windows = std::move(lines.windows);
  made.c.sequences = std::move(lines.sequences);
  return made;
}

Case with_sequences_alone(const Case& c) {
  Case alone = c;
  const auto sequences = sequences_of(c);
  for (std::size_t w = 0; w < sequences.size(); ++w) {
    alone.windows[w].clear();
    for (const auto& lengths : sequences[w])
      alone.windows[w].insert(alone.windows[w].end(), lengths.begin(), lengths.end());
    if (alone.windows[w].empty()) alone.windows[w] = c.windows[w];
  }
  return alone;
}

}  // namespace tally
