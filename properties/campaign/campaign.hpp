// The campaign: every law on drawn cases in every precision, counter-examples shrunk and kept, everything on record.
// Defined in campaign.cpp, record.cpp.
#pragma once

#include <atomic>
#include <filesystem>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "properties/campaign/corpus.hpp"
#include "properties/campaign/strand.hpp"
#include "properties/generators/default_seed.hpp"
#include "properties/laws/law.hpp"
#include "reports/record/record.hpp"
#include "reports/record/shard.hpp"

namespace tally {

struct CampaignOptions {
  RunOptions subject;          // where it runs, and a seeded fault's stages if there is one
  std::string law_glob = "*";  // shell pattern over law names
  std::vector<Dtype> precisions = {Dtype::fp32, Dtype::fp16};
  double effort = 1;               // scales the number of cases
  std::optional<int> cases;        // cases per law and precision, instead of effort
  std::optional<double> seconds;   // stop drawing about then; every law draws one case at least
  double case_seconds = 0;         // a case that takes longer is an error; 0: no limit
  ShardName shard;                 // which part of the campaign to run
  bool triggers_required = false;  // a trigger that no case shows is a failure
  std::uint64_t seed = default_seed;
  std::vector<std::uint64_t> numbers;         // of the plans, in place of those that follow from the seed
  std::optional<Strand> strand;               // of the law that a task draws; nothing: all of its cases
  std::filesystem::path corpus;               // failing cases are kept here and replayed first; empty: none
  std::optional<std::vector<KeptCase>> kept;  // those that are replayed; nothing: what the corpus then holds
  std::filesystem::path kernel_times;         // a file that every drawn case's times are added to; empty: none
  bool shrink = true;                         // make a failing case smaller before it is recorded
  bool keep_going = false;                    // draw all cases of a law, also after one of them failed
  bool steered = true;          // breed cases from those that showed much; else each is drawn from the seed alone
  bool training = true;         // the digits and tutorial runs
  bool smallest_caught = true;  // of a seeded fault: seek the smallest magnitude that is still caught
  int processes = 2;            // host executor only
  const std::atomic<bool>* interrupted = nullptr;
  std::function<void(const std::string&)> progress = [](const std::string&) {};
};

/// Cases per law and precision at effort 1 and weight 1.
inline constexpr int cases_at_effort_one = 40;

/// Runs it. Results are the same for the same options whatever the number of processes, unless `seconds` is set; and
/// those of all shards, merged, are those of the whole. A default campaign that is no shard goes on, in a few rounds,
/// with small cases that begin with pairs of settings it has not shown, though rules allow them.
/// Throws std::invalid_argument when no law matches the pattern.
Results run_campaign(const CampaignOptions& options);

/// One case under one law, as recorded.
CaseRecord record_of(const Case& c, const Law& law, const Outcome& outcome);

}  // namespace tally
