#include "tests/kernels/checker/device_faults.hpp"

#include <optional>

#include "kernels/device/executor/concurrent_streams.hpp"
#include "kernels/device/executor/launch.hpp"
#include "kernels/device/kernel_registry.hpp"

namespace tally {

const std::vector<DeviceFault>& device_faults() {
  static const std::vector<DeviceFault> all{
      {"device_fault.block_sum", "missing barrier between write and read", "UNINITIALISED read of shared 'partial'"},
      {"device_fault.reverse_pieces", "missing barrier between read and write",
       "RACE (read after write) on shared 'piece'"},
      {"device_fault.warp_sum", "missing __syncwarp", "UNINITIALISED read of shared 'partial'"},
      {"device_fault.neighbour", "a vote in place of __syncwarp", "RACE (read after write) on shared 'handed'"},
      {"device_fault.half_neighbour", "missing __syncwarp, 16 bits", "UNINITIALISED read of shared 'handed'"},
      {"device_fault.tile_others", "a tile's shuffle in place of its sync", "RACE (read after write) on shared 'left'"},
      {"device_fault.grid_sum", "missing __threadfence", "RACE (read after write) on buffer 'out'"},
      {"device_fault.add_earlier", "read of what another block writes", "RACE (read after write) on buffer 'out'+204"},
      {"device_fault.hand_over", "missing wait for an event, then a read", "RACE (write after write) on buffer 'out'",
       true},
      {"device_fault.use_again", "missing wait for an event, then a write",
       "RACE (read after write) on buffer 'counters'", true},
      {"device_fault.product_on_other", "missing wait for a product", "RACE (write after write) on buffer 'out'", true},
      {"device_fault.product_too_long", "a product longer than its operand",
       "OUT OF BOUNDS read of 4 bytes of buffer 'in'+1000, which has 1000 bytes"},
      {"device_fault.scatter", "`+=` in place of atomicAdd", "RACE (read after write) on buffer 'out'"},
      {"device_fault.histogram", "shared memory never written", "UNINITIALISED atomic of shared 'bins'"},
      {"device_fault.scale", "writes beyond the tail",
       "OUT OF BOUNDS write of 4 bytes of buffer 'out'+1000, which has 1000 bytes"},
      {"device_fault.differences", "index one too far", "OUT OF BOUNDS read of "},
      {"device_fault.half_fma", "half fma by way of fp32, rounded twice", ""},
  };
  return all;
}

DeviceFaultRun run_device_fault(const DeviceFault& fault, bool right, ExecutorKind executor, std::uint64_t schedule,
                                const std::vector<Preemption>* listed, std::vector<Preemption>* recorded) {
  Device& on = device(executor);
  constexpr auto elements = static_cast<std::size_t>(fault_elements);
  const Buffer in(on, "in", Dtype::fp32, elements), out(on, "out", Dtype::fp32, elements);
  const Buffer counters(on, "counters", Dtype::fp32, elements);
  std::vector<float> values(elements);
  for (std::size_t i = 0; i < elements; ++i) values[i] = static_cast<float>(i * i % 61);
  on.write(in.data(), values.data(), in.bytes());
  on.zero(counters.data(), counters.bytes());
  on.zero(out.data(), out.bytes());
  Stream stream(on);
  stream.set_schedule_seed(schedule);
  stream.set_schedule(listed);
  stream.record_schedule(recorded);
  DeviceFaultRun result;
  std::optional<executor::ConcurrentStreams> side_by_side;
  if (fault.streams) {
    side_by_side.emplace(executor::ScheduleSource{.seed = schedule, .listed = listed, .recorded = recorded});
  }
  try {
    kernel<DeviceFaultArguments>(fault.operation, executor, right ? "right" : "~wrong")(
        stream, {static_cast<const float*>(in.data()), static_cast<float*>(out.data()),
                 static_cast<unsigned*>(counters.data()), fault_elements});
    stream.synchronize();
    if (side_by_side) side_by_side->finish();
  } catch (const ExecutorFinding& finding) {
    result.finding = finding.what();
  }
  if (result.finding.empty()) result.finding = on.check_guards();
  result.out.resize(elements);
  on.read(out.data(), result.out.data(), out.bytes());
  return result;
}

}  // namespace tally
