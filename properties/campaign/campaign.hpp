// The campaign: every law on drawn cases in every precision, in strands of their own, counter-examples shrunk and kept,
// everything on record; and its work in numbers. Defined in campaign.cpp, campaign_work.cpp.
#pragma once

#include <atomic>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "oracle/case/case.hpp"
#include "oracle/case/tensors/tensor.hpp"
#include "properties/campaign/workers.hpp"
#include "properties/generators/choices.hpp"
#include "properties/laws/law.hpp"
#include "reports/record/record.hpp"

namespace tally {

// Failing cases, one JSON file each, named `<law>@<id>.json`: replayed before anything new is drawn.

struct KeptCase {
  std::string law;
  std::filesystem::path file;
};

/// What a folder has under such names, sorted, whether it is a case or not; empty when there is no such folder.
std::vector<KeptCase> kept_cases(const std::filesystem::path& corpus);

/// Reads one. Throws std::runtime_error that names the file, and waits for nobody where it is none.
Case case_of(const KeptCase& kept);
/// The record of one that cannot be read: an error.
CaseRecord no_case(const KeptCase& kept, const std::string& reason);

/// Writes the case, whole or not at all; makes the folder. Throws std::runtime_error where something else stands there.
void keep_as(const std::filesystem::path& file, const Case& c);
/// The same under the name of its law and id, which it returns.
std::filesystem::path keep(const std::filesystem::path& corpus, const std::string& law, const std::string& id,
                           const Case& c);

// A strand: a part of the cases that a law draws in one precision, with a seed and breeding of its own, so that it can
// be run anywhere and at any time. How a job is cut follows from the numbers of cases alone, never from who runs it.

struct CampaignOptions;
struct Law;
class PlanSource;

struct Strand {
  int number = 0;  // from 0; that one draws what the job would draw if it were whole
  int cases = 0;   // that it draws
  int first = 0;   // cases of the job that the strands before it draw
  friend bool operator==(const Strand&, const Strand&) = default;
};

/// Cases that a law's task draws: those of its strand, else all that the options ask for.
int cases_of(const Law& law, const CampaignOptions& options);

/// All strands of a law in one precision, by number: each draws as many cases as the law does at effort 1, 40 at least
/// and where the plans have numbers; the last one what is left. Those of `options.strand` are not looked at.
std::vector<Strand> strands_of(const Law& law, const CampaignOptions& options);

/// The plans that a task draws.
PlanSource plans_of(const Law& law, Dtype storage, const CampaignOptions& options);

/// The kept cases that a task replays: none of them in any strand but the first.
std::vector<KeptCase> replayed_by(const CampaignOptions& options);

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

// What a campaign has to run, in numbers: the trainings, and the strands of every law in every precision. Whoever runs
// them in whatever order, the answers come to the same results.

class CampaignWork {
 public:
  /// Throws std::invalid_argument when no law matches the pattern.
  explicit CampaignWork(CampaignOptions options);

  std::size_t size() const { return pieces_.size(); }
  /// "exact_lane fp32", "exact_lane fp32, strand 2 of 4": no two are the same.
  std::string title_of(std::size_t number) const;
  /// Runs a piece here; its answer is packed results. `before`: how many were begun before it, from which its share of the time
  /// follows. `died`: how its process did before, nullptr if it did not.
  std::string run(std::size_t number, std::size_t before, const Death* died = nullptr) const;
  /// From the answers in number order, an empty one where a piece was not run: then the results are partial. An answer
  /// may begin with "crash: ", as run_in_processes() says.
  Results results(const std::vector<std::string>& answers) const;

 private:
  /// A law's strand in one precision, or a training configuration.
  struct Piece {
    const Law* law = nullptr;
    Dtype storage = Dtype::fp32;
    std::size_t training = 0;  // index of the exact problem when law is null
    Strand strand{};
    std::size_t strands = 1;  // of its job
  };
  std::vector<Piece> pieces_of_shard() const;
  std::string title_of(const Piece& piece) const;
  CampaignOptions options_of(const Piece& piece, std::size_t before) const;
  Results found_by(const Piece& piece, const CampaignOptions& options, const Death* died) const;
  CaseRecord crashed(const Piece& piece, const std::string& answer) const;

  CampaignOptions options_;
  std::vector<Piece> pieces_;
  std::chrono::steady_clock::time_point started_ = std::chrono::steady_clock::now();
};

}  // namespace tally
