// y = x[begin .. end), (slice.1), and dx, (slice.2), which is 0 outside of it: copies.
//
//   part [rows, width] S   whole [rows, features] S
//
// One thread an element of what is written, grid-stride. No sums.
#include "kernels/device/kernel_registry.hpp"
#include "kernels/elementwise.hpp"
#include "kernels/slice/slice_arguments.hpp"

namespace tally::slice_kernel {
namespace {

template <class S>
__global__ void take_out(const S* whole, S* part, std::int64_t elements, std::int64_t features, std::int64_t begin,
                         std::int64_t width) {
  for (std::int64_t i = first_element(); i < elements; i += element_stride())
    part[i] = whole[i / width * features + begin + i % width];
}

template <class S>
__global__ void put_back(const S* part, S* whole, std::int64_t elements, std::int64_t features, std::int64_t begin,
                         std::int64_t width) {
  for (std::int64_t i = first_element(); i < elements; i += element_stride()) {
    const std::int64_t column = i % features - begin;
    whole[i] = column >= 0 && column < width ? part[i / features * width + column] : from_float<S>(0.0f);
  }
}

void forward(Stream& stream, const SliceArguments& a) {
  by_storage(a.storage, [&]<class S>(S) {
    launch_elements<take_out<S>>(stream, a.rows * a.width, static_cast<const S*>(a.from), static_cast<S*>(a.to),
                                 a.rows * a.width, a.features, a.begin, a.width);
  });
}

void backward(Stream& stream, const SliceArguments& a) {
  by_storage(a.storage, [&]<class S>(S) {
    launch_elements<put_back<S>>(stream, a.rows * a.features, static_cast<const S*>(a.from), static_cast<S*>(a.to),
                                 a.rows * a.features, a.features, a.begin, a.width);
  });
}

const RegisterKernel registered_forward("slice.forward", {.variant = "grid_stride", .as_written = true}, forward);
const RegisterKernel registered_backward("slice.backward", {.variant = "grid_stride", .as_written = true}, backward);

}  // namespace
}  // namespace tally::slice_kernel
