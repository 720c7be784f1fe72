// Right and wrong: kernels and products on two streams that hand memory on, by events.
#include "kernels/device/gemm/blas.hpp"
#include "kernels/device/kernel_registry.hpp"
#include "kernels/elementwise.hpp"
#include "tests/kernels/checker/device_faults.hpp"

namespace tally::stream_faults {
namespace {

constexpr unsigned threads = 64;

__global__ void doubled(const float* in, float* out, std::int64_t elements) {
  const std::int64_t i = first_element();
  if (i < elements) out[i] = __fmul_rn(2.0f, in[i]);
}

__global__ void add_one(float* out, std::int64_t elements) {
  const std::int64_t i = first_element();
  if (i < elements) out[i] = __fadd_rn(out[i], 1.0f);
}

__global__ void count_up(unsigned* counters, std::int64_t elements) {
  const std::int64_t i = first_element();
  if (i < elements) ++counters[i];
}

__global__ void copy_counters(const unsigned* counters, float* out, std::int64_t elements) {
  const std::int64_t i = first_element();
  if (i < elements) out[i] = static_cast<float>(counters[i]);
}

LaunchShape shape_for(const DeviceFaultArguments& a) {
  return {static_cast<unsigned>((a.elements + threads - 1) / threads), threads};
}

/// out = 2 in + 1: a second stream doubles, the first adds one once that is done.
template <bool right>
void hand_over(Stream& stream, const DeviceFaultArguments& a) {
  Stream second(stream.device());
  Event done(stream.device());
  launch<doubled>(second, shape_for(a), a.in, a.out, a.elements);
  done.record(second);
  if (right) done.wait(stream);
  launch<add_one>(stream, shape_for(a), a.out, a.elements);
}

/// out = 1: a second stream reads the counters when they were counted up once; then they are used again.
template <bool right>
void use_again(Stream& stream, const DeviceFaultArguments& a) {
  Stream second(stream.device());
  Event counted(stream.device()), read(stream.device());
  launch<count_up>(stream, shape_for(a), a.counters, a.elements);
  counted.record(stream);
  counted.wait(second);
  launch<copy_counters>(second, shape_for(a), a.counters, a.out, a.elements);
  read.record(second);
  if (right) read.wait(stream);
  launch<count_up>(stream, shape_for(a), a.counters, a.elements);
}

/// a [elements, 1] times the 1 that in[1] is, so out = a.
void multiply_by_one(Stream& stream, const float* a, const DeviceFaultArguments& to, std::int64_t elements) {
  gemm(stream, {.m = elements, .n = 1, .k = 1, .a = a, .b = to.in + 1, .c = to.out});
}

/// out = in + 1: a second stream multiplies, the first adds one once that is done.
template <bool right>
void product_on_other(Stream& stream, const DeviceFaultArguments& a) {
  Stream second(stream.device());
  Event done(stream.device());
  multiply_by_one(second, a.in, a, a.elements);
  done.record(second);
  if (right) done.wait(stream);
  launch<add_one>(stream, shape_for(a), a.out, a.elements);
}

/// out = in.
template <bool right>
void product_too_long(Stream& stream, const DeviceFaultArguments& a) {
  multiply_by_one(stream, a.in, a, right ? a.elements : a.elements + 1);
}

const RegisterKernel registered_faults[] = {
    {"device_fault.hand_over", {.variant = "right"}, hand_over<true>},
    {"device_fault.hand_over", {.variant = "~wrong"}, hand_over<false>},
    {"device_fault.use_again", {.variant = "right"}, use_again<true>},
    {"device_fault.use_again", {.variant = "~wrong"}, use_again<false>},
    {"device_fault.product_on_other", {.variant = "right"}, product_on_other<true>},
    {"device_fault.product_on_other", {.variant = "~wrong"}, product_on_other<false>},
    {"device_fault.product_too_long", {.variant = "right"}, product_too_long<true>},
    {"device_fault.product_too_long", {.variant = "~wrong"}, product_too_long<false>},
};

}  // namespace
}  // namespace tally::stream_faults
