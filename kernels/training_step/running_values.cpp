#include "kernels/training_step/running_values.hpp"

#include "kernels/ranks/link.hpp"
#include "oracle/case/running_values.hpp"

namespace tally {
namespace {

constexpr int root = 0;

void hand_over(Run& run, const std::string& name, const DeviceTensor& values) {
  Link& link = *run.options.link;
  const std::string about = "w" + std::to_string(run.window) + "/broadcast, " + name;
  if (link.rank() == root) {
    run.tap("running_stats", "in.broadcast." + name, values);
    const Tensor own = values.read();
    for (int to = root + 1; to < link.size(); ++to) link.send(to, about, {own.bytes.data(), own.bytes.size()});
  } else {
    Tensor first(values.dtype, values.shape);
    link.receive(root, about, {first.bytes.data(), first.bytes.size()});
    run.device.write(values.data(), first.bytes.data(), first.bytes.size());
  }
  run.tap("running_stats", "broadcast." + name, values);
}

}  // namespace

void take_first_running(Run& run) {
  if (run.options.link == nullptr) return;
  for (const LayerState& layer : run.layers) {
    if (layer.elsewhere || !takes_first_running(run.c, *layer.layer)) continue;
    hand_over(run, layer.label + ".running_mean", layer.running_mean);
    hand_over(run, layer.label + ".running_var", layer.running_var);
  }
}

}  // namespace tally
