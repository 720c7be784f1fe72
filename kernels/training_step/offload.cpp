#include "kernels/training_step/offload.hpp"

#include <utility>

#include "kernels/training_step/stages.hpp"
#include "oracle/case/ranks.hpp"

namespace tally {
namespace {

/// All bits, through memory of this program: the two may live on other devices.
void copy(const DeviceTensor& from, const Run& to_run, const DeviceTensor& to) {
  const Tensor bits = from.read();
  to_run.device.write(to.data(), bits.bytes.data(), bits.bytes.size());
}

/// Where the loop stands, for the stages of a window's end.
void hand_over_place(const Run& run, Run& host) {
  host.window = run.window;
  host.micro_batch = run.micro_batch;
  host.step = run.step;
  host.window_items = run.window_items;
  host.own_items = run.own_items;
  host.busy_ranks = run.busy_ranks;
  host.window_scale = run.window_scale;
  host.learning_rate = run.learning_rate;
  host.found = run.found;
  host.scale.set_scalar(run.scale.scalar<float>());
  host.inverse_scale.set_scalar(run.inverse_scale.scalar<float>());
  host.found_flag.set_scalar(run.found_flag.scalar<std::uint32_t>());
}

}  // namespace

ExecutorKind step_executor(ExecutorKind of_the_run) {
  return of_the_run == ExecutorKind::cuda ? ExecutorKind::host : of_the_run;
}

Device& step_device(const Run& run) {
  return offloads(run.c) ? device(step_executor(run.options.executor)) : run.device;
}

std::string step_name(const Case& c, const std::string& name) { return offloads(c) ? "host's " + name : name; }

RunOptions options_on_host(RunOptions options) {
  options.executor = step_executor(options.executor);
  options.recorded = nullptr;
  return options;
}

Parameter offloaded(Run& host, Parameter& whole) {
  Parameter own;
  own.name = whole.name;
  own.elements = whole.elements;
  own.decays = whole.decays;
  own.master = DeviceTensor(host.device, step_name(host.c, whole.name), whole.master.read());
  own.buffer = DeviceTensor(host.device, step_name(host.c, "buffer of " + whole.name), host.c.precision.accumulate,
                            whole.master.shape);
  own.unscaled = std::move(whole.unscaled);
  own.state = std::move(whole.state);
  return own;
}

const std::deque<Parameter>& stepped_parameters(const Run& run) {
  if (run.host != nullptr) return run.host->parameters;
  return run.pieces.empty() ? run.parameters : run.shards;
}

StepSide::StepSide(Run& run) : whole_(run) {
  if (run.host == nullptr) return;
  hand_over_place(run, *run.host);
  run.host->launched = &launched_;
  std::swap(run.trace, run.host->trace);
  run.stages.copy_down(run);
}

StepSide::~StepSide() {
  if (whole_.host == nullptr) return;
  whole_.host->launched = nullptr;
  std::swap(whole_.trace, whole_.host->trace);
}

void StepSide::hand_back() {
  if (whole_.host == nullptr) return;
  const Run& host = *whole_.host;
  for (const std::string& operation : launched_)
    whole_.host->trace.claims.kernels[operation] = host.kernels.claim(operation);
  whole_.found = host.found;
  whole_.last_step_window = host.last_step_window;
  whole_.found_flag.set_scalar(host.found_flag.scalar<std::uint32_t>());
  if (!host.found) whole_.stages.copy_up(whole_);
}

Run& StepSide::run() const { return whole_.host == nullptr ? whole_ : *whole_.host; }

namespace stage {

void copy_down(Run& run) {
  run.stream.synchronize();
  for (std::size_t i = 0; i < run.parameters.size(); ++i)
    copy(run.parameters[i].buffer, *run.host, run.host->parameters[i].buffer);
}

void copy_up(Run& run) {
  run.host->stream.synchronize();
  for (std::size_t i = 0; i < run.parameters.size(); ++i)
    copy(run.host->parameters[i].master, run, run.parameters[i].master);
}

}  // namespace stage
}  // namespace tally
