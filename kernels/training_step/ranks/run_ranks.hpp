// A case that ranks train together, each its own run, and what they left as one trace.
#pragma once

#include <vector>

#include "kernels/ranks/link.hpp"
#include "kernels/trace/trace.hpp"
#include "kernels/training_step/ranks/checkpoint.hpp"
#include "kernels/training_step/run/run.hpp"
#include "oracle/case/case.hpp"

namespace tally {

// What the stages of a pipeline left, as one trace.

/// The traces of all stages, in the order in which one process with the whole model goes through a window: micro-batch by
/// micro-batch, part by part forward and back. Where micro-batches go back last first, all forward first.
Trace merged_stages(const Case& c, std::vector<Trace> traces);

/// Every rank of the case in this process, taps of all of them under their rank's name. Where their number changes, one
/// generation after another, each beginning with what the one before it wrote down. Ranks that wait for each other
/// end the run: what was tapped until then stands, and a violation says who waits for whom. Throws as run() does.
Trace run_ranks(const Case& c, const RunOptions& options);

/// How many runs train a case together: one of each rank, or of each stage that a rank's model is cut into. Process
/// r P + p is stage p of rank r.
std::size_t processes_of(const Case& c);

/// One of these, by its place in the link, its taps under its rank's name; of a generation of a case whose ranks change
/// between what stands before it and behind. Throws BrokenLink where it cannot go on, and leaves what was tapped until
/// then in `trace`.
void run_rank(const Case& c, Link& link, const RunOptions& options, Trace& trace, const Handover& between = {});

/// What all of them left as one trace, in running order.
Trace merged_processes(const Case& c, std::vector<Trace> traces);
/// A later generation's taps, claims and violations, behind those of the generations before it.
void add_generation(Trace later, Trace& all);

}  // namespace tally
