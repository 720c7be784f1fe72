// How a run computes its matrix products: what `execution.kernels` says of "gemm" and "gemm.<choice>".
#pragma once

#include <map>
#include <optional>
#include <string>
#include <string_view>

#include "kernels/device/blas.hpp"
#include "oracle/case/case.hpp"
#include "oracle/layers/claim.hpp"

namespace tally {

struct GemmSettings {
  GemmChoices choices = {};
  /// Whose tensor cores the host models; nullopt: scalar additions in the drawn order.
  std::optional<GemmOrder::Kind> tensor_core = {};
};

/// Whether an operation of `execution.kernels` is one of these settings: "gemm", or "gemm." and a choice.
bool is_gemm_setting(std::string_view operation);

/// From operation -> variant. Operands that the named generation has no tensor-core instruction for (fp32; TF32 on
/// v100) are multiplied in the drawn order. Throws NotSupported for a choice that the executor cannot follow: the host
/// has neither a list of algorithms nor a workspace. CUDA multiplies on what it has: there the model says nothing.
GemmSettings gemm_settings_of(const Precision& precision, const std::map<std::string, std::string>& chosen,
                              ExecutorKind executor);

/// What a run with these settings promises of every product; `drawn`: the host's order is not the sequential one.
void claim_products(Claims& claims, const Precision& precision, const GemmSettings& settings, ExecutorKind executor,
                    bool drawn);

}  // namespace tally
