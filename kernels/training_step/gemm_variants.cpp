// The ways to multiply matrices that `execution.kernels` names, in the registry of kernels.
#include "kernels/device/blas.hpp"
#include "kernels/device/kernel_registry.hpp"

namespace tally::gemm_variants_steps {
namespace {

using Launcher = void (*)(Stream& stream, const GemmCall& call);

template <GemmOrder::Kind kind>
void multiply(Stream& stream, const GemmCall& call) {
  gemm(stream, call, {kind, 0});
}

template <int beta>
void multiply_weight_gradient(Stream& stream, const GemmCall& call) {
  GemmCall onto = call;
  onto.beta = beta;
  gemm(stream, onto);
}

/// For the host, by every way it runs, and where the product is the library's for CUDA too.
struct RegisterProduct {
  RegisterProduct(const char* operation, const char* variant, bool on_cuda, Launcher launcher,
                  std::source_location at = std::source_location::current()) {
    for (const ExecutorKind executor : {ExecutorKind::host, ExecutorKind::checked, ExecutorKind::cuda}) {
      if (executor == ExecutorKind::cuda && !(on_cuda && built_with_cuda())) continue;
      if (executor == ExecutorKind::checked && !built_with_checks()) continue;
      register_kernel({operation,
                       executor,
                       {.variant = variant},
                       typeid(GemmCall),
                       reinterpret_cast<void (*)()>(launcher),
                       nullptr,
                       KernelUse::when_named},
                      at);
    }
  }
};

const RegisterProduct registered_any_order("gemm", "any_order", true, multiply<GemmOrder::Kind::sequential_fma>);
const RegisterProduct registered_v100("gemm", "tensor_core_v100", false, multiply<GemmOrder::Kind::tensor_core_v100>);
const RegisterProduct registered_a100("gemm", "tensor_core_a100", false, multiply<GemmOrder::Kind::tensor_core_a100>);
const RegisterProduct registered_h100("gemm", "tensor_core_h100", false, multiply<GemmOrder::Kind::tensor_core_h100>);
const RegisterProduct registered_separate("linear.weight_gradient", "separate", true, multiply_weight_gradient<0>);
const RegisterProduct registered_onto("linear.weight_gradient", "into_buffer", true, multiply_weight_gradient<1>);

}  // namespace
}  // namespace tally::gemm_variants_steps
