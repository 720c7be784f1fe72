// The products that the probes ask for, and what a product does to its operands.
#include "kernels/device/probes/products.hpp"

#include <algorithm>
#include <cmath>
#include <cstring>
#include <limits>

#include "kernels/device/executor/schedule.hpp"
#include "kernels/device/half.hpp"
#include "kernels/device/probes/probes.hpp"

namespace tally {
namespace {

std::size_t length(std::int64_t size) { return static_cast<std::size_t>(size); }

void store(std::byte* matrix, Dtype dtype, std::size_t i, float value) {
  with_type_of(dtype, [=]<class S>(S) {
    const S stored = from_float<S>(value);
    std::memcpy(matrix + i * sizeof(S), &stored, sizeof(S));
  });
}

float load(const std::byte* matrix, Dtype dtype, std::size_t i) {
  return with_type_of(dtype, [=]<class S>(S stored) {
    std::memcpy(&stored, matrix + i * sizeof(S), sizeof(S));
    return to_float(stored);
  });
}

/// Bytes from one matrix to the next, which begins where the device's own allocations do.
std::size_t stride(std::size_t elements, Dtype dtype) { return (elements * size_of(dtype) + 255) / 256 * 256; }

/// Memory that no account of the device counts: it is the probes', not a run's.
class ProbeMemory {
 public:
  ProbeMemory(Device& on, std::size_t bytes) : device_(on), data_(on.functions().allocate(bytes)) {}
  ~ProbeMemory() { device_.functions().release(data_); }
  ProbeMemory(const ProbeMemory&) = delete;
  ProbeMemory& operator=(const ProbeMemory&) = delete;
  std::byte* data() const { return static_cast<std::byte*>(data_); }

 private:
  Device& device_;
  void* data_;
};

/// Element (row, column) of a matrix of that many rows and columns, stored as it is or transposed.
std::size_t place(bool transposed, std::int64_t rows, std::int64_t columns, std::size_t row, std::size_t column) {
  return transposed ? column * length(rows) + row : row * length(columns) + column;
}

std::vector<std::byte> stored_a(const ProductKind& kind, const ProbeShape& shape, const std::vector<float>& a) {
  std::vector<std::byte> all(a.size() * size_of(kind.operands));
  for (std::size_t i = 0; i < a.size(); ++i) {
    const std::size_t row = i / length(shape.k), column = i % length(shape.k);
    store(all.data(), kind.operands, place(shape.transpose_a, shape.m, shape.k, row, column), a[i]);
  }
  return all;
}

}  // namespace

ProbeProducts::ProbeProducts(Device& on, const GemmOrder& order, const GemmChoices& choices)
    : device_(on), stream_(on), order_(order), choices_(choices) {}

std::vector<float> ProbeProducts::ask(const ProductKind& kind, const ProbeShape& shape, float a,
                                      const std::vector<Column>& columns) {
  const std::size_t m = length(shape.m), n = length(shape.n), k = length(shape.k);
  const std::size_t calls = (columns.size() + n - 1) / n, bytes = stride(k * n, kind.operands);
  std::vector<std::byte> b(calls * bytes);
  for (std::size_t i = 0; i < columns.size(); ++i) {
    for (const Factor& each : columns[i]) {
      const std::size_t at = place(shape.transpose_b, shape.k, shape.n, each.position, i % n);
      store(b.data() + i / n * bytes, kind.operands, at, each.value);
    }
  }
  const std::vector<float> all = run(kind, shape, stored_a(kind, shape, std::vector<float>(m * k, a)), b, calls);
  std::vector<float> answers;
  for (std::size_t i = 0; i < columns.size(); ++i) {
    const float* first = &all[i / n * m * n + i % n];
    bool agree = true;
    for (std::size_t row = 1; row < m; ++row) agree = agree && first[row * n] == *first;
    answers.push_back(agree ? *first : std::numeric_limits<float>::quiet_NaN());
  }
  return answers;
}

std::vector<float> ProbeProducts::multiply(const ProductKind& kind, const ProbeShape& shape,
                                           const std::vector<float>& a, const std::vector<float>& b,
                                           std::size_t times) {
  const std::size_t n = length(shape.n), bytes = stride(b.size(), kind.operands);
  std::vector<std::byte> all(times * bytes);
  for (std::size_t i = 0; i < b.size(); ++i) {
    store(all.data(), kind.operands, place(shape.transpose_b, shape.k, shape.n, i / n, i % n), b[i]);
  }
  for (std::size_t call = 1; call < times; ++call) std::copy_n(all.data(), bytes, all.data() + call * bytes);
  return run(kind, shape, stored_a(kind, shape, a), all, times);
}

std::vector<float> ProbeProducts::run(const ProductKind& kind, const ProbeShape& shape, const std::vector<std::byte>& a,
                                      const std::vector<std::byte>& b, std::size_t calls) {
  const std::size_t results = length(shape.m * shape.n), result_bytes = stride(results, kind.result);
  const ProbeMemory on_a(device_, a.size()), on_b(device_, b.size()), on_c(device_, calls * result_bytes);
  device_.write(on_a.data(), a.data(), a.size());
  device_.write(on_b.data(), b.data(), b.size());
  GemmCall call{
      .transpose_a = shape.transpose_a, .transpose_b = shape.transpose_b, .m = shape.m, .n = shape.n, .k = shape.k};
  call.a = on_a.data();
  call.operands = kind.operands;
  call.result = kind.result;
  call.compute = kind.compute;
  call.tf32 = kind.tf32;
  call.choices = choices_;
  if (choices_.math == GemmChoices::Math::tf32 && !kind.tf32) call.choices.math = GemmChoices::Math::pedantic;
  const bool modelled =
      order_.kind <= GemmOrder::Kind::split_k || runs_on_tensor_cores(order_.kind, kind.operands, kind.tf32);
  for (std::size_t i = 0; i < calls; ++i) {
    call.b = on_b.data() + i * (b.size() / calls);
    call.c = on_c.data() + i * result_bytes;
    gemm(stream_, call, modelled ? order_ : GemmOrder{});
  }
  stream_.synchronize();
  std::vector<std::byte> read(calls * result_bytes);
  device_.read(on_c.data(), read.data(), read.size());
  std::vector<float> all;
  for (std::size_t i = 0; i < calls * results; ++i) {
    all.push_back(load(&read[i / results * result_bytes], kind.result, i % results));
  }
  return all;
}

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
