#include "kernels/device/device.hpp"
#include "kernels/ranks/nccl_link.hpp"

namespace tally {
#ifndef TALLY_HAS_NCCL

std::unique_ptr<Link> open_nccl_link(Link&, double) { throw DeviceAbsent(nccl_version()); }

std::string nccl_version() { throw DeviceAbsent("no NCCL: built without CUDA, or with a toolkit that has no nccl.h"); }

#endif
}  // namespace tally
