// Launching a kernel, on the host executor or on CUDA, with one text:
//
//   launch<forward<S>>(stream, {blocks, threads}, x, y, elements);          the kernel as template argument
//   launch(stream, {blocks, threads, shared_bytes}, forward<S>, x, y, elements);    or as an argument
//
// The first form lets the host compiler put the kernel into the loop over threads. Arguments convert to the kernel's
// parameters. A launch is asynchronous on CUDA, and on the host beside other streams
// (kernels/device/executor/concurrent_streams.hpp); its faults show at Stream::synchronize.
#pragma once

#include <cstddef>
#include <source_location>
#include <tuple>
#include <utility>

#include "kernels/device/cuda_words.hpp"
#include "kernels/device/device.hpp"
#include "kernels/device/launch_paths.hpp"
#ifdef __CUDACC__
#include "kernels/device/cuda/check.hpp"
#else
#include "kernels/device/executor/block.hpp"
#include "kernels/device/executor/concurrent_streams.hpp"
#endif

namespace tally {
inline namespace TALLY_SIDE {

/// The executor that this translation unit's kernels run on.
#ifdef __CUDACC__
inline constexpr ExecutorKind compiled_for = ExecutorKind::cuda;
#elif defined(TALLY_CHECKED)
inline constexpr ExecutorKind compiled_for = ExecutorKind::checked;
#else
inline constexpr ExecutorKind compiled_for = ExecutorKind::host;
#endif

struct LaunchShape {
  dim3 blocks, threads;
  std::size_t shared_bytes;
  std::source_location at;
  LaunchShape(dim3 block_count, dim3 thread_count, std::size_t dynamic_shared_bytes = 0,
              std::source_location call_site = std::source_location::current())
      : blocks(block_count), threads(thread_count), shared_bytes(dynamic_shared_bytes), at(call_site) {}
};

#ifdef __CUDACC__

/// Throws CudaError naming the call site when the launch is refused.
template <class... Parameters>
void launch(Stream& stream, const LaunchShape& shape, void (*kernel)(Parameters...),
            std::type_identity_t<Parameters>... arguments) {
  if (declaring_paths()) return;
  constexpr std::size_t always_granted = 48 * 1024;
  if (shape.shared_bytes > always_granted) {
    check_cuda(cudaFuncSetAttribute(reinterpret_cast<const void*>(kernel), cudaFuncAttributeMaxDynamicSharedMemorySize,
                                    static_cast<int>(shape.shared_bytes)),
               shape.at);
  }
  kernel<<<shape.blocks, shape.threads, shape.shared_bytes, static_cast<cudaStream_t>(stream.handle())>>>(arguments...);
  check_cuda(cudaPeekAtLastError(), shape.at);
}

template <auto kernel, class... Arguments>
void launch(Stream& stream, const LaunchShape& shape, Arguments&&... arguments) {
  launch(stream, shape, kernel, std::forward<Arguments>(arguments)...);
}

#else

inline constexpr bool is_checked = compiled_for == ExecutorKind::checked;

inline executor::Launch host_launch(Stream& stream, const LaunchShape& shape, const char* name,
                                    void (*run_threads)(const void*)) {
  return {.blocks = shape.blocks,
          .threads = shape.threads,
          .shared_bytes = shape.shared_bytes,
          .schedule = stream.next_schedule(),
          .checked = compiled_for == ExecutorKind::checked,
          .kernel = name,
          .at = shape.at,
          .run_threads = run_threads};
}

/// Throws ExecutorFinding when the kernel breaks a rule of the machine, std::invalid_argument for an impossible shape.
template <class... Parameters>
void launch(Stream& stream, const LaunchShape& shape, void (*kernel)(Parameters...),
            std::type_identity_t<Parameters>... arguments) {
  if (declaring_paths()) return;
  using Call = std::tuple<void (*)(Parameters...), Parameters...>;
  const Call call(kernel, arguments...);
  const auto run_threads = [](const void* address) {
    const Call& it = *static_cast<const Call*>(address);
    executor::run_threads_of_launch<is_checked>([&it]() TALLY_NOT_OBSERVED {
      std::apply([](auto* function, const Parameters&... values) { function(values...); }, it);
    });
  };
  executor::submit(stream.handle(), host_launch(stream, shape, "", run_threads), call);
}

template <auto kernel>
struct KernelLoop;

template <class... Parameters, void (*kernel)(Parameters...)>
struct KernelLoop<kernel> {
  using Tuple = std::tuple<Parameters...>;
  static const char* name() { return __PRETTY_FUNCTION__; }
  static void run_threads(const void* address) {
    const Tuple arguments = *static_cast<const Tuple*>(address);
    const auto call = [](const Parameters&... values) TALLY_NOT_OBSERVED { kernel(values...); };
    executor::run_threads_of_launch<is_checked>([&]() TALLY_NOT_OBSERVED { std::apply(call, arguments); });
  }
};

template <auto kernel, class... Arguments>
void launch(Stream& stream, const LaunchShape& shape, Arguments&&... arguments) {
  if (declaring_paths()) return;
  using Loop = KernelLoop<kernel>;
  const typename Loop::Tuple converted{std::forward<Arguments>(arguments)...};
  executor::submit(stream.handle(), host_launch(stream, shape, Loop::name(), Loop::run_threads), converted);
}

#endif

}  // namespace TALLY_SIDE
}  // namespace tally
