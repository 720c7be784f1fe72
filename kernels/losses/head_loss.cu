// The last linear layer and the softmax cross-entropy as one, forward and backward, four rows at a time
// (kernels/losses/head_loss_chunks.hpp): no more logits are there at once, and none is ever stored in S. The softmax
// takes three passes, (cross_entropy.1).
#include "kernels/device/kernel_registry.hpp"
#include "kernels/losses/head_loss_chunks.hpp"
#include "kernels/losses/softmax_loss.hpp"

namespace tally::chunked_kernel {
namespace {

void three_pass_loss(Stream& stream, const CrossEntropyArguments& a, Dtype) { loss_of_chunk<ThreePass>(stream, a); }

const RegisterKernel registered("head_loss",
                                {.variant = "chunked", .algorithm = "three_pass", .function_ulp = detmath_ulp},
                                head_and_loss_in_chunks<three_pass_loss>, KernelUse::when_named);

}  // namespace
}  // namespace tally::chunked_kernel
