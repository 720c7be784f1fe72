// Faults of the kernels of a loss: the softmax, and the head that is one with it.
#include "kernels/device/detmath.hpp"
#include "kernels/device/kernel_registry.hpp"
#include "kernels/elementwise.hpp"
#include "kernels/layer_arguments.hpp"
#include "kernels/losses/head_loss_chunks.hpp"
#include "kernels/losses/softmax_loss.hpp"
#include "properties/faults/loss/head.hpp"
#include "properties/faults/seeded.hpp"

// The gradients of the logits are kept in the memory of the logits, in the storage format, before they take their
// factor, in a head that is one with the loss.
namespace tally::gradient_buffer_reused_fault {
namespace {

template <class Stored>
__global__ void scale_stored(float* dz, std::int64_t elements, float factor) {
  for (std::int64_t i = first_element(); i < elements; i += element_stride())
    dz[i] = __fmul_rn(factor, to_float(from_float<Stored>(dz[i])));
}

void loss_of(Stream& stream, const CrossEntropyArguments& a, Dtype storage) {
  CrossEntropyArguments unscaled = a;
  unscaled.factor = 1;
  loss_of_chunk<ThreePass>(stream, unscaled);
  by_storage(storage, [&]<class Stored>(Stored) {
    launch_elements<scale_stored<Stored>>(stream, a.rows * a.classes, static_cast<float*>(a.dz), a.rows * a.classes,
                                          a.factor);
  });
}

const RegisterKernel registered_kernel("head_loss", planted_head_claim("gradient-buffer-reused"),
                                       planted_head<loss_of>);

const Stages& stages() {
  static const Stages faulty = with_kernel("head_loss", "gradient-buffer-reused");
  return faulty;
}

const RegisterFault registered{{
    .name = "gradient-buffer-reused",
    .stage = "backward",
    .right = "dz in fp32 until dx, dW and db are added",
    .wrong = "dz = c S(p - [c = t])",
    .condition = "16 bits, a head that is one with the loss",
    .knob = "value",
    .source = "NVIDIA/TransformerEngine 3193",
    .laws = {"a_head_in_chunks_keeps_its_bound"},
    .stages = stages,
}};

}  // namespace
}  // namespace tally::gradient_buffer_reused_fault

// Logits are rounded to the storage format where their exponentials are summed, and taken as they are where the
// probabilities are worked out from that sum, in a head that is one with the loss.
namespace tally::logits_rounded_in_forward_only_fault {
namespace {

/// kernels/losses/softmax_loss.hpp, of rounded logits.
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

// The softmax takes exponentials of the logits as they are, without taking the largest off first; or, at a magnitude
// below 1, with a share of it taken off.
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
