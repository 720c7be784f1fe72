// ReLU: x > 0 ? x : 0, (relu.1), NaN passed on, and x > 0 ? dy : 0, (relu.2). Exact: a bit of S is passed on or is 0.
#include "kernels/activation/activation.hpp"

namespace tally::relu_kernel {
namespace {

struct Relu {
  template <class S>
  __device__ static S forward(S x) {
    return to_float(x) <= 0.0f ? from_float<S>(0.0f) : x;
  }
  template <class S>
  __device__ static S backward(S x, S dy) {
    return to_float(x) > 0.0f ? dy : from_float<S>(0.0f);
  }
};

const RegisterActivation<Relu> registered("relu", {.variant = "grid_stride"});

}  // namespace
}  // namespace tally::relu_kernel
