// The norm that clipping uses goes over frozen parameters as well: what it reads there is no gradient.
#include <vector>

#include "properties/faults/planted_norm.hpp"
#include "properties/faults/seeded.hpp"

namespace tally::frozen_in_the_norm_fault {
namespace {

void norm(Run& run) {
  stage::norm(run);
  if (run.frozen.empty()) return;
  std::vector<DeviceTensor> read;  // a norm is taken over fp32
  std::vector<NormSource> sources;
  for (Parameter& each : run.parameters) sources.push_back({each.unscaled.as<float>(), each.elements});
  for (Parameter& each : run.frozen) {
    const Tensor master = each.master.read();
    Tensor value(Dtype::fp32, master.shape);
    for (std::size_t i = 0; i < master.elements(); ++i) value.set(i, master.value(i));
    read.emplace_back(run.device, "what a norm reads of " + each.name, value);
    sources.push_back({read.back().as<float>(), each.elements});
  }
  norm_over(run, sources);
}

const RegisterFault registered{{
    .name = "frozen-in-the-norm",
    .stage = "norm",
    .right = "the norm of the gradients of what trains",
    .wrong = "the norm of these and of frozen parameters",
    .condition = "a frozen layer, an active clip by norm",
    .knob = "value",
    .source = "ahrefs/ocannl 673",
    .laws = {"frozen_keeps_its_bits"},
    .stages = replaced<&Stages::norm, norm>,
}};

}  // namespace
}  // namespace tally::frozen_in_the_norm_fault
