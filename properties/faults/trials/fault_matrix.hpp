// Every seeded fault in every precision, on every path of the executor, under every optimizer: where it is caught,
// where it cannot be expressed and why, and where it gets away.
// Defined in fault_matrix.cpp, fault_matrix_text.cpp.
#pragma once

#include <string>
#include <vector>

#include "properties/campaign/campaign.hpp"
#include "properties/faults/fault.hpp"

namespace tally {

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
