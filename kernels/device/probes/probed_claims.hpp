// What a run on a device whose GEMM was asked (kernels/device/probes/probes.hpp) may claim of its products.
#pragma once

#include <string>
#include <utility>
#include <vector>

#include "kernels/device/probes/probes.hpp"
#include "oracle/case/case.hpp"
#include "oracle/layers/claim.hpp"

namespace tally {

/// How products of this precision are summed.
const SumTraits& sums_of(const GemmTraits& traits, const Precision& precision);

/// Flushing, the row of tensor cores and the rounding of TF32 operands as the probes found them, and nothing tighter
/// than every shape showed: where shapes disagree or no row fits, the row stays unknown. `claims.kernels` holds "gemm";
/// where parts of k were seen to meet apart, it claims any number of parts. Its variant's name ends in "_probed", by
/// which the ledger knows.
void claim_probed(Claims& claims, const GemmTraits& traits, const Precision& precision);

/// claim_probed of this device, asked at the first call of a process. Nothing is asked, and nothing claimed, where the
/// order is declared (the host) or the library's list names the algorithm, which is another one in every shape.
void claim_probed_products(Claims& claims, const Precision& precision, const GemmChoices& choices, Device& on);

/// What the ledger of a report says beside its own precision: each kind of product and the row that it fits.
std::vector<std::pair<std::string, std::string>> probed_rows(const GemmTraits& traits);

}  // namespace tally
