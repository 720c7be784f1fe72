// softsign: with d = fl(1 + |x|), (softsign.1) is fl(x / d) and (softsign.2), from x, fl(fl(dy / d) / d); store S.
#include "kernels/activation/activation.hpp"

namespace tally::softsign_kernel {
namespace {

struct Softsign {
  __device__ static float divisor(float x) { return __fadd_rn(1.0f, x < 0.0f ? -x : x); }
  __device__ static float forward(float x) { return __fdiv_rn(x, divisor(x)); }
  __device__ static float backward(float x, float dy) {
    const float d = divisor(x);
    return __fdiv_rn(__fdiv_rn(dy, d), d);
  }
};

const RegisterActivation<InFloat<Softsign>> registered("softsign", {.variant = "grid_stride"});

}  // namespace
}  // namespace tally::softsign_kernel
