#include <stdexcept>
#include <string>

#include "kernels/device/gemm_backends.hpp"

namespace tally {
namespace {

bool is_storage(Dtype dtype) { return dtype == Dtype::fp32 || dtype == Dtype::fp16 || dtype == Dtype::bf16; }

void check(const GemmCall& call, const GemmOrder& order, std::source_location at) {
  std::string wrong;
  if (call.m < 0 || call.n < 0 || call.k < 0) wrong = "a negative size";
  if (!is_storage(call.operands)) wrong = "operands in " + std::string(name_of(call.operands));
  if (call.result != call.operands && call.result != Dtype::fp32)
    wrong = "a result in " + std::string(name_of(call.result));
  const bool all_half = call.operands == Dtype::fp16 && call.result == Dtype::fp16;
  if (call.compute != Dtype::fp32 && !(call.compute == Dtype::fp16 && all_half))
    wrong = "an accumulator in " + std::string(name_of(call.compute));
  if (call.tf32 && (call.operands != Dtype::fp32 || call.compute != Dtype::fp32)) wrong = "TF32 of other than fp32";
  if (call.beta != 0 && call.beta != 1) wrong = "beta " + std::to_string(call.beta);
  const bool grouped = order.kind == GemmOrder::Kind::chunked || order.kind == GemmOrder::Kind::split_k;
  if (grouped && order.parameter < 1) wrong = "order " + to_string(order);
  if (wrong.empty()) return;
  throw std::invalid_argument(std::string(at.file_name()) + ":" + std::to_string(at.line()) + ": gemm " +
                              std::to_string(call.m) + " x " + std::to_string(call.n) + " x " + std::to_string(call.k) +
                              " with " + wrong + "; see kernels/device/blas.hpp");
}

}  // namespace

void gemm(Stream& stream, const GemmCall& call, const GemmOrder& order, std::source_location at) {
  check(call, order, at);
  if (call.m == 0 || call.n == 0) return;
  if (stream.device().kind() != ExecutorKind::cuda) return host_gemm(call, order);
#ifdef TALLY_HAS_CUDA
  cublas_gemm(stream, call);
#endif
}

}  // namespace tally
