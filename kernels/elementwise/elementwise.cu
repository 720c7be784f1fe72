// Layers of one kernel, element by element: sums, dropout, scales, slices.
#include "kernels/device/kernel_registry.hpp"
#include "kernels/elementwise.hpp"
#include "kernels/layer_arguments.hpp"

// The sum of two tensors, element by element: out = fl(a + b), store S. A sum of more tensors takes a call for each
// further one, so that every sum is stored. (add.1) of the layer, (add.3) of a gradient.
//
//   a, b, out [elements] S; out may be a or b
//
// One thread an element, grid-stride.
namespace tally::add_kernel {
namespace {

template <class S>
__global__ void add_elements(const S* a, const S* b, S* out, std::int64_t elements) {
  for (std::int64_t i = first_element(); i < elements; i += element_stride()) {
    out[i] = from_float<S>(__fadd_rn(to_float(a[i]), to_float(b[i])));
  }
}

void add(Stream& stream, const AddArguments& a) {
  by_storage(a.storage, [&]<class S>(S) {
    launch_elements<add_elements<S>>(stream, a.elements, static_cast<const S*>(a.a), static_cast<const S*>(a.b),
                                     static_cast<S*>(a.out), a.elements);
  });
}

const RegisterKernel registered_forward("add.forward", {.variant = "in_order", .as_written = true}, add);
const RegisterKernel registered_gradient("gradient.add", {.variant = "in_reverse", .as_written = true}, add);

}  // namespace
}  // namespace tally::add_kernel

// Dropout, (dropout.1) and (dropout.2) alike: out = mask ? fl(x * factor) : 0, store S. A dropped element is 0 whatever
// it held.
//
//   x, out [elements] S   mask [elements] u8
//
// One thread an element, grid-stride. No sums.
namespace tally::dropout_kernel {
namespace {

template <class S>
__global__ void drop(const S* x, const std::uint8_t* mask, S* out, std::int64_t elements, float factor) {
  for (std::int64_t i = first_element(); i < elements; i += element_stride()) {
    out[i] = from_float<S>(mask[i] != 0 ? __fmul_rn(to_float(x[i]), factor) : 0.0f);
  }
}

void dropout(Stream& stream, const DropoutArguments& a) {
  by_storage(a.storage, [&]<class S>(S) {
    launch_elements<drop<S>>(stream, a.elements, static_cast<const S*>(a.x), a.mask, static_cast<S*>(a.out), a.elements,
                             a.factor);
  });
}

const RegisterKernel registered_forward("dropout.forward", {.variant = "grid_stride", .as_written = true}, dropout);
const RegisterKernel registered_backward("dropout.backward", {.variant = "grid_stride", .as_written = true}, dropout);

}  // namespace
}  // namespace tally::dropout_kernel

// y = f x, (scale.1), and dx = f dy, (scale.2), alike: one product, store S.
//
//   x, out [elements] S
//
// One thread an element, grid-stride. No sums.
namespace tally::scale_kernel {
namespace {

template <class S>
__global__ void multiply(const S* x, S* out, std::int64_t elements, float factor) {
  for (std::int64_t i = first_element(); i < elements; i += element_stride())
    out[i] = from_float<S>(__fmul_rn(to_float(x[i]), factor));
}

void scale(Stream& stream, const ScaleArguments& a) {
  by_storage(a.storage, [&]<class S>(S) {
    launch_elements<multiply<S>>(stream, a.elements, static_cast<const S*>(a.x), static_cast<S*>(a.out), a.elements,
                                 a.factor);
  });
}

const RegisterKernel registered_forward("scale.forward", {.variant = "grid_stride", .as_written = true}, scale);
const RegisterKernel registered_backward("scale.backward", {.variant = "grid_stride", .as_written = true}, scale);

}  // namespace
}  // namespace tally::scale_kernel

// y = x[begin .. end), (slice.1), and dx, (slice.2), which is 0 outside of it: copies.
//
//   part [rows, width] S   whole [rows, features] S
//
// One thread an element of what is written, grid-stride. No sums.
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
