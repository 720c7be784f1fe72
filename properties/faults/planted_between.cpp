// Stages between right and wrong, windows that step elsewhere, and another addition in accumulate.
#include "properties/faults/planted_between.hpp"

#include <bit>
#include <map>
#include <utility>

#include "kernels/training_step/stages.hpp"
#include "properties/faults/planted_change.hpp"

namespace tally {
namespace {

std::vector<Tensor> contents(Stream& stream, const std::vector<Written>& written) {
  stream.synchronize();
  std::vector<Tensor> all;
  for (const Written& each : written) {
    all.emplace_back(each.dtype, std::vector<std::int64_t>{each.elements});
    stream.device().read(each.address, all.back().bytes.data(), all.back().bytes.size());
  }
  return all;
}

void put_back(Stream& stream, const std::vector<Written>& written, const std::vector<Tensor>& contents) {
  for (std::size_t i = 0; i < written.size(); ++i) {
    stream.device().write(written[i].address, contents[i].bytes.data(), contents[i].bytes.size());
  }
}

}  // namespace

double mixed(Mix mix, std::size_t i, double right, double wrong) {
  if (mix == Mix::elements) return hits(i) ? wrong : right;
  return blend(right, wrong);
}

Tensor mixed(Mix mix, const Tensor& right, const Tensor& wrong) {
  Tensor result = right;
  for (std::size_t i = 0; i < right.elements(); ++i) {
    const double value = right.value(i), now = mixed(mix, i, value, wrong.value(i));
    const bool same = std::bit_cast<std::uint64_t>(value) == std::bit_cast<std::uint64_t>(now);
    if (!same) result.set(i, now);  // a NaN keeps its bits
  }
  return result;
}

void between(Stream& stream, const std::vector<Written>& written, const std::function<void()>& right,
             const std::function<void()>& wrong, Mix mix) {
  if (magnitude() == 1) return wrong();
  const std::vector<Tensor> before = contents(stream, written);
  right();
  std::vector<Tensor> left = contents(stream, written);
  put_back(stream, written, before);
  wrong();
  const std::vector<Tensor> wrongly = contents(stream, written);
  for (std::size_t i = 0; i < left.size(); ++i) left[i] = mixed(mix, left[i], wrongly[i]);
  put_back(stream, written, left);
}

namespace {

/// All that a stage from `cast` to `optimizer` may change in memory.
std::vector<Written> changeable(Run& run) {
  std::vector<Written> all;
  const auto add = [&](const DeviceTensor& tensor) {
    if (tensor) all.push_back({tensor.data(), tensor.dtype, static_cast<std::int64_t>(elements_of(tensor.shape))});
  };
  for (Parameter& p : run.parameters) {
    for (const DeviceTensor* tensor : {&p.master, &p.copy, &p.gradient, &p.buffer, &p.unscaled}) add(*tensor);
    for (const KeptState& kept : p.state) add(kept.tensor);
  }
  for (LayerState& layer : run.layers) add(layer.running_mean), add(layer.running_var);
  return all;
}

/// And on the host.
struct Numbers {
  struct OfParameter {
    bool decays;
    std::vector<bool> started;  // of its state
  };
  std::vector<OfParameter> parameters;
  std::int64_t step;
  int last_step_window;

