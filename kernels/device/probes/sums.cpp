#include "kernels/device/probes/sums.hpp"

#include <algorithm>
#include <cmath>
#include <set>

#include "oracle/case/tensors/tensor.hpp"

namespace tally {
namespace {

constexpr std::size_t window = 32;
constexpr float common = 0x1p-5f, large = 0x1p10f;  // A's elements; the product beside which others are small

/// A factor whose product with A's elements is `value`.
Factor at(std::size_t position, float value) { return {position, value / common}; }

struct Pair {
  std::size_t first, second;
};

/// Places of a window of k that differ in that bit of their number in it.
std::vector<Pair> pairs_of(std::size_t begin, std::size_t length, std::size_t bit) {
  std::vector<Pair> all;
  for (std::size_t p = 0; p < length; ++p) {
    if ((p & bit) == 0 && (p | bit) < length) all.push_back({begin + p, begin + (p | bit)});
  }
  return all;
}

/// In any one bit.
std::vector<Pair> pairs_of(std::size_t begin, std::size_t length) {
  std::vector<Pair> all;
  for (std::size_t bit = 1; bit < length; bit *= 2) {
    const std::vector<Pair> those = pairs_of(begin, length, bit);
    all.insert(all.end(), those.begin(), those.end());
  }
  return all;
}

/// Places that one aligned sum takes in; empty where sums take one product after another.
using Places = std::vector<std::size_t>;

class SumProbe {
 public:
  SumProbe(const Ask& ask, const ProductKind& kind, std::size_t k) : ask_(ask), kind_(kind), k_(k) {}

  SumTraits traits() {
    SumTraits found{.answered = true, .keeps_subnormals = keeps_subnormals()};
    const std::size_t length = std::min(window, k_);
    Places block = smallest_block(0, length);
    if (k_ > length) {
      const Places last = smallest_block(k_ - length, length);
      if (last.size() < block.size()) block = last;
    }
    found.terms = std::max<std::size_t>(block.size(), 1);
    found.fraction_bits = block.empty() ? 0 : fraction_bits(block);
    found.rounding = "";
    if (kind_.result == kind_.compute) add_rounding(block, found);
    return found;
  }

 private:
  /// The smallest of lost_beside() over all pairs. None is smaller than a pair alone: a bit that shows one is the last
  /// that is asked.
  Places smallest_block(std::size_t begin, std::size_t length) {
    Places smallest;
    for (std::size_t bit = 1; bit < length; bit *= 2) {
      for (Places& block : lost_beside(pairs_of(begin, length, bit), begin, length)) {
        if (smallest.empty() || block.size() < smallest.size()) smallest = std::move(block);
      }
      if (smallest.size() == 2) return {};
    }
    return smallest;
  }

  /// The places of each pair: its own first, then those around the window at which a small product is lost beside it.
  std::vector<Places> lost_beside(const std::vector<Pair>& pairs, std::size_t begin, std::size_t length) {
    const std::size_t from = begin - std::min(begin, window), to = std::min(k_, begin + length + window);
    std::vector<Column> columns;
    for (const Pair& pair : pairs) {
      for (std::size_t q = from; q < to; ++q) {
        columns.push_back({at(pair.first, large), at(pair.second, -large)});
        if (q != pair.first && q != pair.second) columns.back().push_back(at(q, 0x1p-19f));
      }
    }
    const std::vector<float> sums = ask(columns);
    std::vector<Places> blocks;
    for (std::size_t i = 0; i < pairs.size(); ++i) {
      Places& block = blocks.emplace_back(Places{pairs[i].first, pairs[i].second});
      for (std::size_t q = from; q < to; ++q) {
        const bool asked = q != pairs[i].first && q != pairs[i].second;
        if (asked && sums[i * (to - from) + q - from] == 0) block.push_back(q);
      }
    }
    return blocks;
  }

  int fraction_bits(const Places& block) {
    constexpr int fewest = 22, most = 28;
    for (int bits = fewest; bits <= most; ++bits) {
      const float small = std::ldexp(large, -bits);
      std::vector<Column> columns;
      for (std::size_t i = 2; i < block.size(); ++i) {
        columns.push_back({at(block[0], large), at(block[1], -large), at(block[i], small)});
      }
      const std::vector<float> sums = ask(columns);
      const bool kept = std::all_of(sums.begin(), sums.end(), [=](float sum) { return sum == small; });
      if (!kept) return bits == fewest ? 0 : bits - 1;
    }
    return most;
  }

