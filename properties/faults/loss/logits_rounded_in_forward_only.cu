// Logits are rounded to the storage format where their exponentials are summed, and taken as they are where the
// probabilities are worked out from that sum, in a head that is one with the loss.
#include "kernels/device/kernel_registry.hpp"
#include "kernels/head_loss/in_chunks.hpp"
#include "properties/faults/loss/planted_head.hpp"

namespace tally::logits_rounded_in_forward_only_fault {
namespace {

/// kernels/cross_entropy/three_pass.hpp, of rounded logits.
template <class Stored>
struct OfRoundedLogits {
  template <class S, int lanes>
  static __device__ ExponentialSum of(const S* z, std::int64_t classes, int lane) {
    const auto rounded = [&](std::int64_t c) { return to_float(from_float<Stored>(to_float(z[c]))); };
    float maximum = rounded(0);
    for (std::int64_t c = lane; c < classes; c += lanes) maximum = rounded(c) > maximum ? rounded(c) : maximum;
    maximum = row_maximum<lanes>(maximum);
    float sum = 0.0f;
    for (std::int64_t c = lane; c < classes; c += lanes) sum = __fadd_rn(sum, det_exp(__fsub_rn(rounded(c), maximum)));
    return {maximum, row_total<lanes>(sum)};
  }
};

void loss_of(Stream& stream, const CrossEntropyArguments& a, Dtype storage) {
  by_storage(storage, [&]<class Stored>(Stored) { loss_of_chunk<OfRoundedLogits<Stored>>(stream, a); });
}

const RegisterKernel registered_kernel("head_loss", planted_head_claim("logits-rounded-in-forward-only"),
                                       planted_head<loss_of>);

const Stages& stages() {
  static const Stages faulty = with_kernel("head_loss", "logits-rounded-in-forward-only");
  return faulty;
}

const RegisterFault registered{{
    .name = "logits-rounded-in-forward-only",
    .stage = "loss",
    .right = "p = exp(z - L) with the L of z",
    .wrong = "with the L of the z that are rounded to S",
    .condition = "16 bits, a head that is one with the loss",
    .knob = "value",
    .source = "marin-community/marin 8217",
    .laws = {"a_head_in_chunks_keeps_its_bound"},
    .stages = stages,
}};

}  // namespace
}  // namespace tally::logits_rounded_in_forward_only_fault
