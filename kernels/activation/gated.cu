// The gates: what gated.hpp makes of an activation.
#include "kernels/activation/gated.hpp"
#include "kernels/activation/gelu.hpp"

// Gates by GELU with erf, a(g) as (gelu.1) has it: what gated.hpp makes of it.
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

// Gates by GELU with tanh, a(g) as (gelu.3) has it: what gated.hpp makes of it.
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

// Gates by SiLU, a(g) = g s(g) with s(g) = 1 / (1 + exp(-g)), (gated.4): what gated.hpp makes of it.
namespace tally::gated_silu_kernel {
namespace {

__device__ float logistic(float x) { return __fdiv_rn(1.0f, __fadd_rn(1.0f, det_exp(-x))); }

struct Silu {
  __device__ static float forward(float g) { return __fmul_rn(g, logistic(g)); }
  __device__ static float backward(float g, float gradient) {
    const float s = logistic(g);
    return __fmul_rn(gradient, __fmul_rn(s, __fadd_rn(1.0f, __fmul_rn(g, __fsub_rn(1.0f, s)))));
  }
};

const RegisterKernel registered("gated_silu.forward", gated_claim("fused"), launch_gate_forward<false, Silu>);
const RegisterKernel registered_backward("gated_silu.backward", gated_claim("fused"),
                                         launch_gate_backward<false, Silu>);
const RegisterKernel registered_stored("gated_silu.forward", gated_claim("two_step"), launch_gate_forward<true, Silu>,
                                       KernelUse::when_named);
const RegisterKernel registered_stored_backward("gated_silu.backward", gated_claim("two_step"),
                                                launch_gate_backward<true, Silu>, KernelUse::when_named);

}  // namespace
}  // namespace tally::gated_silu_kernel
