// The kernels of one run, and how it computes its matrix products.
#pragma once

#include <map>
#include <optional>
#include <string>
#include <string_view>

#include "kernels/device/gemm/blas.hpp"
#include "kernels/device/kernel_registry.hpp"
#include "oracle/case/case.hpp"
#include "oracle/layers/claim.hpp"

namespace tally {

// The kernels of one run: the standard one of every operation, and each that is named, by operation. Looked up in the
// registry once, when the run is built; a step then asks by operation.

class ChosenKernels {
 public:
  /// `named`: operation -> variant. Throws std::logic_error for one that no file registered.
  ChosenKernels(ExecutorKind executor, const std::map<std::string, std::string>& named);

  /// False for an operation that runs only where it is named, as a fused pass is, and was not.
  bool has(std::string_view operation) const { return kernels_.contains(operation); }
  /// The launcher of an operation. Throws std::logic_error where the run has none, which says what there is, and where
  /// it takes other arguments.
  template <class Arguments>
  Kernel<Arguments> of(std::string_view operation) const {
    return launcher_of<Arguments>(registered(operation));
  }
  const KernelClaim& claim(std::string_view operation) const { return registered(operation).claim; }
  /// What each of them promises, by operation.
  std::map<std::string, KernelClaim> claims() const;

 private:
  const RegisteredKernel& registered(std::string_view operation) const;

  ExecutorKind executor_;
  StandardKernels kernels_;
};

// How a run computes its matrix products: what `execution.kernels` says of "gemm" and "gemm.<choice>".

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
