// Attention's sum over keys, as tests/kernels/reduction/measured_additions.hpp measures it.
#pragma once

#include <bit>
#include <string>
#include <vector>

#include "kernels/layer_arguments.hpp"
#include "tests/kernels/on_device.hpp"
#include "tests/kernels/reduction/measured_additions.hpp"

namespace tally {

/// y of a row that sees all addends as values, with equal weights, and behind them values of 0, so that the keys are a
/// power of two and every weight is exact. The other rows see themselves alone.
inline double weighted_values(const std::string& variant, const Addends& addends) {
  std::vector<double> values = plain(addends);
  values.resize(std::bit_ceil(values.size()), 0);
  const auto rows = static_cast<std::int64_t>(values.size());
  Tensor begin(Dtype::i64, {rows}), end(Dtype::i64, {rows});
  for (std::size_t row = 0; row < values.size(); ++row) {
    begin.set_bits(row, row);
    end.set_bits(row, row == 0 ? values.size() : row + 1);
  }
  const std::vector<double> zeros(values.size(), 0);
  const DeviceTensor q = on_device(zeros), k = on_device(zeros), v = on_device(values), y = room(rows),
                     lse = room(rows), sums = room(2 * rows);
  const DeviceTensor begins(device(ExecutorKind::host), "begins", begin), ends(device(ExecutorKind::host), "ends", end);
  call("attention.forward",
       AttentionArguments{.storage = Dtype::fp32,
                          .q = q.data(),
                          .k = k.data(),
                          .v = v.data(),
                          .begin = begins.as<std::int64_t>(),
                          .end = ends.as<std::int64_t>(),
                          .rows = rows,
                          .heads = 1,
                          .kv_heads = 1,
                          .size = 1,
                          .causal = false,
                          .window = 0,
                          .scale = 1,
                          .y = y.data(),
                          .lse = lse.as<float>(),
                          .delta = nullptr,
                          .sums = sums.as<float>()},
       variant);
  return values_of(y)[0];
}

}  // namespace tally
