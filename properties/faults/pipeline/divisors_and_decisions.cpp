// Faults of a pipeline: what its loss is divided by, and what a stage decides by itself.
#include <cmath>

#include "kernels/training_step/kind_steps.hpp"
#include "properties/faults/pipeline/pipeline.hpp"
#include "properties/faults/planted_between.hpp"
#include "properties/faults/seeded.hpp"

// The divisor counts every process as one that has data of its own, the stages of one pipeline too.
namespace tally::all_processes_taken_for_data_ranks_fault {
namespace {

void factor(Run& run) {
  stage::fix_factor(run);
  if (run.pipelined() && run.options.link->size() > 1) run.factor /= static_cast<float>(run.options.pipe->size());
}

const RegisterFault registered{{
    .name = "all-processes-taken-for-data-ranks",
    .stage = "loss",
    .right = "c = scale / N: R ranks have data of their own, whatever they are cut into",
    .wrong = "c = scale / (N P), as if the R P processes had",
    .condition = "a pipeline on each of several ranks",
    .knob = "value",
    .source = "transformers issue 39648, TRL issue 7100, Megatron-LM issue 673",
    .laws = {"pipeline_changes_nothing"},
    .stages = replaced<&Stages::factor, between_factors<factor>>,
}};

}  // namespace
}  // namespace tally::all_processes_taken_for_data_ranks_fault

// The engine of a pipeline divides every loss by the micro-batches, though it is divided already.
namespace tally::pipeline_divides_again_fault {
namespace {

void factor(Run& run) {
  stage::fix_factor(run);
  if (run.pipelined()) run.factor /= static_cast<float>(micro_batches(run));
}

const RegisterFault registered{{
    .name = "pipeline-divides-again",
    .stage = "loss",
    .right = "c = scale / N",
    .wrong = "c = scale / (N K) in a pipeline",
    .condition = "a pipeline, K > 1",
    .knob = "value",
    .source = "AReaL issue 1273",
    .laws = {"pipeline_changes_nothing"},
    .stages = replaced<&Stages::factor, between_factors<factor>>,
}};

}  // namespace
}  // namespace tally::pipeline_divides_again_fault

// The path of a pipeline leaves out the division of the loss.
namespace tally::pipeline_never_divides_fault {
namespace {

void factor(Run& run) {
  stage::fix_factor(run);
  if (run.pipelined()) run.factor = run.window_scale;
}

const RegisterFault registered{{
    .name = "pipeline-never-divides",
    .stage = "loss",
    .right = "c = scale / N",
    .wrong = "c = scale in a pipeline",
    .condition = "a pipeline",
    .knob = "value",
    .source = "torchtitan issue 2972, DeepSpeed issue 7773",
    .laws = {"pipeline_changes_nothing"},
    .stages = replaced<&Stages::factor, between_factors<factor>>,
}};

}  // namespace
}  // namespace tally::pipeline_never_divides_fault

// The gradient that a stage of a pipeline takes over is divided by the micro-batches once more.
namespace tally::scaled_once_a_stage_fault {
namespace {

void receive(Run& run) {
  stage::receive(run);
  DeviceTensor* const gradient = received_gradient(run);
  if (gradient == nullptr) return;
  const double by = micro_batches(run);
  change(run, *gradient, [&](std::size_t, double value) { return blend(value, value / by); });
  run.tap("receive", "d." + run.layers[run.part_end - 1].label + ".y", *gradient);
}

const RegisterFault registered{{
    .name = "scaled-once-a-stage",
    .stage = "receive",
    .right = "the loss is divided once",
    .wrong = "and its gradient again at every stage of a pipeline that it goes back to",
    .condition = "a pipeline, K > 1",
    .knob = "value",
    .source = "DeepSpeed PR 8154",
    .laws = {"pipeline_changes_nothing"},
    .stages = replaced<&Stages::receive, receive>,
}};

}  // namespace
}  // namespace tally::scaled_once_a_stage_fault

// Every stage of a pipeline clips by the norm of its own layers.
namespace tally::norm_of_own_stage_fault {
namespace {

void norm(Run& run) {
  stage::norm(run);
  if (!run.pipelined()) return;
  const Tensor* part = run.trace.find(TapView{run.window, -1, "norm", "part", run.rank_tag, run.pipe_rank});
  if (part == nullptr) return;
  const double own = part->value(0), root = norm_kind_of(run) == NormKind::squares ? std::sqrt(own) : own;
  change(run, run.gradient_norm, [&](std::size_t, double value) { return blend(value, root); });
  run.tap("norm", "norm", run.gradient_norm);
}

const RegisterFault registered{{
    .name = "norm-of-own-stage",
    .right = "norm of g, the layers of all stages p",
    .condition = "a pipeline, an active clip",
    .knob = "value",
    .source = "torchtitan issue 596, 649",
    .laws = {"norm_spans_stages"},
    .stages = replaced<&Stages::norm, norm>,
}};

}  // namespace
}  // namespace tally::norm_of_own_stage_fault

// Every stage of a pipeline acts upon the overflow that it found, and tells no other.
namespace tally::stages_skip_apart_fault {
namespace {

void agree(Run& run) {
  if (!run.pipelined() || magnitude() == 0) return stage::agree(run);
  run.tap("agree", "in.found", run.found_flag.data(), Dtype::u8, {});
  run.tap("agree", "found", run.found_flag.data(), Dtype::u8, {});
}

const RegisterFault registered{{
    .name = "stages-skip-apart",
    .right = "found = found_p of any stage p",
    .condition = "a pipeline, an overflow on some stages alone",
    .knob = "none",
    .source = "fairscale PR 181",
    .laws = {"norm_spans_stages"},
    .stages = replaced<&Stages::agree, agree>,
}};

}  // namespace
}  // namespace tally::stages_skip_apart_fault

// A stage that found an overflow skips the window's end by itself, and the others wait for its word.
namespace tally::collective_left_out_on_overflow_fault {
namespace {

void agree(Run& run) {
  if (!run.pipelined() || !run.found || magnitude() == 0) return stage::agree(run);
  run.tap("agree", "in.found", run.found_flag.data(), Dtype::u8, {});
  run.tap("agree", "found", run.found_flag.data(), Dtype::u8, {});
}

const RegisterFault registered{{
    .name = "collective-left-out-on-overflow",
    .stage = "agree",
    .right = "every stage takes part in what all find together",
    .wrong = "a stage of a pipeline that found an overflow leaves, and the others wait for it",
    .condition = "a pipeline, an overflow on some stages alone",
    .knob = "none",
    .source = "ColossalAI issue 1175",
    .laws = {"norm_spans_stages"},
    .stages = replaced<&Stages::agree, agree>,
}};

}  // namespace
}  // namespace tally::collective_left_out_on_overflow_fault
