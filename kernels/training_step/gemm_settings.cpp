#include "kernels/training_step/gemm_settings.hpp"

#include <array>

#include "kernels/training_step/run.hpp"
#include "oracle/case/gemm_choices.hpp"

namespace tally {
namespace {

using Kind = GemmOrder::Kind;
using Chosen = std::map<std::string, std::string>;

constexpr std::array generations{Kind::tensor_core_v100, Kind::tensor_core_a100, Kind::tensor_core_h100};

std::string text(const Chosen& chosen, const char* key) {
  const auto place = chosen.find(key);
  return place == chosen.end() ? "" : place->second;
}

/// The rules of a case hold its numbers to decimal digits.
std::int64_t number(const Chosen& chosen, const char* key, std::int64_t otherwise) {
  const std::string digits = text(chosen, key);
  return digits.empty() ? otherwise : gemm_choice_number(digits).value();
}

void require_library(const Chosen& chosen) {
  for (const char* choice : {"gemm.algorithm", "gemm.workspace"}) {
    if (!chosen.contains(choice)) continue;
    throw NotSupported("execution.kernels." + std::string(choice) + " is '" + text(chosen, choice) +
                       "'; the host takes none: it has neither a library's list of algorithms nor its workspace");
  }
}

GemmChoices choices_of(const Chosen& chosen) {
  const std::string math = text(chosen, "gemm.math");
  GemmChoices choices;
  if (math == "default") choices.math = GemmChoices::Math::standard;
  if (math == "tf32") choices.math = GemmChoices::Math::tf32;
  choices.reduced_reduction = text(chosen, "gemm.reduction") == "result";
  choices.splits = number(chosen, "gemm.split_k", choices.splits);
  choices.workspace = number(chosen, "gemm.workspace", choices.workspace);
  choices.algorithm = number(chosen, "gemm.algorithm", choices.algorithm);
  return choices;
}

void claim_on_host(Claims& claims, KernelClaim& gemm, const GemmSettings& settings, bool drawn) {
  gemm.variant = drawn ? "drawn_order" : "sequential_fma";
  claims.tf32_rounding = "nearest";
  if (!settings.tensor_core) return;
  gemm.variant = to_string({*settings.tensor_core, 0});
  claims.tensor_cores = true;
  claims.tensor_core = gemm.variant.substr(gemm.variant.rfind('_') + 1);
  claims.tf32_rounding = "truncate";
}

}  // namespace

bool is_gemm_setting(std::string_view operation) { return operation == "gemm" || operation.starts_with("gemm."); }

GemmSettings gemm_settings_of(const Precision& precision, const Chosen& chosen, ExecutorKind executor) {
  if (executor != ExecutorKind::cuda) require_library(chosen);
  GemmSettings settings{choices_of(chosen), {}};
  for (const Kind kind : generations) {
    const bool named = executor != ExecutorKind::cuda && text(chosen, "gemm") == to_string({kind, 0});
    if (named && runs_on_tensor_cores(kind, precision.storage, precision.tf32)) settings.tensor_core = kind;
  }
  return settings;
}

void claim_products(Claims& claims, const Precision& precision, const GemmSettings& settings, ExecutorKind executor,
                    bool drawn) {
  const bool cuda = executor == ExecutorKind::cuda;
  const GemmChoices& choices = settings.choices;
  KernelClaim gemm;
  if (cuda) {
    gemm.variant = choices.splits > 0 || choices.algorithm >= 0 ? "cublas_lt" : "cublas";
    claims.tensor_cores = precision.storage != Dtype::fp32 || precision.tf32;
  } else {
    claim_on_host(claims, gemm, settings, drawn);
  }
  claims.flushes_subnormals = cuda;  // cuBLAS does not say that it keeps them
  gemm.result = precision.storage;
  const bool library_splits = cuda && (choices.reduced_reduction || choices.algorithm >= 0);
  gemm.splits = choices.splits > 0 ? choices.splits : library_splits ? 0 : 1;
  const bool in_order = gemm.variant == "sequential_fma" && precision.compute == Dtype::fp32 && !precision.tf32;
  if (in_order && gemm.splits == 1) gemm.algorithm = "in_order_fma";
  if (gemm.splits != 1) gemm.reduction = choices.reduced_reduction ? precision.storage : precision.compute;
  claims.kernels.emplace("gemm", gemm);
}

}  // namespace tally
