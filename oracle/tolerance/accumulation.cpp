#include <map>
#include <stdexcept>

#include "oracle/tolerance/gemm.hpp"

namespace tally::oracle {
namespace {

bool exact_products(const Declared& declared) { return declared.storage.p <= 11 && declared.compute.p == 24; }

/// One rounding a product (none where products are exact) and k - 1 additions, in any order. Flushed, every product and
/// every addition may lose the smallest normal number. Products of bf16 may underflow, those of fp16 cannot.
Accumulation by_scalars(const Declared& declared, const Arithmetic& arithmetic, double k, bool flushes) {
  const double additions = height_of(claim_of(declared, "gemm"), k);
  const double kappa = gam(additions + (exact_products(declared) ? 0 : 1), arithmetic.u());
  const bool may_underflow = !exact_products(declared) || 2 * declared.storage.emin < declared.compute.emin;
  const double lost = flushes ? 2 * k : may_underflow ? k : 0;
  const double absolute = lost * arithmetic.underflow() * (1 + kappa);
  if (arithmetic.swamps(additions)) return {kappa, absolute, arithmetic.threshold()};
  // A product of which one factor is shared by many leans; what it adds to a sum does not.
  const double random = gam(additions, arithmetic.u());
  return {kappa, absolute, arithmetic.threshold(), random, arithmetic.spread_of_sum(additions, kappa, 1)};
}

/// Parts of k that are summed apart.
double parts_of(const KernelClaim& gemm, double k) {
  return std::min(gemm.splits > 0 ? static_cast<double>(gemm.splits) : k, k);
}

/// fp32 results: truncation only shrinks, so nothing grows: k 2^-F for alignment and 2^-23 a block. fp16 results: each
/// block grows what came before by (1 + u)(1 + terms 2^-F). A part has at most ceil(k / terms) blocks in a row; all
/// parts together, each with its own last one, have at most (k + parts (terms - 1)) / terms that may underflow.
Accumulation by_blocks(const Declared& declared, const Arithmetic& arithmetic, double k) {
  const TensorCore core = tensor_core(declared.claims.tensor_core, declared.tf32);
  const double blocks = std::ceil(k / core.terms), u = arithmetic.u();
  const double parts = parts_of(claim_of(declared, "gemm"), k);
  const double all_blocks = std::floor((k + parts * (core.terms - 1)) / core.terms);
  if (declared.compute.p < 24) {
    const double aligned = std::ldexp(core.terms, static_cast<int>(-core.fraction_bits));
    const double kappa = gam(blocks, u + aligned + u * aligned);
    return {kappa, all_blocks * (arithmetic.underflow() + 0x1p-41) * (1 + kappa), arithmetic.threshold()};
  }
  const double aligned = std::ldexp(u, 24 - static_cast<int>(core.fraction_bits)), stored = 2 * u;
  const double kappa = k * aligned + blocks * stored;
  // Half of it for what truncations share, half for how they scatter; each block aligns its accumulator too.
  const double spread = ((k + blocks) * aligned * aligned + blocks * stored * stored) / 4;
  return {kappa, all_blocks * 0x1p-146, arithmetic.threshold(), kappa / 2, spread};
}

/// Parts summed apart meet in `reduction`: a conversion each where that is narrower, and an addition less than parts.
/// Scalar parts in the accumulator's own format are one more order of addition.
Accumulation reduced(const Declared& declared, Accumulation all, double k, bool blocks, bool onto) {
  const KernelClaim& claim = claim_of(declared, "gemm");
  const Format format = format_of(claim.reduction);
  const Arithmetic reduction(declared, format);
  const bool narrows = format.p < declared.compute.p;
  const double parts = parts_of(claim, k);
  if (claim.splits == 1 || !(narrows || blocks)) return all;
  const double roundings = narrows ? parts + (onto ? 1 : 0) : parts - 1;
  const double growth = gam(roundings, reduction.u());
  if (all.random > 0) {
    all.random += (1 + all.kappa) * growth;
    all.spread += reduction.spread_of_sum(roundings, growth, 1 + all.kappa);
  }
  all.kappa += (1 + all.kappa) * growth;
  all.absolute = (all.absolute + (narrows ? (parts + 1) * reduction.underflow() : 0)) * (1 + growth);
  all.threshold = std::min(all.threshold, reduction.threshold());
  return all;
}

}  // namespace

TensorCore tensor_core(const std::string& generation, bool tf32) {
  static const std::map<std::string, std::pair<TensorCore, TensorCore>> rows = {
      {"unknown", {{4, 23}, {4, 23}}}, {"v100", {{4, 23}, {4, 23}}}, {"a100", {{8, 24}, {4, 24}}},
      {"h100", {{8, 25}, {4, 25}}},    {"h200", {{8, 25}, {4, 25}}}, {"b200", {{8, 25}, {4, 25}}}};
  const auto row = rows.find(generation);
  if (row == rows.end()) {
    throw std::logic_error("tensor cores '" + generation + "' have no bound; expected v100, a100, h100, h200, b200");
  }
  return tf32 ? row->second.second : row->second.first;
}

bool on_tensor_cores(const Declared& declared) {
  return declared.claims.tensor_cores && (declared.storage.p <= 11 || declared.tf32);
}

Accumulation accumulation(const Declared& declared, double k, bool onto) {
  Format format = declared.compute;
  format.flushes_subnormals = declared.claims.flushes_subnormals;
  const Arithmetic arithmetic(declared, format);
  const bool blocks = on_tensor_cores(declared);
  Accumulation all = by_scalars(declared, arithmetic, k, format.flushes_subnormals);
  if (blocks) {
    const Accumulation apart = by_blocks(declared, arithmetic, k);
    const bool known = declared.claims.tensor_core != "unknown";  // else a scalar kernel may have run as well
    all.kappa = known ? apart.kappa : std::max(apart.kappa, all.kappa);
    all.random = known ? apart.random : 0;
    all.spread = known ? apart.spread : 0;
    all.absolute = known && !format.flushes_subnormals ? apart.absolute : all.absolute + apart.absolute;
  }
  all = reduced(declared, all, k, blocks, onto);
  if (onto) {
    all.kappa += (1 + all.kappa) * arithmetic.u();
    all.absolute += format.flushes_subnormals ? arithmetic.underflow() : 0;
  }
  return all;
}

double tf32_roundoff(const Claims& claims) { return claims.tf32_rounding == "nearest" ? 0x1p-11 : 0x1p-10; }

}  // namespace tally::oracle
