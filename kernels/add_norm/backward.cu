// Back through an RMS norm and the residual sum before it, as one (kernels/add_norm/through_both.hpp). It leaves the
// bits of rms_norm.backward `row_lanes` and of gradient.add.
#include "kernels/add_norm/through_both.hpp"
#include "kernels/device/kernel_registry.hpp"

namespace tally::backward_kernel {
namespace {

const RegisterKernel registered("add_norm.backward", {.variant = "fused"}, launch_through_both<ThroughBothAsItShould>,
                                KernelUse::when_named);

}  // namespace
}  // namespace tally::backward_kernel
