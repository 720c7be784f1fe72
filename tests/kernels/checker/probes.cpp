#include "tests/kernels/checker/probes.hpp"

#include "kernels/device/executor/finding.hpp"
#include "kernels/device/kernel_registry.hpp"

namespace tally {

const std::vector<Probe>& probes() {
  static const std::vector<Probe> all{
      {"probe.block_sum", "missing barrier between write and read", "UNINITIALISED read of shared 'partial'"},
      {"probe.reverse_pieces", "missing barrier between read and write", "RACE (read after write) on shared 'piece'"},
      {"probe.warp_sum", "missing __syncwarp", "UNINITIALISED read of shared 'partial'"},
      {"probe.neighbour", "a vote in place of __syncwarp", "RACE (read after write) on shared 'handed'"},
      {"probe.half_neighbour", "missing __syncwarp, 16 bits", "UNINITIALISED read of shared 'handed'"},
      {"probe.grid_sum", "missing __threadfence", "RACE (read after write) on buffer 'out'"},
      {"probe.scatter", "`+=` in place of atomicAdd", "RACE (read after write) on buffer 'out'"},
      {"probe.histogram", "shared memory never written", "UNINITIALISED atomic of shared 'bins'"},
      {"probe.scale", "writes beyond the tail",
       "OUT OF BOUNDS write of 4 bytes of buffer 'out'+1000, which has 1000 bytes"},
      {"probe.differences", "index one too far", "OUT OF BOUNDS read of "},
  };
  return all;
}

ProbeRun run_probe(const Probe& probe, bool right, ExecutorKind executor, std::uint64_t schedule,
                   const std::vector<Preemption>* listed, std::vector<Preemption>* recorded) {
  Device& on = device(executor);
  constexpr auto elements = static_cast<std::size_t>(probe_elements);
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
  ProbeRun result;
  try {
    kernel<ProbeArguments>(probe.operation, executor, right ? "right" : "~wrong")(
        stream, {static_cast<const float*>(in.data()), static_cast<float*>(out.data()),
                 static_cast<unsigned*>(counters.data()), probe_elements});
    stream.synchronize();
  } catch (const ExecutorFinding& finding) {
    result.finding = finding.what();
  }
  if (result.finding.empty()) result.finding = on.check_guards();
  result.out.resize(elements);
  on.read(out.data(), result.out.data(), out.bytes());
  return result;
}

}  // namespace tally