  /// "nearest", "truncate" or "unknown" of each pair.
  std::vector<std::string> roundings(const std::vector<Pair>& pairs) {
    const float unit = kind_.compute == Dtype::fp16 ? 1 : 0x1p-13f;  // of `large` in the accumulator
    std::vector<Column> columns;
    for (const Pair& pair : pairs) {
      columns.push_back({at(pair.first, large), at(pair.second, 0.75f * unit)});
      columns.push_back({at(pair.first, large), at(pair.second, 0.25f * unit)});
    }
    const std::vector<float> sums = ask(columns);
    std::vector<std::string> all;
    for (std::size_t i = 0; i < pairs.size(); ++i) {
      const bool up = sums[2 * i] == large + unit, stays = sums[2 * i] == large, below = sums[2 * i + 1] == large;
      all.push_back(up && below ? "nearest" : stays && below ? "truncate" : "unknown");
    }
    return all;
  }

  void add_rounding(const Places& block, SumTraits& found) {
    const std::size_t length = std::min(window, k_);
    std::vector<Pair> pairs = pairs_of(0, length), last = pairs_of(k_ - length, length);
    pairs.insert(pairs.end(), last.begin(), last.end());
    for (std::size_t p = 0; p < length && k_ > length; ++p) pairs.push_back({p, k_ - length + p});
    for (std::size_t i = 1; i < block.size(); ++i) pairs.push_back({block[0], block[i]});
    const std::vector<std::string> each = roundings(pairs);
    const auto inside = [&](std::size_t p) { return std::find(block.begin(), block.end(), p) != block.end(); };
    std::set<std::string> within, across;
    for (std::size_t i = 0; i < pairs.size(); ++i) {
      (inside(pairs[i].first) && inside(pairs[i].second) ? within : across).insert(each[i]);
    }
    const std::set<std::string>& own = block.empty() ? across : within;
    found.rounding = own.size() == 1 && !across.contains("unknown") ? *own.begin() : "unknown";
    found.parts_meet_to_nearest = found.rounding == "truncate" && across.contains("nearest");
  }

  bool keeps_subnormals() {
    const bool wide = format_row(kind_.operands).has_range_of_fp32();
    const float operand = wide ? 0x1p-130f : 0x1p-24f, factor = wide ? 0x1p-65f : 0x1p-10f;
    const float normal = wide ? 0x1p-126f : 0x1p-14f;
    const std::size_t end = k_ - 1;
    const auto holds = [&](float a, const Column& column, float expected) {
      return ask_(a, {column}).at(0) == expected;
    };
    return holds(1, {{0, operand}}, operand) && holds(1, {{end, -operand}}, -operand) &&
           holds(operand, {{0, 1}}, operand) && holds(factor, {{0, factor}}, factor * factor) &&
           holds(1, {{0, 1.5f * normal}, {end, -normal}}, normal / 2);
  }

  std::vector<float> ask(const std::vector<Column>& columns) { return ask_(common, columns); }

  const Ask& ask_;
  const ProductKind& kind_;
  const std::size_t k_;
};

}  // namespace

const std::vector<GenerationRow>& generation_rows() {
  static const std::vector<GenerationRow> rows = {{"v100", 4, 23}, {"a100", 8, 24}, {"h100", 8, 25}};
  return rows;
}

SumTraits probe_sums(const Ask& ask, const ProductKind& kind, std::size_t k) { return SumProbe(ask, kind, k).traits(); }

std::string row_of(const SumTraits& found, const ProductKind& kind) {
  if (!found.answered) return "unknown";
  if (found.terms == 1) return found.rounding == "nearest" ? "scalar" : "unknown";
  if (found.rounding != (kind.compute == Dtype::fp16 ? "nearest" : "truncate")) return "unknown";
  std::string row = "unknown";
  for (const GenerationRow& each : generation_rows()) {
    const std::size_t terms = kind.tf32 ? 4 : each.terms;
    if (found.terms >= terms && found.fraction_bits >= each.fraction_bits) row = each.name;
  }
  return row;
}

SumTraits probe_both_results(const AskKind& ask, ProductKind kind, std::size_t k) {
  const Ask of_kind = [&](float a, const std::vector<Column>& columns) { return ask(kind, a, columns); };
  SumTraits own = probe_sums(of_kind, kind, k);
  own.row = row_of(own, kind);
  if (kind.compute == Dtype::fp16 || kind.operands == Dtype::fp32) return own;
  kind.result = kind.operands;
  SumTraits narrow = probe_sums(of_kind, kind, k);
  narrow.rounding = own.rounding;
  narrow.parts_meet_to_nearest = own.parts_meet_to_nearest;
  narrow.row = row_of(narrow, kind);
  return loosest(own, narrow);
}

SumTraits loosest(const SumTraits& one, const SumTraits& other) {
  SumTraits all;
  all.answered = one.answered && other.answered;
  all.keeps_subnormals = one.keeps_subnormals && other.keeps_subnormals;
  all.rounding = one.rounding == other.rounding ? one.rounding : "unknown";
  all.terms = std::min(one.terms, other.terms);
  all.fraction_bits = std::min(one.fraction_bits, other.fraction_bits);
  all.parts_meet_to_nearest = one.parts_meet_to_nearest || other.parts_meet_to_nearest;
  all.row = one.row == other.row ? one.row : "unknown";
  return all;
}

}  // namespace tally
