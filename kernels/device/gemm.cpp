#include <stdexcept>
#include <string>

#include "kernels/device/executor/concurrent_streams.hpp"
#include "kernels/device/gemm_backends.hpp"
#include "oracle/case/formats.hpp"

namespace tally {
namespace {

/// What is wrong with a call's choices; empty: nothing.
std::string wrong_choice(const GemmCall& call, bool on_host) {
  const GemmChoices& choices = call.choices;
  if (choices.splits < 0) return std::to_string(choices.splits) + " parts of k";
  if (choices.workspace < 0) return "a workspace of " + std::to_string(choices.workspace) + " bytes";
  if (choices.algorithm < GemmChoices::no_algorithm) return "algorithm " + std::to_string(choices.algorithm);
  if (choices.math == GemmChoices::Math::tf32 && !call.tf32) return "TF32 mathematics of a call without TF32";
  if (on_host && choices.algorithm >= 0) return "algorithm " + std::to_string(choices.algorithm) + " on the host";
  return "";
}

void check(const GemmCall& call, const GemmOrder& order, bool on_host, std::source_location at) {
  std::string wrong = wrong_choice(call, on_host);
  if (call.m < 0 || call.n < 0 || call.k < 0) wrong = "a negative size";
  if (!format_row(call.operands).uses.storage) wrong = "operands in " + std::string(name_of(call.operands));
  if (call.result != call.operands && call.result != Dtype::fp32)
    wrong = "a result in " + std::string(name_of(call.result));
  const bool all_alike = call.operands == call.compute && call.result == call.compute;
  if (!format_row(call.compute).uses.compute || (call.compute != Dtype::fp32 && !all_alike))
    wrong = "an accumulator in " + std::string(name_of(call.compute));
  if (call.tf32 && (call.operands != Dtype::fp32 || call.compute != Dtype::fp32)) wrong = "TF32 of other than fp32";
  if (call.beta != 0 && call.beta != 1) wrong = "beta " + std::to_string(call.beta);
  const bool grouped = order.kind == GemmOrder::Kind::chunked || order.kind == GemmOrder::Kind::split_k;
  if (grouped && order.parameter < 1) wrong = "order " + to_string(order);
  const bool scalar = order.kind <= GemmOrder::Kind::split_k;
  if (on_host && !scalar && !runs_on_tensor_cores(order.kind, call.operands, call.tf32))
    wrong = "order " + to_string(order) + " of operands it has no instruction for";
  if (wrong.empty()) return;
  throw std::invalid_argument(std::string(at.file_name()) + ":" + std::to_string(at.line()) + ": gemm " +
                              std::to_string(call.m) + " x " + std::to_string(call.n) + " x " + std::to_string(call.k) +
                              " with " + wrong + "; see kernels/device/blas.hpp");
}

}  // namespace

void gemm(Stream& stream, const GemmCall& call, const GemmOrder& order, std::source_location at) {
  const bool on_host = stream.device().kind() != ExecutorKind::cuda;
  check(call, order, on_host, at);
  if (call.m == 0 || call.n == 0) return;
#ifdef TALLY_HAS_CHECKED
  if (stream.device().kind() == ExecutorKind::checked) check_operands(stream, call, at);
#endif
  if (on_host) return executor::submit(stream.handle(), [call, order] { host_gemm(call, order); });
#ifdef TALLY_HAS_CUDA
  cublas_gemm(stream, call);
#endif
}

}  // namespace tally
