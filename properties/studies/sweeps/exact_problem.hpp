// The training problems that the exact sweeps share: a small network on drawn data, or on a slice of the digits.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "oracle/case/case.hpp"

namespace tally {

enum class RowSource { drawn, digits };

struct ExactProblem {
  RowSource source = RowSource::drawn;
  std::int64_t rows = 64;
  std::uint64_t seed = 1;          // draws parameters and drawn data; of the digits, the first row taken
  Dtype storage = Dtype::fp32;     // values of x are those of fp16 in every format, so that all share one exact answer
  std::vector<Layer> hidden = {};  // before the last linear layer; empty: linear 16, tanh (smooth: no decisions)
};

/// One window of one micro-batch. Drawn rows have 8 features, normal, and the class of their largest among the first 4;
/// digits 64 pixels in [0, 1] and 10 classes. Cross-entropy, SGD without momentum at rate 2^-6, no decay, clip or
/// scale.
Case exact_case(const ExactProblem& problem);

/// "drawn data, 8-16-4".
std::string title_of(const ExactProblem& problem);

/// The same rows in `count` windows of `micro_batches` micro-batches of `rows` rows; they must use up the case's rows.
Case in_windows(Case c, std::int64_t count, std::int64_t micro_batches, std::int64_t rows);

/// The same with another optimizer and constant learning rate.
Case with_optimizer(Case c, Choice optimizer, double rate);
Choice sgd(double momentum);

}  // namespace tally
