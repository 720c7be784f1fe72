// SGD as shipped, and behind it a race that shows in some orders of threads alone. It writes what already stands there:
// no number changes.
#include "kernels/device/kernel_registry.hpp"
#include "kernels/elementwise.hpp"
#include "kernels/window/arguments.hpp"

namespace tally::shy_race {
namespace {

/// Two threads write the first parameter without any order, where the later one drew its ticket first.
template <class M>
__global__ void race_of_tickets(M* parameter) {
  TALLY_SHARED(unsigned, tickets, 1);
  const unsigned t = threadIdx.x;
  if (t == 0) tickets[0] = 0;
  __syncthreads();
  if (t != 3 && t != 50) return;
  const M same = parameter[0];
  const unsigned ticket = atomicAdd(&tickets[0], 1u);
  if ((t == 50) == (ticket == 0)) parameter[0] = same;
}

void sgd(Stream& stream, const SgdArguments& a) {
  kernel<SgdArguments>("sgd", compiled_for)(stream, a);
  by_storage(a.format, [&]<class M>(M) { launch<race_of_tickets<M>>(stream, {1, 64}, static_cast<M*>(a.parameter)); });
}

const RegisterKernel registered_race("sgd", {.variant = "~shy-race"}, sgd);

}  // namespace
}  // namespace tally::shy_race
