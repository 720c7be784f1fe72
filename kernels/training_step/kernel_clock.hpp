// How long each kernel operation takes: by its processor time on the host executor, by the clock around a synchronised
// stream on CUDA.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <string>
#include <string_view>
#include <type_traits>

#include "kernels/device/device.hpp"
#include "kernels/device/launch_paths.hpp"

namespace tally {

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

}  // namespace tally
