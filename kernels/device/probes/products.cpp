#include "kernels/device/probes/products.hpp"

#include <algorithm>
#include <cstring>
#include <limits>

#include "kernels/device/half.hpp"

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

}  // namespace tally
