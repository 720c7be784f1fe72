// What a device answers: of a library's algorithms, of atomics, and all of it in words.
#include <array>

#include "kernels/device/gemm/gemm_backends.hpp"
#include "kernels/device/kernel_registry.hpp"
#include "kernels/device/probes/probes.hpp"
#include "oracle/case/tensors/tensor.hpp"

namespace tally {
namespace {

#ifdef TALLY_HAS_CUDA
std::string words_of(const GemmCall& call) {
  return std::string(call.tf32 ? "TF32" : name_of(call.operands)) + " " + std::to_string(call.m) + " x " +
         std::to_string(call.n) + " x " + std::to_string(call.k);
}
#endif

}  // namespace

std::vector<ListedAlgorithm> listed_algorithms(Device& on) {
  std::vector<ListedAlgorithm> all;
  if (on.kind() != ExecutorKind::cuda) return all;
#ifdef TALLY_HAS_CUDA
  constexpr std::size_t most = 3;
  for (GemmCall call : {GemmCall{.m = 5, .n = 3, .k = 33}, GemmCall{.m = 128, .n = 256, .k = 512},
                        GemmCall{.transpose_a = true, .m = 64, .n = 64, .k = 4096}}) {
    for (const Dtype operands : storage_formats()) {
      call.operands = call.result = operands;
      for (const bool tf32 : {false, true}) {
        if (tf32 && operands != Dtype::fp32) continue;
        call.tf32 = tf32;
        for (ListedAlgorithm& each : cublas_lt_list(call, most)) {
          each.product = words_of(call);
          all.push_back(each);
        }
      }
    }
  }
#endif
  return all;
}

AtomicTraits probe_atomics(Device& on) {
  constexpr float subnormal = 0x1p-130f;
  Stream stream(on);
  const Buffer sums(on, "sums", Dtype::fp32, 2);
  kernel<AtomicAddArguments>("probe.atomic_add", on.kind())(stream, {subnormal, static_cast<float*>(sums.data())});
  stream.synchronize();
  std::array<float, 2> found{};
  on.read(sums.data(), found.data(), sizeof found);
  return {.global_keeps = found[1] == subnormal, .shared_keeps = found[0] == subnormal};
}

// The answers in words.
namespace {

std::string either(bool yes, const char* if_so, const char* if_not) { return yes ? if_so : if_not; }

constexpr const char* refused = "not run: the device refused some";

std::string summed(const SumTraits& found) {
  if (!found.answered) return refused;
  const std::string rounded = found.rounding == "truncate"  ? "truncated"
                              : found.rounding == "nearest" ? "rounded to nearest"
                                                            : "rounded otherwise, or by shape";
  if (found.terms <= 1) return "one after another, " + rounded;
  return std::to_string(found.terms) + " at once, " + std::to_string(found.fraction_bits) + " fraction bits, " +
         rounded + (found.parts_meet_to_nearest ? "; parts of k meet to nearest" : "");
}

std::string row(const SumTraits& found) {
  if (found.row == "unknown") return "row unknown: any generation or scalar";
  if (found.row == "scalar") return "scalar: one rounding an addition, any order";
  return "row " + found.row + (found.parts_meet_to_nearest ? ", any number of parts" : "");
}

/// No bound for fp32 operands counts on tensor cores.
std::string row_of_fp32(const SumTraits& found) {
  return found.row == "scalar" || !found.answered ? row(found) : "NOT COVERED by any bound";
}

std::string rounded(const SumTraits& found, const std::string& rounding) {
  return !found.answered         ? refused
         : rounding == "none"    ? "not rounded"
         : rounding == "unknown" ? "unknown: otherwise, or by shape"
                                 : "rounded: " + rounding;
}

Probe sums(const char* kind, const SumTraits& found) {
  return {std::string("sums of ") + kind + " products", summed(found), row(found)};
}

Probe subnormals(const char* question, const SumTraits& found, const char* if_flushed) {
  return {question, found.answered ? either(found.keeps_subnormals, "kept", "read as zero") : refused,
          either(found.keeps_subnormals, "no flush term", if_flushed)};
}

std::string group(std::size_t size) {
  if (size <= 1) return "2048 + 1 + ... stops";
  if (size >= GemmTraits::half_probe_length) return "wider inside than fp16";
  return "adds up to " + std::to_string(size) + ", then rounds to fp16";
}

}  // namespace

std::vector<Probe> probes_of(const GemmTraits& traits) {
  const bool nearest = traits.tf32_rounding == "nearest" || traits.tf32_rounding == "none";
  const char* flush_term = "a flush term for every product and sum";
  return {
      {"sums of fp32 products", summed(traits.fp32), row_of_fp32(traits.fp32)},
      sums("TF32", traits.tf32),
      sums("fp16", traits.fp16),
      sums("bf16", traits.bf16),
      sums("fp16, in fp16,", traits.in_half),
      {"fp32 operands", rounded(traits.fp32, traits.fp32_rounding),
       either(traits.fp32_rounding == "none" || !traits.fp32.answered, "exact", "NOT COVERED by any bound")},
      {"TF32 operands", rounded(traits.tf32, traits.tf32_rounding),
       either(nearest, "2^-11 an operand", "2^-10 an operand")},
      subnormals("fp32 numbers below 2^-126", traits.fp32, flush_term),
      subnormals("TF32 numbers below 2^-126", traits.tf32, flush_term),
      subnormals("bf16 numbers below 2^-126", traits.bf16, flush_term),
      subnormals("fp16 operands below 2^-14", traits.fp16, "NOT COVERED by any bound"),
      subnormals("fp16 numbers below 2^-14, in fp16", traits.in_half, flush_term),
      {"fp16 accumulator", traits.in_half.answered ? group(traits.half_group) : refused,
       either(traits.half_group < GemmTraits::half_probe_length, "one rounding to fp16 a sum or block",
              "the bound for fp16 holds, loosely")},
      {"the same product 20 times", either(traits.repeats, "the same bits", "OTHER BITS"),
       either(traits.repeats, "bit for bit checks apply", "bit for bit checks do not apply")},
      {"2^7 A B", either(traits.scales, "the bits of A B, scaled", "OTHER BITS"),
       either(traits.scales, "power-of-two loss scales cancel", "power-of-two loss scales may show")},
  };
}

std::vector<Probe> probes_of(const AtomicTraits& traits) {
  return {{"atomicAdd(2^-130) on global memory", either(traits.global_keeps, "kept", "read as zero"),
           "2^-125 an addition, where a kernel claims it"},
          {"atomicAdd(2^-130) on shared memory", either(traits.shared_keeps, "kept", "read as zero"),
           either(traits.shared_keeps, "no term", "NOT COVERED by any bound")}};
}

}  // namespace tally
