// y_a = a c - b s, y_b = b c + a s of every pair, (rotary.1), and back with -s, (rotary.2); what does not turn is
// copied. Two products and a sum, rounded as kernels/arithmetic.md says, store S. `table` keeps the products in fp32;
// `stored` stores them in S, as modules of a framework do.
//
//   x, y [rows, heads size] S   turns [rows, rotated] fp32
//
// One thread an element, grid-stride. No sums.
#include "kernels/device/kernel_registry.hpp"
#include "kernels/elementwise.hpp"
#include "kernels/layer_arguments.hpp"

namespace tally::rotary_kernel {
namespace {

/// What it takes of the shape.
struct Shape {
  std::int64_t features, size, rotated;
  bool interleaved, back;
};

template <class S, bool stores>
__global__ void turn(const S* x, S* y, const float* turns, std::int64_t elements, Shape shape) {
  const std::int64_t pairs = shape.rotated / 2;
  for (std::int64_t i = first_element(); i < elements; i += element_stride()) {
    const std::int64_t row = i / shape.features, place = i % shape.features % shape.size;
    if (place >= shape.rotated) {
      y[i] = x[i];
      continue;
    }
    const std::int64_t pair = shape.interleaved ? place / 2 : place % pairs;
    const bool is_first = shape.interleaved ? place % 2 == 0 : place < pairs;
    const std::int64_t apart = shape.interleaved ? 1 : pairs, other = is_first ? i + apart : i - apart;
    const float c = turns[row * shape.rotated + pair], s = turns[row * shape.rotated + pairs + pair];
    const float own = stored<S, stores>(__fmul_rn(to_float(x[i]), c)),
                across = stored<S, stores>(__fmul_rn(to_float(x[other]), s));
    y[i] = from_float<S>(is_first != shape.back ? __fsub_rn(own, across) : __fadd_rn(own, across));
  }
}

template <bool stores>
void rotary(Stream& stream, const RotaryArguments& a) {
  const std::int64_t features = a.heads * a.size, elements = a.rows * features;
  by_storage(a.storage, [&]<class S>(S) {
    launch_elements<turn<S, stores>>(stream, elements, static_cast<const S*>(a.x), static_cast<S*>(a.y), a.turns,
                                     elements, Shape{features, a.size, a.rotated, a.interleaved, a.back});
  });
}

KernelClaim claim(const char* variant) { return {.variant = variant, .algorithm = variant}; }

const RegisterKernel registered("rotary.forward", claim("table"), rotary<false>);
const RegisterKernel registered_backward("rotary.backward", claim("table"), rotary<false>);
const RegisterKernel registered_stored("rotary.forward", claim("stored"), rotary<true>, KernelUse::when_named);
const RegisterKernel registered_stored_backward("rotary.backward", claim("stored"), rotary<true>,
                                                KernelUse::when_named);

}  // namespace
}  // namespace tally::rotary_kernel
