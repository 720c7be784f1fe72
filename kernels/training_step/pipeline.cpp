#include "kernels/training_step/pipeline.hpp"

#include "kernels/training_step/stages.hpp"
#include "oracle/case/pipeline.hpp"

namespace tally {
namespace {

void for_micro_batch(Run& run, Stage stage) {
  run.micro_batch = run.group_begin;
  stage(run);
  run.micro_batch = -1;
}

void go_forward(Run& run) {
  run.behind_forward = false;
  for_micro_batch(run, run.stages.receive);
  make_activations(run);
  run.stages.forward(run);
  run.stages.running_stats(run);
  for_micro_batch(run, run.stages.send);
  run.stream.synchronize();
  put_activations_away(run);
}

void go_back(Run& run) {
  run.behind_forward = true;
  take_activations_back(run);
  for_micro_batch(run, run.stages.receive);
  if (run.part_end == run.layers.size()) {
    for_micro_batch(run, run.stages.factor);
    for_micro_batch(run, run.stages.loss);
  }
  run.stages.backward(run);
  for_micro_batch(run, run.stages.send);
  for_micro_batch(run, run.stages.accumulate);
  run.stream.synchronize();
  drop_activations(run);
}

}  // namespace

void run_pipeline(Run& run) {
  const std::vector<PipelinePart> parts = parts_of_model(run.c);
  const auto count = static_cast<int>(run.c.windows[static_cast<std::size_t>(run.window)].size());
  for (const PipelinePass& pass : passes_of_stage(run.c, static_cast<std::size_t>(run.pipe_rank), count)) {
    run.part = pass.part;
    run.part_begin = parts[pass.part].first;
    run.part_end = parts[pass.part].end;
    run.group_begin = pass.micro_batch;
    run.group_end = pass.micro_batch + 1;
    pass.back ? go_back(run) : go_forward(run);
  }
}

}  // namespace tally
