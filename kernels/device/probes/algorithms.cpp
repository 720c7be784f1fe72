#include "kernels/device/gemm_backends.hpp"
#include "kernels/device/probes.hpp"
#include "oracle/case/formats.hpp"

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

}  // namespace tally