  explicit Numbers(const Run& run) : step(run.step), last_step_window(run.last_step_window) {
    for (const Parameter& each : run.parameters) {
      parameters.push_back({each.decays, {}});
      for (const KeptState& kept : each.state) parameters.back().started.push_back(kept.started);
    }
  }
  void put_back(Run& run) const {
    run.step = step;
    run.last_step_window = last_step_window;
    std::size_t next = 0;
    for (Parameter& each : run.parameters) {
      const OfParameter& was = parameters[next++];
      each.decays = was.decays;
      for (std::size_t i = 0; i < each.state.size(); ++i) each.state[i].started = was.started[i];
    }
  }
};

bool is_input(const Tap& tap) { return tap.name.tensor.starts_with("in."); }

/// Outputs that both tapped, mixed.
void tap_between(Trace& right, const Trace& wrong) {
  for (const Tap& tap : wrong.taps()) {
    const Tensor* value = is_input(tap) ? nullptr : right.find(tap.name.view());
    if (value != nullptr) right.add(tap.name, mixed(Mix::values, *value, tap.value));
  }
}

}  // namespace

void run_between(Run& run, Stage right, Stage wrong) {
  if (magnitude() == 1) return wrong(run);
  const Numbers before(run);
  Numbers after = before;
  Trace kept;
  const auto rightly = [&] {
    right(run);
    after = Numbers(run);
    before.put_back(run);
    kept = std::exchange(run.trace, Trace{});
  };
  between(run.stream, changeable(run), rightly, [&] { wrong(run); });
  after.put_back(run);
  const Trace made = std::exchange(run.trace, std::move(kept));
  tap_between(run.trace, made);
}

namespace {

void run_micro_batch(Run& run, int k) {
  run.group_begin = k;
  run.group_end = k + 1;
  run.stages.forward(run);
  run.stages.running_stats(run);
  run.micro_batch = k;
  run.stages.factor(run);
  run.stages.loss(run);
  run.micro_batch = -1;
  run.stages.backward(run);
  run.micro_batch = k;
  run.stages.accumulate(run);
  run.micro_batch = -1;
}

void take_step(Run& run) {
  const Recipe& recipe = run.c.recipe;
  const bool dynamic = recipe.loss_scale.kind == "dynamic";
  if (dynamic) run.stages.overflow_check(run);
  if (!run.found) {
    run.stages.unscale(run);
    if (recipe.clip.kind == "global_norm") run.stages.norm(run);
    if (recipe.clip.kind != "none") run.stages.clip(run);
    if (recipe.weight_decay.kind != "none") run.stages.decay(run);
    run.stages.optimizer(run);
  }
  if (dynamic) run.stages.scaler(run);
  run.stages.schedule(run);
  for (Parameter& parameter : run.parameters) parameter.buffer.zero();
}

}  // namespace

void run_window_stepping(Run& run, StepsAfter steps_after) {
  if (run.lockstep || !run.options.accumulate) return stage::run_window(run);
  if (run.window == 0) {
    for (Parameter& parameter : run.parameters) parameter.buffer.zero();
  }
  run.stages.learning_rate(run);
  run.stages.cast(run);
  run.found = false;
  run.found_flag.zero();
  run.window_scale = run.scale.scalar<float>();
  run.inverse_scale.set_scalar(static_cast<float>(1.0 / static_cast<double>(run.window_scale)));
  run.window_items = 0;
  const int count = micro_batches(run);
  for (int k = 0; k < count; ++k) run.window_items += run.items(k);
  for (int k = 0; k < count; ++k) {
    run_micro_batch(run, k);
    if (steps_after(run, k)) take_step(run);
  }
  run.stages.end_window(run);
}

void accumulate_by(Run& run, const std::function<double(double buffer, double gradient)>& sum, Mix mix) {
  std::vector<Tensor> before;
  for (Parameter& parameter : run.parameters) before.push_back(parameter.buffer.read());
  stage::accumulate(run);
  std::size_t next = 0;
  for (Parameter& parameter : run.parameters) {
    const void* address = run.gradient_of(&parameter, run.micro_batch);
    const Tensor gradient = read(run, address, parameter.gradient.dtype, {parameter.elements});
    const Tensor& old = before[next++];
    change(run, parameter.buffer,
           [&](std::size_t i, double right) { return mixed(mix, i, right, sum(old.value(i), gradient.value(i))); });
    run.tap("accumulate", "buffer." + parameter.name, parameter.buffer);
  }
}

}  // namespace tally
