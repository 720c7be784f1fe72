#include "kernels/device/probes/probes.hpp"

#include <map>
#include <mutex>
#include <optional>
#include <stdexcept>
#include <tuple>

#include "kernels/device/probes/probed_claims.hpp"
#include "kernels/device/probes/products.hpp"
#include "kernels/device/probes/sums.hpp"

namespace tally {
namespace {

/// The three layouts of a training step: x W^T, dy W, dy^T x.
std::vector<ProbeShape> in_every_layout(std::int64_t m, std::int64_t n, std::int64_t k) {
  return {{m, n, k, false, true}, {m, n, k, false, false}, {m, n, k, true, false}};
}

/// The host has one kernel for all shapes. A library has many: for single elements, for rows that do not begin at a
/// multiple of 16 bytes, for small and large tiles, and for long k, which it may split.
std::vector<ProbeShape> shapes_for(ExecutorKind executor) {
  std::vector<ProbeShape> all;
  const auto add = [&](std::int64_t m, std::int64_t n, std::int64_t k) {
    for (const ProbeShape& each : in_every_layout(m, n, k)) all.push_back(each);
  };
  if (executor != ExecutorKind::cuda) return {{1, 16, 33, false, true}, {5, 35, 64, true, false}};
  add(1, 1, 32);
  add(5, 3, 33);
  add(8, 16, 40);
  add(32, 64, 96);
  add(64, 10, 784);
  add(128, 256, 512);
  all.push_back({256, 1024, 128, false, true});
  all.push_back({1024, 256, 256, false, false});
  all.push_back({64, 64, 2048, true, false});
  all.push_back({16, 16, 1024, true, false});
  return all;
}

/// CudaError of a product that the library refuses leaves the kind unanswered; a device that failed says so again.
SumTraits sums_of(ProbeProducts& products, const ProductKind& kind, const std::vector<ProbeShape>& shapes) {
  std::optional<SumTraits> all;
  for (const ProbeShape& shape : shapes) {
    try {
      const AskKind ask = [&](const ProductKind& of, float a, const std::vector<Column>& columns) {
        return products.ask(of, shape, a, columns);
      };
      const SumTraits found = probe_both_results(ask, kind, static_cast<std::size_t>(shape.k));
      all = all ? loosest(*all, found) : found;
    } catch (const CudaError&) {
      return {};
    }
  }
  return all.value_or(SumTraits{});
}

std::string rounding_of(ProbeProducts& products, const ProductKind& kind, const std::vector<ProbeShape>& shapes) {
  std::string all = operand_rounding(products, kind, shapes.front());
  for (const ProbeShape& shape : shapes) all = loosest_rounding(all, operand_rounding(products, kind, shape));
  return all;
}

}  // namespace

GemmTraits probe_gemm(Device& on, const GemmOrder& order, const GemmChoices& choices, const Precision* only) {
  if (choices.algorithm >= 0) throw std::invalid_argument("probe_gemm: an algorithm is of one shape's list");
  ProbeProducts products(on, order, choices);
  const std::vector<ProbeShape> shapes = shapes_for(on.kind());
  const ProductKind fp32{}, tf32{.tf32 = true}, fp16{Dtype::fp16}, bf16{Dtype::bf16},
      in_half{Dtype::fp16, Dtype::fp16, Dtype::fp16};
  GemmTraits traits;
  traits.repeats = traits.scales = true;
  traits.shapes = shapes.size();
  for (const auto& [kind, found] : {std::pair{fp32, &traits.fp32},
                                    {tf32, &traits.tf32},
                                    {fp16, &traits.fp16},
                                    {bf16, &traits.bf16},
                                    {in_half, &traits.in_half}}) {
    if (only != nullptr && found != &sums_of(traits, *only)) continue;
    *found = sums_of(products, kind, shapes);
    if (!found->answered) continue;
    const ProbeShape& last = shapes.back();
    traits.repeats = traits.repeats && repeats(products, kind, last);
    traits.scales = traits.scales && scales(products, kind, last);
  }
  if (traits.fp32.answered) traits.fp32_rounding = rounding_of(products, fp32, shapes);
  if (traits.tf32.answered) traits.tf32_rounding = rounding_of(products, tf32, shapes);
  if (traits.in_half.answered) traits.half_group = half_group(products);
  return traits;
}

const GemmTraits& probed_gemm(Device& on, const GemmChoices& choices, const Precision& precision) {
  using Key = std::tuple<const Device*, GemmChoices::Math, bool, std::int64_t, std::int64_t, Dtype, Dtype, bool>;
  static std::mutex mutex;
  static std::map<Key, GemmTraits> known;
  const std::lock_guard lock(mutex);
  const Key key(&on, choices.math, choices.reduced_reduction, choices.splits, choices.workspace, precision.storage,
                precision.compute, precision.tf32);
  const auto found = known.find(key);
  if (found != known.end()) return found->second;
  return known.emplace(key, probe_gemm(on, {}, choices, &precision)).first->second;
}

}  // namespace tally
