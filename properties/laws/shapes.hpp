// Ways to narrow a drawn plan to a law's domain. Each keeps the plan valid.
#pragma once

#include "properties/generators/plan.hpp"

namespace tally {

/// Every window has at least `least` micro-batches (extra ones of two rows).
void at_least_micro_batches(Plan& plan, std::size_t least);
/// At least `least` windows; new ones copy the first.
void at_least_windows(Plan& plan, std::size_t least);
/// Sizes within the first window differ.
void unequal_micro_batches(Plan& plan);
/// `micro_batch` statistics become `window` statistics, of ranks or stages frozen ones, so that accumulation equals
/// the full batch.
void no_micro_batch_statistics(Plan& plan);
/// Buffers, masters and accumulators in fp32, operands as they are stored: for laws whose two sides round alike only
/// there.
void usual_formats(Plan& plan);
/// Only linear layers, no loss options: gradients reach every parameter at any magnitude.
void linear_layers_only(Plan& plan);
/// Makes the first micro-batch of the first window overflow under a dynamic loss scale.
void overflow_in_first_micro_batch(Plan& plan);
/// Dyadic data, polynomial layers, power-of-two counts: every sum is exact in any order, in this storage format. Half
/// the cases (in bf16 all) have partial sums that need an fp32 accumulator and operands that fill the format.
void exact_arithmetic(Plan& plan);
/// Adds a batch_norm with these statistics after a first linear layer when the plan has none, or changes the ones it
/// has.
void with_batch_norm(Plan& plan, const std::string& statistics);

/// Every third plan: a batch_norm, and a first micro-batch of so many rows that several threads share a column.
void columns_for_several_threads(Plan& plan);

/// The case with one element of x replaced by its negative plus one: inputs that matter must change the bits.
Case with_other_input(Case c);
/// The case of two windows of one cut, the second of which sees the rows of the first.
Case with_repeated_rows(Case c);
/// The case whose activations are all kept for backward.
Case without_recomputation(Case c);
/// The case with each window's micro-batches rotated by one place, rows and all.
Case with_rotated_micro_batches(const Case& c);

}  // namespace tally
