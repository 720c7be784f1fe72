// The labels that are counted are those of the rows themselves, before the shift: a sequence's first one too.
#include "oracle/case/sequences.hpp"
#include "properties/faults/miscounted.hpp"

namespace tally::tokens_counted_before_shift_fault {
namespace {

CountedItems before_the_shift(const Run& run, const CountedItems& right) {
  const Choice& loss = run.c.model.loss;
  if (!shifts_labels(loss)) return right;
  const Tensor& target = run.c.tensors.at("target");
  return counted_by(run, [&](std::int64_t row) {
    return target.integer(static_cast<std::size_t>(row)) != loss.integer("ignore_index") ? 1 : 0;
  });
}

const RegisterFault registered{{
    .name = "tokens-counted-before-shift",
    .stage = "count",
    .right = "n_k = labels behind the shift",
    .wrong = "n_k = labels",
    .condition = "a first label that is scored by nothing",
    .knob = "rows",
    .source = "huggingface/transformers 46204, Liquid4All/liquid-finetune 40",
    .laws = {"token_counts_are_weighted"},
    .stages = replaced<&Stages::begin_window, miscounted<before_the_shift>>,
}};

}  // namespace
}  // namespace tally::tokens_counted_before_shift_fault
