// Seeded faults against the laws that should catch them, equivalent changes against the laws that must let them pass,
// and every fault in every precision and path. Defined in trials.cpp, fault_matrix.cpp, fault_matrix_text.cpp.
#pragma once

#include <string>
#include <vector>

#include "properties/campaign/campaign.hpp"
#include "properties/faults/fault.hpp"

namespace tally {

/// Runs the fault's laws, best first, in every precision, until one fails; caught = a law failed, right_stage = its
/// first failing check stands in the fault's stage. Then, where all of the bug is planted and it has a knob, how little
/// of it a few such cases still show.
FaultRecord run_fault(const Fault& fault, const CampaignOptions& options);

/// All faults named (all of them for an empty list), in forked processes, sorted by name.
/// Throws std::invalid_argument for a name that does not exist.
std::vector<FaultRecord> run_faults(const std::vector<std::string>& names, const CampaignOptions& options);

// Equivalent mutants through the laws that must let them pass.

struct EquivalentAnswer {
  std::string name, change, why;
  bool passes = false;      // no case failed, and one at least passed
  std::uint64_t cases = 0;  // that passed
  std::string message;      // the law that flagged it, and what it said
};

/// All of them, in forked processes, sorted by name.
std::vector<EquivalentAnswer> run_equivalents(const CampaignOptions& options);

/// "Equivalent mutants" and a line each, for people.
std::string text_of(const std::vector<EquivalentAnswer>& answers);

// How little of a seeded fault is still caught.

/// Cases of this precision that break the law under the options' subject: the first that each of `draws` campaigns
/// draws, the options' own and those of the seeds after it; where a campaign finds none, there is one less.
std::vector<Case> failing_cases(const Law& law, Dtype storage, const CampaignOptions& options, int draws);

/// The smallest magnitude 2^-e, e from 0 to 64, at which one of the cases, which all break the law at 1, still does
/// under the faulty subject: e grows by fours until nothing is found, and the last four are bisected.
double smallest_caught(const Law& law, const std::vector<Case>& failing, const RunOptions& faulty);

// Every seeded fault in every precision, on every path of the executor, under every optimizer: where it is caught,
// where it cannot be expressed and why, and where it gets away.

/// How a run is launched: "separate" kernels, "fused unscale" (unscale_check_norm), "fused step" (clip_decay_step),
/// "into_buffer" (weight gradients added by their products), "captured" (one window as one piece of work).
const std::vector<std::string>& fault_paths();
/// "sgd", "momentum", "adam".
const std::vector<std::string>& fault_optimizers();

enum class Planted { caught, cannot, missed };

struct FaultCell {
  std::string precision, path, optimizer;
  Planted found = Planted::missed;
  std::string reason;  // of one that cannot be expressed, or that got away
};

struct FaultRow {
  std::string fault;
  std::vector<FaultCell> cells;  // by precision, then path, then optimizer
};

/// One fault: a failing case is drawn in each precision by its laws, and put through every path with every optimizer.
/// What changes no bit of such a case cannot be expressed there.
FaultRow fault_row(const Fault& fault, const CampaignOptions& options);

/// The rows of these faults, in forked processes, by name.
std::vector<FaultRow> fault_matrix(const std::vector<const Fault*>& list, const CampaignOptions& options);

/// As a table for the page and its file: a mark for every slice, the counts, and the reasons.
Study study_of(const std::vector<FaultRow>& rows);
/// For a terminal: a line a fault, a mark for every precision, path and optimizer.
std::string text_of(const std::vector<FaultRow>& rows);

}  // namespace tally
