// A campaign over machines: processes that MPI joins, each with workers of its own, share its pieces out while it runs.
#pragma once

#include <filesystem>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "kernels/ranks/mpi_link.hpp"
#include "properties/campaign/campaign_work.hpp"
#include "properties/campaign/heading.hpp"
#include "properties/campaign/journal.hpp"

namespace tally::command_line {

struct AcrossOptions {
  std::filesystem::path out;  // one folder, which all processes see
  std::string campaign;       // in words, all that decides what is drawn
  int processes = 2;          // workers of each process
  bool resume = false;        // go on from the journal in `out`
  double lost_after = 60;     // seconds that a process may be silent
};

/// What the first process has when all is run, or was stopped.
struct AcrossRun {
  std::vector<std::string> answers;  // by number; empty where a piece was not run
  std::string facts;                 // who ran what, how long it took: JSON, for run.json
  Journal journal;
  std::unique_ptr<MpiLink> left;  // where a process is lost: to be aborted once all is written; else nothing
};

/// Takes part as what the launcher made of this process. Nothing in all processes but the first. `check`, called in the
/// first once all have met, throws where its folder will not do: then all end. A campaign's `processes` becomes that of
/// all machines. Throws UsageError where no launcher of MPI started this process.
std::optional<AcrossRun> run_across(CampaignOptions& campaign, const AcrossOptions& options,
                                    const std::function<void()>& check);

}  // namespace tally::command_line
