#include "kernels/device/probes/operands.hpp"

#include <algorithm>
#include <cmath>

#include "kernels/device/executor/schedule.hpp"
#include "kernels/device/half.hpp"
#include "kernels/device/probes.hpp"

namespace tally {
namespace {

/// Numbers of the format in ±[1/16, 1): far from its subnormal ones, also seven exponents down.
std::vector<float> drawn(Dtype format, std::int64_t count, std::uint64_t seed) {
  executor::Schedule random(seed);
  std::vector<float> all;
  for (std::int64_t i = 0; i < count; ++i) {
    const float size = std::ldexp(static_cast<float>((1u << 20) + random.below((1u << 24) - (1u << 20))), -24);
    const float value = random.below(2) == 0 ? size : -size;
    all.push_back(stored_in(format, value));
  }
  return all;
}

std::vector<float> times_128(std::vector<float> values) {
  for (float& each : values) each *= 128;
  return values;
}

}  // namespace

std::string operand_rounding(ProbeProducts& products, const ProductKind& kind, const ProbeShape& shape) {
  const float between = 1 + 0x1p-11f + 0x1p-20f;
  const float left = products.ask(kind, shape, between, {{{0, 1}}}).at(0);
  const float right = products.ask(kind, shape, 1, {{{0, between}}}).at(0);
  if (left != right) return "unknown";
  return left == between ? "none" : left == 1 ? "truncate" : left == 1 + 0x1p-10f ? "nearest" : "unknown";
}

std::string loosest_rounding(const std::string& one, const std::string& other) {
  if (one == other) return one;
  const auto within_nearest = [](const std::string& each) { return each == "nearest" || each == "none"; };
  return within_nearest(one) && within_nearest(other) ? "nearest" : "unknown";
}

std::size_t half_group(ProbeProducts& products) {
  const ProductKind kind{Dtype::fp16, Dtype::fp16, Dtype::fp16};
  const ProbeShape shape{16, 16, GemmTraits::half_probe_length};
  std::vector<Column> columns;
  for (std::size_t group = 1; group < GemmTraits::half_probe_length; group *= 2) {
    Column column{{0, 2048}};
    for (std::size_t i = 1; i < GemmTraits::half_probe_length; ++i) {
      column.push_back({i, 1 / static_cast<float>(group)});
    }
    columns.push_back(column);
  }
  std::size_t moved_by = 1;
  const std::vector<float> sums = products.ask(kind, shape, 1, columns);
  for (std::size_t i = 0; i < sums.size(); ++i) {
    if (!(sums[i] == 2048)) moved_by = std::size_t{2} << i;
  }
  return moved_by;
}

bool repeats(ProbeProducts& products, const ProductKind& kind, const ProbeShape& shape) {
  constexpr std::size_t times = 20;
  const auto a = drawn(kind.operands, shape.m * shape.k, 1), b = drawn(kind.operands, shape.k * shape.n, 2);
  const std::vector<float> all = products.multiply(kind, shape, a, b, times);
  const auto results = static_cast<std::ptrdiff_t>(all.size() / times);
  return std::equal(all.begin() + results, all.end(), all.begin());
}

bool scales(ProbeProducts& products, const ProductKind& kind, const ProbeShape& shape) {
  const auto a = drawn(kind.operands, shape.m * shape.k, 3), b = drawn(kind.operands, shape.k * shape.n, 4);
  return products.multiply(kind, shape, times_128(a), b, 1) == times_128(products.multiply(kind, shape, a, b, 1));
}

}  // namespace tally
