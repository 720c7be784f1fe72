// Ranks that are processes whose sums NCCL makes on their GPUs; messages go over another link.
// Defined in kernels/ranks/nccl/nccl_link.cpp; without CUDA, or with a toolkit that has no nccl.h, in no_nccl_link.cpp.
#pragma once

#include <memory>
#include <string>

#include "kernels/ranks/link.hpp"

namespace tally {

/// `messages` joins the same ranks and has to outlive this. Rank r takes the GPU r modulo their number. A sum that takes
/// longer than `seconds` throws BrokenLink. Throws DeviceAbsent where no GPU or no libnccl.so.2 is there, or this was
/// built without it.
std::unique_ptr<Link> open_nccl_link(Link& messages, double seconds);

/// "NCCL 2.31.2", of the library that would be opened. Throws DeviceAbsent as open_nccl_link() does.
std::string nccl_version();

}  // namespace tally
