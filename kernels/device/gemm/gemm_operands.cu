// A product's reads and writes as the checker sees them: the host's GEMM is compiled without hooks, so a kernel that
// touches the same memory goes before it.
#ifdef TALLY_CHECKED

#include <algorithm>
#include <type_traits>

#include "kernels/device/gemm/gemm_backends.hpp"
#include "kernels/elementwise.hpp"

namespace tally {
namespace {

/// One line of memory holds so many fp32 numbers: no buffer and no guard zone is stepped over.
constexpr std::int64_t line = 32;

/// An unsigned integer as wide as the format.
template <class S>
using BitsOf =
    std::conditional_t<sizeof(S) == 4, std::uint32_t, std::conditional_t<sizeof(S) == 2, std::uint16_t, std::uint8_t>>;

/// Every `step`th number, and the last. Bits are as wide as the format; what is read tells the hooks and nobody else.
template <class Use>
__device__ void for_each_touched(std::int64_t elements, std::int64_t step, Use use) {
  for (std::int64_t i = first_element() * step; i < elements; i += element_stride() * step) use(i);
  const bool last_is_left = elements > 0 && (elements - 1) % step != 0;
  if (first_element() == 0 && last_is_left) use(elements - 1);
}

template <class Bits>
__device__ void read(const void* from, std::int64_t elements, std::int64_t step) {
  const auto* first = static_cast<const volatile Bits*>(from);
  for_each_touched(elements, step, [&](std::int64_t i) { [[maybe_unused]] const Bits bits = first[i]; });
}

template <class Bits>
__device__ void write(void* to, std::int64_t elements, std::int64_t step, bool keep) {
  auto* first = static_cast<volatile Bits*>(to);
  for_each_touched(elements, step, [&](std::int64_t i) { first[i] = keep ? first[i] : Bits{}; });
}

template <class Operand, class Result>
__global__ void touch(GemmCall call, std::int64_t step) {
  read<Operand>(call.a, call.m * call.k, step);
  read<Operand>(call.b, call.k * call.n, step);
  write<Result>(call.c, call.m * call.n, step, call.beta == 1);
}

template <class Operand, class Result>
void touch_on(Stream& stream, const GemmCall& call, std::source_location at) {
  // Without other streams every launch before comes before this one: only where memory ends is to be seen.
  const std::int64_t step = executor::pending_work != nullptr ? 1 : line;
  const std::int64_t most = std::max({call.m * call.k, call.k * call.n, call.m * call.n});
  using Loop = KernelLoop<touch<Operand, Result>>;
  // No choices: a case's schedule counts its kernels' launches alone.
  executor::submit(stream.handle(),
                   {.blocks = 1,
                    .threads = static_cast<unsigned>(std::clamp<std::int64_t>(most / step, 1, 256)),
                    .checked = true,
                    .kernel = "gemm",
                    .at = at,
                    .run_threads = Loop::run_threads},
                   typename Loop::Tuple{call, step});
}

}  // namespace

void check_operands(Stream& stream, const GemmCall& call, std::source_location at) {
  with_type_of(call.operands, [&]<class A>(A) {
    with_type_of(call.result, [&]<class C>(C) { touch_on<BitsOf<A>, BitsOf<C>>(stream, call, at); });
  });
}

}  // namespace tally

#endif
