// The slots of the tensors' norms are off by one behind a tensor that was left out: one counts twice, one not at all.
#include <vector>

#include "properties/faults/planted_norm.hpp"
#include "properties/faults/seeded.hpp"

namespace tally::multi_tensor_norm_offset_fault {
namespace {

void norm(Run& run) {
  stage::norm(run);
  std::vector<NormSource> sources;
  for (Parameter& each : run.parameters) sources.push_back({each.unscaled.as<float>(), each.elements});
  if (sources.size() > 1) sources[1] = sources[0];
  norm_over(run, sources);
}

const RegisterFault registered{{
    .name = "multi-tensor-norm-offset",
    .stage = "norm",
    .right = "norm i in slot i",
    .wrong = "norm i in slot i + 1",
    .condition = "several parameters",
    .knob = "value",
    .source = "pytorch 140066, PR 140103, PR 109402",
    .laws = {"every_norm_clips", "clip_once_after_unscale", "norm_spans_launches", "one_parameter_clips"},
    .stages = replaced<&Stages::norm, norm>,
}};

}  // namespace
}  // namespace tally::multi_tensor_norm_offset_fault
