// What gemm() chooses between.
// Defined in kernels/device/cuda/cublas.cpp, kernels/device/cuda/cublas_lt.cpp, gemm.cpp.
#pragma once

#include <cstddef>
#include <vector>

#include "kernels/device/probes/probes.hpp"

namespace tally {

/// Only in builds with checks: tells the checker what a call reads and writes, as a launch before it.
void check_operands(Stream& stream, const GemmCall& call, std::source_location at);
void host_gemm(const GemmCall& call, const GemmOrder& order);
/// Only in builds with CUDA.
void cublas_gemm(Stream& stream, const GemmCall& call);
/// The first entries, `most` at most, of cublasLt's list of heuristics for a call, whose operands may be nullptr; their
/// `product` is left empty. Only in builds with CUDA.
std::vector<ListedAlgorithm> cublas_lt_list(const GemmCall& call, std::size_t most);

}  // namespace tally
