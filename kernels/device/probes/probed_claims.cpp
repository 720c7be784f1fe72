#include "kernels/device/probes/probed_claims.hpp"

#include "oracle/case/tensors/tensor.hpp"

namespace tally {

const SumTraits& sums_of(const GemmTraits& traits, const Precision& precision) {
  if (precision.compute == Dtype::fp16) return traits.in_half;
  switch (precision.storage) {
    case Dtype::fp32:
      return precision.tf32 ? traits.tf32 : traits.fp32;
    case Dtype::fp16:
      return traits.fp16;
    case Dtype::bf16:
      return traits.bf16;
    default:
      throw unsupported_format(precision.storage, "probed product");
  }
}

void claim_probed(Claims& claims, const GemmTraits& traits, const Precision& precision) {
  const SumTraits& sums = sums_of(traits, precision);
  const bool may_block = precision.storage != Dtype::fp32 || precision.tf32;
  claims.flushes_subnormals = !(sums.answered && sums.keeps_subnormals);
  claims.tensor_cores = may_block && sums.row != "scalar";
  claims.tensor_core = claims.tensor_cores ? sums.row : "unknown";
  // An operand that stays fp32 is within the rounding to nearest.
  claims.tf32_rounding = traits.tf32_rounding == "none" ? "nearest" : traits.tf32_rounding;
  KernelClaim& gemm = claims.kernels.at("gemm");
  gemm.variant += "_probed";
  if (!claims.tensor_cores || !sums.parts_meet_to_nearest || gemm.splits != 1) return;
  gemm.splits = 0;
  gemm.reduction = precision.compute;
}

void claim_probed_products(Claims& claims, const Precision& precision, const GemmChoices& choices, Device& on) {
  const bool documented = on.kind() != ExecutorKind::cuda, another_in_every_shape = choices.algorithm >= 0;
  if (documented || another_in_every_shape) return;
  claim_probed(claims, probed_gemm(on, choices, precision), precision);
}

std::vector<std::pair<std::string, std::string>> probed_rows(const GemmTraits& traits) {
  std::vector<std::pair<std::string, std::string>> rows;
  for (const Probe& each : probes_of(traits)) {
    rows.emplace_back("probed: " + each.question, each.answer + ": " + each.consequence);
  }
  rows.emplace_back("probed: shapes",
                    std::to_string(traits.shapes) + "; a product of another shape is taken to run as one of these");
  return rows;
}

}  // namespace tally
