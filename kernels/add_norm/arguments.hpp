// What kernels take that add two tensors and normalise the sum, and that go back through both.
#pragma once

#include "kernels/layer_arguments.hpp"

namespace tally {

/// sum = a + b, all [rows, features] S, and the RMS norm of what is stored there: `norm`, whose x is not read.
struct AddNormArguments {
  const void *a, *b;
  void* sum;
  NormForwardArguments norm;
};

/// dx of the RMS norm of the sum, and what the sum's other reader gives, `residual`, added to it: all [rows, features]
/// S.
struct AddNormBackwardArguments {
  NormBackwardArguments norm;
  const void* residual;
  void* sum;
};

}  // namespace tally
