// Gates by GELU with erf, a(g) as (gelu.1) has it: what gated.hpp makes of it.
#include "kernels/activation/gelu_erf.hpp"
#include "kernels/gated/gated.hpp"

namespace tally::gated_gelu_kernel {
namespace {

const RegisterKernel registered("gated_gelu.forward", gated_claim("fused"), launch_gate_forward<false, GeluErf>);
const RegisterKernel registered_backward("gated_gelu.backward", gated_claim("fused"),
                                         launch_gate_backward<false, GeluErf>);
const RegisterKernel registered_stored("gated_gelu.forward", gated_claim("two_step"),
                                       launch_gate_forward<true, GeluErf>, KernelUse::when_named);
const RegisterKernel registered_stored_backward("gated_gelu.backward", gated_claim("two_step"),
                                                launch_gate_backward<true, GeluErf>, KernelUse::when_named);

}  // namespace
}  // namespace tally::gated_gelu_kernel
