// What a run takes: the time of each kernel operation, and the device's memory.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <map>
#include <string>
#include <string_view>
#include <type_traits>
#include <vector>

#include "kernels/device/device.hpp"
#include "kernels/device/launch_paths.hpp"
#include "kernels/training_step/run/run.hpp"

namespace tally {

// How long each kernel operation takes: by its processor time on the host executor, by the clock around a synchronised
// stream on CUDA.

/// While it lives, the operations that this thread runs are timed. Clocks do not nest; without one, a lap costs
/// nothing. Asking the system for processor time takes longer than a small kernel: of an operation that runs more than
/// `all_timed` times, one call in `one_in` is timed, for all of these.
class KernelClock {
  struct Timed {
    double seconds = 0;
    std::uint64_t calls = 0;
  };

 public:
  KernelClock();
  ~KernelClock();
  KernelClock(const KernelClock&) = delete;
  KernelClock& operator=(const KernelClock&) = delete;

  static constexpr std::uint64_t all_timed = 256, one_in = 16;

  /// In seconds, over all calls so far.
  std::map<std::string, double> seconds() const;

  /// One call of an operation.
  class Lap {
   public:
    Lap(Stream& stream, std::string_view operation);
    ~Lap();
    Lap(const Lap&) = delete;
    Lap& operator=(const Lap&) = delete;

   private:
    double now() const;
    Stream& stream_;
    Timed* timed_ = nullptr;  // where it is counted; nullptr: this call is not timed
    double from_ = 0;
  };

 private:
  std::map<std::string, Timed, std::less<>> operations_;
};

/// The kernel's call as a lap, its launches' ways noted as the kernel's.
template <class Arguments>
void timed(std::string_view operation, void (*kernel)(Stream&, const Arguments&), Stream& stream,
           const std::type_identity_t<Arguments>& arguments) {
  const KernelClock::Lap lap(stream, operation);
  const LaunchCall call(reinterpret_cast<void (*)()>(kernel));
  kernel(stream, arguments);
}

// The device memory a run takes, counted buffer by buffer.

/// What a buffer of the training step is for, from its name:
/// "data" (the batch, its targets, weights and masks), "parameters" (master and running values), "storage copies" (of
/// the parameters), "gradients" (of a micro-batch, accumulated with its compensation, unscaled), "optimizer state",
/// "activations" (outputs, their gradients, statistics that backward needs, losses), "workspace" (scalars and partial
/// sums), "host memory" (all that steps where the step is offloaded); of a stage of a pipeline "kept activations" (of
/// micro-batches that are still to go back), "received activations" (of those, from the part before) and "received
/// gradients". "unknown" for any other name.
std::string memory_kind(const std::string& buffer_name);

struct MemoryUse {
  std::size_t peak = 0;                      // of everything at once; 0 of one rank among several
  std::map<std::string, std::size_t> kinds;  // each kind's own peak; kinds that took nothing are left out
  std::size_t of(const std::string& kind) const;
};

/// Runs the case (without taps) and counts. The device must be idle. cuBLAS's workspace, the same for every case, is
/// not counted. Throws what run() throws.
MemoryUse memory_of(const Case& c, RunOptions options);
/// The same of each rank, or stage of a pipeline, where several train in this process.
std::vector<MemoryUse> memory_of_ranks(const Case& c, RunOptions options);

}  // namespace tally
