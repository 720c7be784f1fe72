#include "kernels/training_step/run/captured_run.hpp"

#include <map>
#include <stdexcept>
#include <utility>

#include "kernels/device/launch_paths.hpp"
#include "kernels/training_step/run/own_step.hpp"
#include "kernels/training_step/run/run_state.hpp"
#include "kernels/training_step/stages.hpp"
#include "oracle/case/contract.hpp"
#include "oracle/case/ranks.hpp"
#include "oracle/case/sizes.hpp"

namespace tally {
namespace {

RunOptions without_taps(RunOptions options) {
  options.taps = false;
  options.follow = nullptr;
  return options;
}

/// Libraries take memory at their first product, which is no work of a stream and cannot be captured.
void warm_up(const Case& c, const RunOptions& options) {
  if (options.executor == ExecutorKind::cuda) run(c, options);
}

const Case& capturable(const Case& c, const RunOptions& options) {
  require_tallys_kernels(options, "a captured window");
  require_supported(c, options);
  if (in_ranks(c)) throw NotSupported("the case has ranks; a captured run takes one alone");
  if (c.windows.size() != 1)
    throw NotSupported("the case has " + std::to_string(c.windows.size()) + " windows; a captured run takes one");
  if (checks_overflow(c.recipe.loss_scale))
    throw NotSupported("recipe.loss_scale is " + c.recipe.loss_scale.kind +
                       "; a captured run takes one that skips no window");
  warm_up(c, without_taps(options));
  return c;
}

}  // namespace

struct CapturedRun::State {
  struct Begin {
    const DeviceTensor* tensor;
    Tensor value;
  };

  Case c;
  Run run;
  Trace untapped;
  std::map<std::string, Begin> begins;  // by the tensor's name in the case
  std::unique_ptr<CapturedWork> work;

  State(const Case& the_case, const RunOptions& options)
      : c(capturable(the_case, options)),
        run(c, without_taps(options), options.stages != nullptr ? *options.stages : shipped_stages()) {
    keep(input_tensor(c.model), run.x);
    keep("target", run.target);
    for (const Parameter& each : run.parameters) {
      keep(each.name, each.master);
      for (const KeptState& kept : each.state) keep(kept.of->name + "." + each.name, kept.tensor);
    }
    for (const LayerState& layer : run.layers) {
      keep(layer.label + ".running_mean", layer.running_mean);
      keep(layer.label + ".running_var", layer.running_var);
    }
    const GridLimit limit(most_blocks_of(c));
    work = std::make_unique<CapturedWork>(run.stream, [this] { run.stages.window(run); });
    untapped = run.trace;
  }

  void keep(const std::string& name, const DeviceTensor& tensor) {
    if (tensor) begins.emplace(name, Begin{&tensor, tensor.read()});
  }
};

CapturedRun::CapturedRun(const Case& c, const RunOptions& options) : state_(std::make_unique<State>(c, options)) {}
CapturedRun::~CapturedRun() = default;

void CapturedRun::set(const std::string& name, const Tensor& value) {
  const auto place = state_->begins.find(name);
  if (place == state_->begins.end()) throw std::invalid_argument("the captured run has no tensor '" + name + "'");
  Tensor& begin = place->second.value;
  if (begin.dtype != value.dtype || begin.shape != value.shape)
    throw std::invalid_argument("tensor '" + name + "' has another format or shape than the captured run's");
  begin = value;
}

Trace CapturedRun::replay() {
  Run& run = state_->run;
  for (const auto& [name, begin] : state_->begins)
    run.device.write(begin.tensor->data(), begin.value.bytes.data(), begin.value.bytes.size());
  state_->work->launch(run.stream);
  run.trace = state_->untapped;
  record_final_state(run);
  return std::move(run.trace);
}

}  // namespace tally
