// Gates by GELU with tanh, a(g) as (gelu.3) has it: what gated.hpp makes of it.
#include "kernels/activation/gelu_tanh.hpp"
#include "kernels/gated/gated.hpp"

namespace tally::gated_gelu_tanh_kernel {
namespace {

const RegisterKernel registered("gated_gelu_tanh.forward", gated_claim("fused"), launch_gate_forward<false, GeluTanh>);
const RegisterKernel registered_backward("gated_gelu_tanh.backward", gated_claim("fused"),
                                         launch_gate_backward<false, GeluTanh>);
const RegisterKernel registered_stored("gated_gelu_tanh.forward", gated_claim("two_step"),
                                       launch_gate_forward<true, GeluTanh>, KernelUse::when_named);
const RegisterKernel registered_stored_backward("gated_gelu_tanh.backward", gated_claim("two_step"),
                                                launch_gate_backward<true, GeluTanh>, KernelUse::when_named);

}  // namespace
}  // namespace tally::gated_gelu_tanh_kernel
