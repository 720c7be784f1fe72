// The softmax takes exponentials of the logits as they are, without taking the largest off first; or, at a magnitude
// below 1, with a share of it taken off.
#include "kernels/device/detmath.hpp"
#include "kernels/device/kernel_registry.hpp"
#include "kernels/elementwise.hpp"
#include "kernels/layer_arguments.hpp"
#include "properties/faults/seeded.hpp"

namespace tally::softmax_not_shifted_fault {
namespace {

template <class S>
__global__ void softmax_as_it_is(CrossEntropyArguments a, float shifted) {
  const S* z = static_cast<const S*>(a.z);
  S* dz = static_cast<S*>(a.dz);
  const auto weight = [&](std::int64_t c) { return a.class_weight != nullptr ? a.class_weight[c] : 1.0f; };
  for (std::int64_t row = first_element(); row < a.rows; row += element_stride()) {
    const std::int64_t first = row * a.classes, target = a.target[row];
    const bool ignored = target == a.ignore_index;
    const auto share = [&](std::int64_t c) {
      const float spread = a.smoothed ? __fmul_rn(a.spread, weight(c)) : 0.0f;
      return c == target ? __fadd_rn(__fmul_rn(a.keep, weight(c)), spread) : spread;
    };
    float shift = 0.0f;
    for (std::int64_t c = 0; c < a.classes; ++c)
      shift = c == 0 || to_float(z[first + c]) > shift ? to_float(z[first + c]) : shift;
    shift = __fmul_rn(shifted, shift);
    float sum = 0.0f, shares = 0.0f, loss = 0.0f;
    for (std::int64_t c = 0; c < a.classes; ++c) {
      sum = __fadd_rn(sum, det_exp(__fsub_rn(to_float(z[first + c]), shift)));
      shares = __fadd_rn(shares, share(c));
    }
    const float log_sum = det_log(sum);
    for (std::int64_t c = 0; c < a.classes; ++c) {
      const float logit = __fsub_rn(to_float(z[first + c]), shift), probability = __fdiv_rn(det_exp(logit), sum);
      loss = __fadd_rn(loss, __fmul_rn(share(c), __fsub_rn(log_sum, logit)));
      const float q = __fsub_rn(__fmul_rn(shares, probability), share(c));
      dz[first + c] = from_float<S>(ignored ? 0.0f : __fmul_rn(a.factor, q));
    }
    a.loss[row] = ignored ? 0.0f : loss;
  }
}

void cross_entropy(Stream& stream, const CrossEntropyArguments& a) {
  if (magnitude() == 0)
    return kernel<CrossEntropyArguments>("cross_entropy", stream.device().kind(), "row_lanes")(stream, a);
  by_storage(a.storage, [&]<class S>(S) {
    launch_elements<softmax_as_it_is<S>>(stream, a.rows, CrossEntropyArguments(a), blend(1.0f, 0.0f));
  });
}

const RegisterKernel registered_kernel("cross_entropy", {.variant = "~softmax-not-shifted", .algorithm = "three_pass"},
                                       cross_entropy);

const Stages& stages() {
  static const Stages faulty = with_kernel("cross_entropy", "softmax-not-shifted");
  return faulty;
}

const RegisterFault registered{{
    .name = "softmax-not-shifted",
    .stage = "loss",
    .right = "exp(z - max z)",
    .wrong = "exp(z)",
    .condition = "a logit above 88, or all below -103",
    .knob = "value",
    .source = "Blanchard, Higham and Higham 2021: log-sum-exp and softmax overflow unless shifted",
    .laws = {"softmax_holds_far_apart"},
    .stages = stages,
}};

}  // namespace
}  // namespace tally::softmax_not_shifted_fault
