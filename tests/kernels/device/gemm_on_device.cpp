// The library's products on a GPU, in every choice that a case may make. Whole numbers that no order of addition rounds
// must come out as on the host, bit for bit; then the products of one block are set beside the models of tensor cores,
// to see whose hardware this is. Exit codes: 0 pass, 1 other bits, 77 no device.
#include <array>
#include <cstdio>
#include <random>
#include <string>
#include <vector>

#include "kernels/device/gemm/blas.hpp"
#include "kernels/device/half.hpp"
#include "kernels/training_step/run/device_tensor.hpp"

namespace tally {
namespace {

struct Problem {
  std::int64_t m, n, k;
  Dtype operands, result;
  bool tf32;
  GemmChoices choices;
};

Tensor drawn(Dtype dtype, std::int64_t rows, std::int64_t columns, std::mt19937_64& random) {
  std::uniform_int_distribution<int> whole(-2, 2);
  Tensor tensor(dtype, {rows, columns});
  for (std::size_t i = 0; i < tensor.elements(); ++i) tensor.set(i, whole(random));
  return tensor;
}

Tensor product(ExecutorKind executor, const Problem& problem, const Tensor& a, const Tensor& b,
               const GemmOrder& order = {}) {
  Device& on = device(executor);
  Stream stream(on);
  const DeviceTensor left(on, "a", a), right(on, "b", b);
  const DeviceTensor result(on, "c", problem.result, {problem.m, problem.n});
  GemmCall call{.m = problem.m, .n = problem.n, .k = problem.k, .a = left.data(), .b = right.data()};
  call.c = result.data();
  call.operands = problem.operands;
  call.result = problem.result;
  call.tf32 = problem.tf32;
  call.choices = problem.choices;
  if (executor == ExecutorKind::host) call.choices = {};
  gemm(stream, call, order);
  stream.synchronize();
  return result.read();
}

std::vector<GemmChoices> choices(bool tf32) {
  using Math = GemmChoices::Math;
  std::vector<GemmChoices> all{{}, {.math = Math::standard}, {.reduced_reduction = true}, {.workspace = 0}};
  for (const std::int64_t splits : {1, 2, 4}) {
    all.push_back({.splits = splits});
    all.push_back({.math = Math::standard, .reduced_reduction = true, .splits = splits});
  }
  all.push_back({.algorithm = 0});
  if (tf32) all.push_back({.math = Math::tf32});
  return all;
}

std::string text(const Problem& problem) {
  const GemmChoices& of = problem.choices;
  return std::string(name_of(problem.operands)) + " into " + std::string(name_of(problem.result)) +
         (problem.tf32 ? " TF32" : "") + " k " + std::to_string(problem.k) + " math " +
         std::to_string(static_cast<int>(of.math)) + (of.reduced_reduction ? " reduced" : "") + " splits " +
         std::to_string(of.splits) + " workspace " + std::to_string(of.workspace) + " algorithm " +
         std::to_string(of.algorithm);
}

/// Of all choices. A choice that the library has no kernel for says so by an error, which is no other product.
int differing_products() {
  std::mt19937_64 random(11);
  int differing = 0, equal = 0, refused = 0;
  for (const Dtype operands : {Dtype::fp32, Dtype::fp16, Dtype::bf16}) {
    for (const bool tf32 : {false, true}) {
      if (tf32 && operands != Dtype::fp32) continue;
      for (const Dtype result : {operands, Dtype::fp32}) {
        for (const std::int64_t k : {16, 64}) {
          const Tensor a = drawn(operands, 32, k, random), b = drawn(operands, k, 48, random);
          for (const GemmChoices& chosen : choices(tf32)) {
            const Problem problem{32, 48, k, operands, result, tf32, chosen};
            try {
              const bool same =
                  product(ExecutorKind::cuda, problem, a, b) == product(ExecutorKind::host, problem, a, b);
              if (!same) std::printf("other bits: %s\n", text(problem).c_str());
              (same ? equal : differing) += 1;
            } catch (const CudaError& error) {
              std::printf("refused: %s: %s\n", text(problem).c_str(), error.what());
              ++refused;
            }
          }
        }
      }
    }
  }
  std::printf("%d equal, %d differing, %d refused\n", equal, differing, refused);
  return equal == 0 ? 1 : differing;
}

/// One product of 1 and fifteen of 2^-25, and products of random numbers, beside the models.
void tell_generation() {
  std::mt19937_64 random(12);
  std::normal_distribution<double> normal;
  const Problem problem{64, 64, 64, Dtype::fp16, Dtype::fp32, false, {.math = GemmChoices::Math::standard}};
  Tensor a(Dtype::fp16, {64, 64}), b(Dtype::fp16, {64, 64});
  for (std::size_t i = 0; i < a.elements(); ++i) {
    a.set(i, normal(random));
    b.set(i, normal(random));
  }
  const Tensor got = product(ExecutorKind::cuda, problem, a, b);
  for (const auto kind : {GemmOrder::Kind::sequential_fma, GemmOrder::Kind::tensor_core_v100,
                          GemmOrder::Kind::tensor_core_a100, GemmOrder::Kind::tensor_core_h100}) {
    const Tensor model = product(ExecutorKind::host, problem, a, b, {kind, 0});
    std::size_t same = 0;
    for (std::size_t i = 0; i < got.elements(); ++i) same += got.value(i) == model.value(i);
    std::printf("%s: %zu of %zu elements have the model's bits\n", to_string({kind, 0}).c_str(), same, got.elements());
  }
}

int run_all() {
  try {
    std::printf("%s\n", std::string(device(ExecutorKind::cuda).name()).c_str());
  } catch (const DeviceAbsent& absent) {
    std::printf("skipped: %s\n", absent.what());
    return 77;
  }
  tell_generation();
  return differing_products() == 0 ? 0 : 1;
}

}  // namespace
}  // namespace tally

int main() { return tally::run_all(); }
