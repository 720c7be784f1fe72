#include <map>
#include <utility>

#include "properties/faults/planted_between.hpp"

namespace tally {
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

}  // namespace tally
