#include "oracle/case/ranks.hpp"

#include <algorithm>
#include <cstring>
#include <numeric>
#include <stdexcept>
#include <utility>
#include <vector>

#include "oracle/case/expected_tensors.hpp"
#include "oracle/case/json.hpp"
#include "oracle/case/pairs.hpp"
#include "oracle/case/rank_keys.hpp"
#include "oracle/case/shards.hpp"

namespace tally {
namespace {

/// Neighbouring rows of a case.
struct Rows {
  std::int64_t first, count;
};

/// Those of one rank, window by window.
std::vector<Rows> rows_of_rank(const Case& whole, std::size_t rank) {
  std::vector<Rows> all;
  std::int64_t row = 0;
  for (std::size_t w = 0; w < whole.windows.size(); ++w) {
    const std::size_t first = first_micro_batch_of(whole, w, rank), last = first + micro_batches_of(whole, w, rank);
    Rows own{row, 0};
    for (std::size_t k = 0; k < whole.windows[w].size(); ++k) {
      if (k < first) own.first += whole.windows[w][k];
      if (k >= first && k < last) own.count += whole.windows[w][k];
      row += whole.windows[w][k];
    }
    all.push_back(own);
  }
  return all;
}

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

bool in_ranks(const Case& c) { return c.whole != nullptr || !c.dealt.empty() || !c.execution.ranks.kind.empty(); }

std::size_t ranks_of(const Case& c) { return c.dealt.empty() ? 1 : c.dealt.front().size(); }

std::size_t micro_batches_of(const Case& c, std::size_t window, std::size_t rank) {
  return c.dealt.empty() ? c.windows.at(window).size() : static_cast<std::size_t>(c.dealt.at(window).at(rank));
}

std::size_t first_micro_batch_of(const Case& c, std::size_t window, std::size_t rank) {
  if (c.dealt.empty()) return 0;
  const auto& counts = c.dealt.at(window);
  return static_cast<std::size_t>(
      std::accumulate(counts.begin(), counts.begin() + static_cast<std::ptrdiff_t>(rank), std::int64_t{0}));
}

std::size_t rank_with(const Case& c, std::size_t window, std::size_t micro_batch) {
  const std::size_t ranks = c.dealt.empty() ? 1 : c.dealt.at(window).size();
  std::size_t behind = 0;
  for (std::size_t rank = 0; rank < ranks; ++rank)
    if (micro_batch < (behind += micro_batches_of(c, window, rank))) return rank;
  throw std::out_of_range("no rank has micro-batch " + std::to_string(micro_batch));
}

std::size_t busy_ranks_of(const Case& c, std::size_t window) {
  std::size_t busy = 0;
  for (std::size_t rank = 0; rank < ranks_of(c); ++rank) busy += micro_batches_of(c, window, rank) > 0;
  return busy;
}

Communicate communicate_of(const Case& c) {
  const std::string& word = rank_word(c, "communicate");
  if (word == "micro_batch" || shards_gradients(c)) return Communicate::micro_batch;
  return word == "running_total" ? Communicate::running_total : Communicate::window;
}

bool communicates_each(const Case& c) { return communicate_of(c) != Communicate::window; }

bool offloads(const Case& c) { return in_ranks(c) && rank_flag(c, "offload"); }

std::size_t micro_steps_of(const Case& c, std::size_t window) {
  const Case& whole = whole_of(c);
  std::size_t most = 0;
  for (std::size_t rank = 0; rank < ranks_of(whole); ++rank)
    most = std::max(most, micro_batches_of(whole, window, rank));
  return most;
}

Case part_of(const Case& whole, std::size_t rank) {
  const std::vector<Rows> rows = rows_of_rank(whole, rank);
  Case part = whole;
  part.whole = &whole;
  part.rank = rank;
  part.dealt.clear();
  for (std::size_t w = 0; w < whole.windows.size(); ++w) {
    const auto first = whole.windows[w].begin() + static_cast<std::ptrdiff_t>(first_micro_batch_of(whole, w, rank));
    part.windows[w].assign(first, first + static_cast<std::ptrdiff_t>(micro_batches_of(whole, w, rank)));
  }
  part.sequences = taken_sequences(whole, rows);
  for (auto& [name, tensor] : part.tensors) {
    if (!has_rows(name)) continue;
    const std::string layer = name.substr(0, name.rfind('.'));
    tensor = has_pairs(whole, name) ? taken_pairs(whole, layer, rows) : taken(whole.tensors.at(name), rows);
  }
  return part;
}

const Case& whole_of(const Case& c) { return c.whole == nullptr ? c : *c.whole; }

std::string micro_batch_path(const Case& c, std::size_t window, std::size_t micro_batch) {
  const std::string path = element_path("$.windows", window);
  if (c.dealt.empty()) return element_path(path, micro_batch);
  const std::size_t rank = rank_with(c, window, micro_batch);
  return element_path(element_path(path, rank), micro_batch - first_micro_batch_of(c, window, rank));
}

}  // namespace tally
