// What gemm() chooses between.
#pragma once

#include "kernels/device/blas.hpp"

namespace tally {

void host_gemm(const GemmCall& call, const GemmOrder& order);
/// Only in builds with CUDA.
void cublas_gemm(Stream& stream, const GemmCall& call);

}  // namespace tally
