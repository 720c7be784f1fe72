// The kernels of one run, and how it computes its matrix products.
#include "kernels/training_step/run/chosen_kernels.hpp"

#include <array>

#include "kernels/device/gemm/blas.hpp"
#include "kernels/device/kernel_registry.hpp"
#include "kernels/training_step/run/run.hpp"
#include "oracle/case/sizes.hpp"

namespace tally {

ChosenKernels::ChosenKernels(ExecutorKind executor, const std::map<std::string, std::string>& named)
    : executor_(executor), kernels_(standard_kernels(executor)) {
  for (const auto& [operation, variant] : named) kernels_[operation] = &find_kernel(operation, executor, variant);
}

const RegisteredKernel& ChosenKernels::registered(std::string_view operation) const {
  const auto found = kernels_.find(operation);
  if (found == kernels_.end()) throw_missing_kernel(operation, executor_);
  return *found->second;
}

std::map<std::string, KernelClaim> ChosenKernels::claims() const {
  std::map<std::string, KernelClaim> all;
  for (const auto& [operation, kernel] : kernels_) all.emplace_hint(all.end(), operation, kernel->claim);
  return all;
}

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

// The ways to multiply matrices that `execution.kernels` names, in the registry of kernels.
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
struct Product {
  const char *operation, *variant;
  bool on_cuda;
  Launcher launcher;
};
void enter_record(const Product& product, std::source_location at) {
  for (const ExecutorKind executor : {ExecutorKind::host, ExecutorKind::checked, ExecutorKind::cuda}) {
    if (executor == ExecutorKind::cuda && !(product.on_cuda && built_with_cuda())) continue;
    if (executor == ExecutorKind::checked && !built_with_checks()) continue;
    register_kernel({product.operation,
                     executor,
                     {.variant = product.variant},
                     typeid(GemmCall),
                     reinterpret_cast<void (*)()>(product.launcher),
                     nullptr,
                     KernelUse::when_named},
                    at);
  }
}

const Register<Product> registered_any_order{{"gemm", "any_order", true, multiply<GemmOrder::Kind::sequential_fma>}};
const Register<Product> registered_v100{
    {"gemm", "tensor_core_v100", false, multiply<GemmOrder::Kind::tensor_core_v100>}};
const Register<Product> registered_a100{
    {"gemm", "tensor_core_a100", false, multiply<GemmOrder::Kind::tensor_core_a100>}};
const Register<Product> registered_h100{
    {"gemm", "tensor_core_h100", false, multiply<GemmOrder::Kind::tensor_core_h100>}};
const Register<Product> registered_separate{{"linear.weight_gradient", "separate", true, multiply_weight_gradient<0>}};
const Register<Product> registered_onto{{"linear.weight_gradient", "into_buffer", true, multiply_weight_gradient<1>}};

}  // namespace
}  // namespace tally::gemm_variants_steps
