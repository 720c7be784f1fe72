#include <array>

#include "kernels/device/kernel_registry.hpp"
#include "kernels/device/probes.hpp"
#include "kernels/device/probes/atomic_add.hpp"

namespace tally {

AtomicTraits probe_atomics(Device& on) {
  constexpr float subnormal = 0x1p-130f;
  Stream stream(on);
  const Buffer sums(on, "sums", Dtype::fp32, 2);
  kernel<AtomicAddArguments>("probe.atomic_add", on.kind())(stream, {subnormal, static_cast<float*>(sums.data())});
  stream.synchronize();
  std::array<float, 2> found{};
  on.read(sums.data(), found.data(), sizeof found);
  return {.global_keeps = found[1] == subnormal, .shared_keeps = found[0] == subnormal};
}

}  // namespace tally
