// The labels that are counted are those of the rows themselves, before the shift: a sequence's first one too.
#include "oracle/case/sequences.hpp"
#include "properties/faults/planted_between.hpp"
#include "properties/faults/seeded.hpp"

namespace tally {
namespace {

void factor(Run& run) {
  stage::fix_factor(run);
  if (!shifts_labels(run.c.model.loss)) return;
  const Tensor& target = run.c.tensors.at("target");
  std::int64_t counted = 0;
  for (int k = 0; k < micro_batches(run); ++k)
    for (std::int64_t row = run.first_row(k); row < run.first_row(k) + run.rows(k); ++row)
      counted += target.integer(static_cast<std::size_t>(row)) != run.c.model.loss.integer("ignore_index");
  run.factor = counted == 0 ? 0.0f : run.window_scale / static_cast<float>(counted);
}

const RegisterFault registered{{
    .name = "tokens-counted-before-shift",
    .stage = "loss",
    .right = "N = labels behind the shift",
    .wrong = "N = labels",
    .condition = "a first label that is scored by nothing",
    .knob = "value",
    .source = "huggingface/transformers 46204, Liquid4All/liquid-finetune 40",
    .laws = {"token_counts_are_weighted"},
    .stages = replaced<&Stages::factor, between_factors<factor>>,
}};

}  // namespace
}  // namespace tally
