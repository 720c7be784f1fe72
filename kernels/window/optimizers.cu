// The optimizers' steps.
#include "kernels/device/kernel_registry.hpp"
#include "kernels/elementwise.hpp"
#include "kernels/window/arguments.hpp"

// SGD: the momentum buffer b, if there is one, (sgd.1), the direction, which may be Nesterov's, (sgd.2), and the
// parameter along it, (sgd.3), rounded as kernels/arithmetic.md says.
//
//   gradient [elements] fp32   parameter, momentum [elements] M, in place; the step reads b as stored
//
// One thread an element, grid-stride. No sums.
namespace tally::sgd_kernel {
namespace {

template <class M>
struct Momentum {
  M* buffer;
  float mu, one_minus_dampening;
  bool nesterov, first;

  __device__ float direction(float gradient, std::int64_t i) const {
    const float sum =
        first ? gradient : __fadd_rn(__fmul_rn(mu, to_float(buffer[i])), __fmul_rn(one_minus_dampening, gradient));
    buffer[i] = from_float<M>(sum);
    const float moved = to_float(buffer[i]);
    return nesterov ? __fadd_rn(gradient, __fmul_rn(mu, moved)) : moved;
  }
};

template <class M>
__global__ void step(const float* gradient, M* parameter, Momentum<M> momentum, std::int64_t elements, float rate) {
  for (std::int64_t i = first_element(); i < elements; i += element_stride()) {
    const float direction = momentum.buffer != nullptr ? momentum.direction(gradient[i], i) : gradient[i];
    parameter[i] = from_float<M>(__fsub_rn(to_float(parameter[i]), __fmul_rn(rate, direction)));
  }
}

void sgd(Stream& stream, const SgdArguments& a) {
  by_storage(a.format, [&]<class M>(M) {
    const Momentum<M> momentum{static_cast<M*>(a.momentum), a.mu, a.one_minus_dampening, a.nesterov, a.first};
    launch_elements<step<M>>(stream, a.elements, a.gradient, static_cast<M*>(a.parameter), momentum, a.elements,
                             a.rate);
  });
}

const RegisterKernel registered("sgd", {.variant = "grid_stride", .as_written = true}, sgd);

}  // namespace
}  // namespace tally::sgd_kernel

// Adam: the moments m, (adam.1), and v, (adam.2), then the parameter, (adam.3), rounded as kernels/arithmetic.md says;
// lr / bc1 and sqrt bc2, in which the bias corrections enter, come rounded to fp32.
//
//   gradient [elements] fp32   parameter, exp_avg, exp_avg_sq [elements] M, in place; the step reads m and v as stored
//
// One thread an element, grid-stride. No sums.
namespace tally::adam_kernel {
namespace {

template <class M>
struct Moments {
  M *first, *second;
  float beta1, one_minus_beta1, beta2, one_minus_beta2;
};

template <class M>
__global__ void step(const float* gradient, M* parameter, Moments<M> moments, std::int64_t elements,
                     float corrected_rate, float root_correction, float eps) {
  for (std::int64_t i = first_element(); i < elements; i += element_stride()) {
    const float g = gradient[i];
    moments.first[i] = from_float<M>(
        __fadd_rn(__fmul_rn(moments.beta1, to_float(moments.first[i])), __fmul_rn(moments.one_minus_beta1, g)));
    moments.second[i] = from_float<M>(__fadd_rn(__fmul_rn(moments.beta2, to_float(moments.second[i])),
                                                __fmul_rn(moments.one_minus_beta2, __fmul_rn(g, g))));
    const float m = to_float(moments.first[i]), v = to_float(moments.second[i]);
    const float divisor = __fadd_rn(__fdiv_rn(__fsqrt_rn(v), root_correction), eps);
    const float move = __fmul_rn(corrected_rate, __fdiv_rn(m, divisor));
    parameter[i] = from_float<M>(__fsub_rn(to_float(parameter[i]), move));
  }
}

void adam(Stream& stream, const AdamArguments& a) {
  by_storage(a.format, [&]<class M>(M) {
    const Moments<M> moments{
        static_cast<M*>(a.exp_avg), static_cast<M*>(a.exp_avg_sq), a.beta1, a.one_minus_beta1, a.beta2,
        a.one_minus_beta2};
    launch_elements<step<M>>(stream, a.elements, a.gradient, static_cast<M*>(a.parameter), moments, a.elements,
                             a.corrected_rate, a.root_correction, a.eps);
  });
}

const RegisterKernel registered("adam", {.variant = "grid_stride", .as_written = true}, adam);

}  // namespace
}  // namespace tally::adam_kernel

