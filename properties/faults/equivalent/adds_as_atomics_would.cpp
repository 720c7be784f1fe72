// The bias gradient adds its rows in an order drawn from the data: every order of additions is legal; atomics differ
// by no more.
#include <algorithm>
#include <numeric>
#include <random>
#include <vector>

#include "kernels/device/kernel_registry.hpp"
#include "properties/faults/equivalent/equivalent.hpp"
#include "properties/faults/planted_change.hpp"
#include "properties/faults/seeded.hpp"

namespace tally::adds_as_atomics_would_fault {
namespace {

/// Column sums in fp32 over rows in a shuffled order, rounded once to the storage format.
void around(Stream& stream, BiasGradientArguments arguments, Kernel<BiasGradientArguments> shipped) {
  shipped(stream, arguments);
  stream.synchronize();
  Tensor dy(arguments.storage, {arguments.rows, arguments.features});
  stream.device().read(arguments.dy, dy.bytes.data(), dy.bytes.size());
  std::vector<std::size_t> order(static_cast<std::size_t>(arguments.rows));
  std::iota(order.begin(), order.end(), std::size_t{0});
  std::shuffle(order.begin(), order.end(), std::mt19937_64(dy.elements() == 0 ? 1 : dy.bits(0)));
  const auto features = static_cast<std::size_t>(arguments.features);
  change(stream.device(), arguments.db, arguments.storage, arguments.features, [&](std::size_t i, double) {
    float sum = 0;
    for (const std::size_t row : order) sum += static_cast<float>(dy.value(row * features + i));
    return static_cast<double>(sum);
  });
}

const std::string operation = "linear.bias_gradient", shipped = "column_lanes", mutant = "adds-as-atomics-would";

void add_in_any_order(Stream& stream, const BiasGradientArguments& arguments) {
  around(stream, arguments, kernel<BiasGradientArguments>(operation, stream.device().kind(), shipped));
}

/// It may not claim the shipped kernel's order: `any` names none, so that it is held to the bound alone.
const Stages& legal() {
  static const Stages stages = [] {
    for (const ExecutorKind executor : executors_built()) {
      KernelClaim claim = find_kernel(operation, executor, shipped).claim;
      claim.variant = "~" + mutant;
      claim.algorithm = "any";
      claim.additions.clear();
      register_kernel({operation, executor, std::move(claim), typeid(BiasGradientArguments),
                       reinterpret_cast<void (*)()>(add_in_any_order)},
                      std::source_location::current());
    }
    return with_kernel(operation, mutant);
  }();
  return stages;
}

const RegisterEquivalent registered{{
    .name = "adds-as-atomics-would",
    .change = "the bias gradient adds its rows in an order drawn from the data",
    .why = "every order of additions is legal; atomics differ by no more",
    .source = "tensorflow 22398, 39751, pytorch PR 12217",
    .laws = {"partition_equals_full_batch", "many_micro_batches_stay_bounded", "any_order_of_additions"},
    .stages = legal,
}};

}  // namespace
}  // namespace tally::adds_as_atomics_would_fault
