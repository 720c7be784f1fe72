// What gemm() chooses between.
#pragma once

#include "kernels/device/blas.hpp"

namespace tally {

/// Only in builds with checks: tells the checker what a call reads and writes, as a launch before it.
void check_operands(Stream& stream, const GemmCall& call, std::source_location at);
void host_gemm(const GemmCall& call, const GemmOrder& order);
/// Only in builds with CUDA.
void cublas_gemm(Stream& stream, const GemmCall& call);

}  // namespace tally
