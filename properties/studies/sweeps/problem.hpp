// The training problems that the sweeps run: the same numbers in every storage format.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "oracle/case/case.hpp"

namespace tally {

struct SweepProblem {
  std::string name;  // "relu, cross_entropy"
  std::vector<Layer> hidden;
  Choice loss;
  std::int64_t input = 16, outputs = 10;
  Choice loss_scale;
};

/// 16-32-10 with relu, with layer_norm and gelu, with micro_batch batch_norm, and with tanh under mse.
const std::vector<SweepProblem>& sweep_problems();

/// One window of `rows` rows in `micro_batches` equal parts. Inputs and real targets have at most eight significant
/// bits and no magnitude between 0 and 2^-14, so that fp32, fp16 and bf16 hold the very same case; parameters are fp32.
Case sweep_case(const SweepProblem& problem, Dtype storage, std::int64_t rows, std::int64_t micro_batches,
                std::uint64_t seed);

/// The storage formats of every sweep, widest first.
inline constexpr Dtype sweep_formats[] = {Dtype::fp32, Dtype::fp16, Dtype::bf16};

/// The number in the middle; the mean of the two in the middle of an even number of them. NaN for none.
double median(std::vector<double> values);

}  // namespace tally
