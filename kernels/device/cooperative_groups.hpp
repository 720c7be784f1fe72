// CUDA's cooperative groups, for .cu that use them: under nvcc CUDA's own, elsewhere the host executor's. Kernels write
// `namespace groups = cooperative_groups;` inside namespace tally. On the host there are this_thread_block,
// tiled_partition<1 ... 32> and what these two groups can do; no grids, no clusters, no coalesced groups.
#pragma once

#include "kernels/device/cuda_words.hpp"

#ifdef __CUDACC__
#include <cooperative_groups.h>
#else
#include "kernels/device/host/groups.hpp"
#endif
