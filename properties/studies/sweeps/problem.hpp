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
  double magnitude = 1;  // a power of two that multiplies x, real targets and biases
};

/// 16-32-10 with relu, with layer_norm and gelu, with micro_batch batch_norm, and with tanh under mse.
const std::vector<SweepProblem>& sweep_problems();

/// tanh under mse with everything but the weights around 2^-8: gradients that fp16 holds badly without a loss scale.
SweepProblem small_signals();

/// One window of `rows` rows in `micro_batches` equal parts. Inputs and real targets have at most eight significant
/// bits and no magnitude between 0 and 2^-14, so that all storage formats hold the very same case; parameters are fp32.
Case sweep_case(const SweepProblem& problem, Dtype storage, std::int64_t rows, std::int64_t micro_batches,
                std::uint64_t seed);

/// The number in the middle; the mean of the two in the middle of an even number of them. NaN for none.
double median(std::vector<double> values);

}  // namespace tally
