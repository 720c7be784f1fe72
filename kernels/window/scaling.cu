// Around the loss scale: parameters cast, gradients looked through and unscaled, the scale moved.
#include "kernels/device/kernel_registry.hpp"
#include "kernels/elementwise.hpp"
#include "kernels/window/arguments.hpp"

// copy = store S of the master value: the parameters as the kernels see them.
//
//   master [elements] M   copy [elements] S
//
// One thread an element, grid-stride. One rounding (none where S holds every number of M).
namespace tally::cast_kernel {
namespace {

template <class S, class M>
__global__ void convert(const M* master, S* copy, std::int64_t elements) {
  for (std::int64_t i = first_element(); i < elements; i += element_stride()) {
    copy[i] = from_float<S>(to_float(master[i]));
  }
}

void cast(Stream& stream, const CastArguments& a) {
  by_storages(a.storage, a.format, [&]<class S, class M>(S, M) {
    launch_elements<convert<S, M>>(stream, a.elements, static_cast<const M*>(a.master), static_cast<S*>(a.copy),
                                   a.elements);
  });
}

const RegisterKernel registered("cast", {.variant = "grid_stride"}, cast);

}  // namespace
}  // namespace tally::cast_kernel

// found |= 1 where any element is not finite. Exact.
//
//   values [elements] fp32 or S   found [] u32, only ever set
//
// One thread an element, grid-stride; a thread that saw one sets the flag by an integer atomic, so every
// order gives the same result.
namespace tally::overflow_check_kernel {
namespace {

template <class S>
__global__ void find_non_finite(const S* values, std::uint32_t* found, std::int64_t elements) {
  for (std::int64_t i = first_element(); i < elements; i += element_stride()) {
    if (!isfinite(to_float(values[i]))) atomicOr(found, 1u);
  }
}

void overflow_check(Stream& stream, const OverflowCheckArguments& a) {
  by_storage(a.format, [&]<class S>(S) {
    launch_elements<find_non_finite<S>>(stream, a.elements, static_cast<const S*>(a.values), a.found, a.elements);
  });
}

const RegisterKernel registered("overflow_check", {.variant = "atomic_or"}, overflow_check);

}  // namespace
}  // namespace tally::overflow_check_kernel

// The gradient without the loss scale: out = fl(in * fl(1/scale)), (scaler.1), or in itself where there is none; fp32.
//
//   in [elements] fp32 (the buffer) or S (a gradient written directly)   inverse_scale [] fp32   out [elements] fp32
//
// One thread an element, grid-stride. No sums.
namespace tally::unscale_kernel {
namespace {

template <class S>
__global__ void divide_out(const S* in, float* out, const float* inverse_scale, std::int64_t elements) {
  for (std::int64_t i = first_element(); i < elements; i += element_stride()) {
    out[i] = inverse_scale != nullptr ? __fmul_rn(to_float(in[i]), *inverse_scale) : to_float(in[i]);
  }
}

void unscale(Stream& stream, const UnscaleArguments& a) {
  by_storage(a.format, [&]<class S>(S) {
    launch_elements<divide_out<S>>(stream, a.elements, static_cast<const S*>(a.in), a.out, a.inverse_scale, a.elements);
  });
}

const RegisterKernel registered("unscale", {.variant = "grid_stride"}, unscale);

}  // namespace
}  // namespace tally::unscale_kernel

// The dynamic loss scale after a window, in fp32: it backs off after an overflow, (dynamic_loss_scale.1), and grows at
// the growth_interval-th clean window, (dynamic_loss_scale.2); any other is counted, (dynamic_loss_scale.3).
//
//   scale [] fp32, growth_counter [] i64, in place   found [] u32
//
// One thread.
namespace tally::scaler_kernel {
namespace {

__global__ void adjust(float* scale, std::int64_t* growth_counter, const std::uint32_t* found, float growth_factor,
                       float backoff_factor, std::int64_t growth_interval) {
  if (*found != 0) {
    *scale = __fmul_rn(*scale, backoff_factor);
    *growth_counter = 0;
  } else if (*growth_counter + 1 >= growth_interval) {
    *scale = __fmul_rn(*scale, growth_factor);
    *growth_counter = 0;
  } else {
    *growth_counter += 1;
  }
}

void scaler(Stream& stream, const ScalerArguments& a) {
  launch<adjust>(stream, {1, 1}, a.scale, a.growth_counter, a.found, a.growth_factor, a.backoff_factor,
                 a.growth_interval);
}

const RegisterKernel registered("scaler", {.variant = "one_thread"}, scaler);

}  // namespace
}  // namespace tally::scaler_kernel