// Lion: the parameter by the sign of c = b1 m + (1 - b1) g, (lion.1), and the momentum m, (lion.2), rounded as
// kernels/arithmetic.md says; sign(0) = 0, the sign of NaN is NaN.
//
//   gradient [elements] fp32   parameter, exp_avg [elements] M, in place; c reads m as it was
//
// One thread an element, grid-stride. No sums.
namespace tally::lion_kernel {
namespace {

__device__ inline float interpolated(float beta, float rest, float gradient, float momentum) {
  return __fadd_rn(__fmul_rn(beta, momentum), __fmul_rn(rest, gradient));
}

template <class M>
__global__ void step(LionArguments a) {
  M *parameter = static_cast<M*>(a.parameter), *exp_avg = static_cast<M*>(a.exp_avg);
  for (std::int64_t i = first_element(); i < a.elements; i += element_stride()) {
    const float g = a.gradient[i], m = to_float(exp_avg[i]);
    const float c = interpolated(a.beta1, a.one_minus_beta1, g, m);
    const float sign = c > 0.0f ? 1.0f : c < 0.0f ? -1.0f : c;
    parameter[i] = from_float<M>(__fsub_rn(to_float(parameter[i]), __fmul_rn(a.rate, sign)));
    exp_avg[i] = from_float<M>(interpolated(a.beta2, a.one_minus_beta2, g, m));
  }
}

void lion(Stream& stream, const LionArguments& a) {
  by_storage(a.format, [&]<class M>(M) { launch_elements<step<M>>(stream, a.elements, LionArguments(a)); });
}

const RegisterKernel registered("lion", {.variant = "grid_stride", .as_written = true}, lion);

}  // namespace
}  // namespace tally::lion_kernel

// RMSProp: the mean square v, (rmsprop.1), the quotient g / (sqrt v + eps), (rmsprop.2), with momentum its buffer b,
// (rmsprop.3), and the parameter, (rmsprop.4), rounded as kernels/arithmetic.md says.
//
//   gradient [elements] fp32   parameter, square_avg, momentum_buffer [elements] M, in place; v and b read as stored
//
// One thread an element, grid-stride. No sums.
namespace tally::rmsprop_kernel {
namespace {

template <class M>
__global__ void step(RmspropArguments a) {
  M *parameter = static_cast<M*>(a.parameter), *square = static_cast<M*>(a.square_avg),
    *buffer = static_cast<M*>(a.momentum_buffer);
  for (std::int64_t i = first_element(); i < a.elements; i += element_stride()) {
    const float g = a.gradient[i];
    square[i] = from_float<M>(
        __fadd_rn(__fmul_rn(a.alpha, to_float(square[i])), __fmul_rn(a.one_minus_alpha, __fmul_rn(g, g))));
    float direction = __fdiv_rn(g, __fadd_rn(__fsqrt_rn(to_float(square[i])), a.eps));
    if (buffer != nullptr) {
      buffer[i] = from_float<M>(__fadd_rn(__fmul_rn(a.mu, to_float(buffer[i])), direction));
      direction = to_float(buffer[i]);
    }
    parameter[i] = from_float<M>(__fsub_rn(to_float(parameter[i]), __fmul_rn(a.rate, direction)));
  }
}

void rmsprop(Stream& stream, const RmspropArguments& a) {
  by_storage(a.format, [&]<class M>(M) { launch_elements<step<M>>(stream, a.elements, RmspropArguments(a)); });
}

const RegisterKernel registered("rmsprop", {.variant = "grid_stride", .as_written = true}, rmsprop);

}  // namespace
}  // namespace tally::rmsprop_kernel
