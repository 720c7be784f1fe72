// A campaign run and recorded, its strands, and the corpus of failing cases.
#include "properties/campaign/campaign.hpp"

#include <algorithm>
#include <fstream>
#include <sstream>
#include <stdexcept>
#include <utility>

#include "oracle/case/contract.hpp"
#include "oracle/case/io.hpp"
#include "properties/campaign/coverage/coverage.hpp"
#include "properties/campaign/law_task.hpp"
#include "properties/campaign/workers.hpp"
#include "properties/judge/bound_terms.hpp"
#include "properties/judge/lens.hpp"
#include "properties/judge/ranks/ranks_of_trace.hpp"
#include "properties/judge/two_runs.hpp"
#include "properties/laws/settings/together.hpp"
#include "reports/record/packed.hpp"
#include "reports/record/record.hpp"

namespace tally {
namespace {

constexpr std::uint64_t most_rounds = 4;

Results run_work(const CampaignOptions& options) {
  const CampaignWork work(options);
  std::size_t finished = 0;
  return work.results(run_in_processes(
      work.size(), processes_for(options.subject.executor, options.processes),
      [&](std::size_t i) { return work.run(i, i); },
      [&](std::size_t i) {
        options.progress("[" + std::to_string(++finished) + "/" + std::to_string(work.size()) + "] " +
                         work.title_of(i));
      },
      options.interrupted, [&](std::size_t i, const Death& died) { return work.run(i, i, &died); }));
}

/// One case for each, in every round another, in one precision after the other.
void show_missing_pairs(Results& results, CampaignOptions options) {
  const auto precisions = options.precisions;
  options.law_glob = "settings_stand_together";
  options.training = false;
  options.kept.emplace();
  for (std::uint64_t round = 0; round < most_rounds && !results.partial; ++round) {
    options.numbers.clear();
    for (const auto& [a, b] : pairs_to_show(results.triggers)) options.numbers.push_back(number_of_pair(a, b, round));
    if (options.numbers.empty()) break;
    options.precisions = {precisions[round % precisions.size()]};
    Results round_found = run_work(options);
    round_found.laws.clear();  // whether their controls differ was to be seen before
    add_part(results, std::move(round_found));
  }
  settle_laws(results);
}

}  // namespace

Results run_campaign(const CampaignOptions& given) {
  CampaignOptions options = given;
  if (!options.kept) options.kept = kept_cases(options.corpus);
  Results results = run_work(options);
  if (counts_pairs(results)) show_missing_pairs(results, options);
  return results;
}

namespace {

constexpr std::size_t longest_token = 2048;

void take_counts(CaseRecord& record, const std::vector<TensorCheck>& checks) {
  for (const TensorCheck& check : checks) {
    ++record.checks;
    record.elements += check.elements;
    if (check.zero_signal) ++record.zero_signal_checks;
    if (check.status == Status::vacuous) ++record.vacuous_checks;
    record.adopted_share = std::max(record.adopted_share, check.adopted_share);
    record.comparisons += check.spread.comparisons;
    if (check.spread.log10_chance < record.least_log10_chance) {
      record.least_log10_chance = check.spread.log10_chance;
      record.least_likely = check.tap + ", " + check.spread.test;
    }
    if (check.status == Status::vacuous || check.status == Status::not_run) continue;
    const bool local = check.lens == "local" || check.lens == "group";
    if (!local && check.lens != "end_to_end") continue;
    double& ratio = local ? record.worst_local_ratio : record.worst_end_to_end_ratio;
    double& excess = local ? record.worst_local_excess : record.worst_end_to_end_excess;
    ratio = std::max(ratio, check.worst_ratio), excess = std::max(excess, check.excess);
  }
}

}  // namespace

CaseRecord record_of(const Case& c, const Law& law, const Outcome& outcome) {
  CaseRecord record;
  record.id = sha256(hash_of(c) + law.name).substr(0, 12);
  record.law = law.name;
  record.precision = name_of(c.precision.storage);
  record.title = title_of(c);
  record.formats = formats_of(c.precision);
  record.token = token_of(c);
  if (record.token.size() > longest_token) record.token.clear();
  for (const auto& window : c.windows) record.micro_batches = std::max(record.micro_batches, int(window.size()));
  record.status = outcome.status;
  record.message = outcome.message;
  record.semantic_gap = outcome.semantic_gap;
  record.decision_drift = outcome.decision_drift;
  take_counts(record, outcome.checks);
  if (const auto drift = first_gradient_drift(outcome.checks))
    record.rounding_drift = drift->rounding, record.drift_bound = drift->bound;
  if (const TensorCheck* failure = first_failure(outcome.checks)) {
    record.failure = failure->failure;
    record.first_stage = failure->stage;
  }
  if (outcome.status == Status::fail) {
    record.suspects = outcome.suspects;
    record.ranks = rank_rows(c, outcome.checks);
    const TensorCheck* first = record.ranks.empty() ? nullptr : first_failure(outcome.checks);
    if (first != nullptr) record.first_tap = first->tap;
  }
  for (const std::size_t i : worst_of(outcome.checks)) record.worst.push_back(outcome.checks[i]);
  return record;
}

namespace {

int cases_of_job(const Law& law, const CampaignOptions& options) {
  if (!options.numbers.empty()) return static_cast<int>(options.numbers.size());
  return options.cases ? *options.cases : cases_drawn(law, options.effort);
}

/// The first strand's is that of the whole job.
std::uint64_t seed_of_strand(std::uint64_t seed, int number) {
  if (number == 0) return seed;
  const std::string text = std::to_string(seed) + " strand " + std::to_string(number);
  return std::stoull(sha256(text).substr(0, 15), nullptr, 16);
}

}  // namespace

int cases_of(const Law& law, const CampaignOptions& options) {
  return options.strand ? options.strand->cases : cases_of_job(law, options);
}

std::vector<Strand> strands_of(const Law& law, const CampaignOptions& options) {
  const int all = cases_of_job(law, options),
            most = options.numbers.empty() ? std::max(cases_at_effort_one, cases_drawn(law, 1)) : cases_at_effort_one;
  std::vector<Strand> strands;
  for (int first = 0; first < all; first += most)
    strands.push_back({static_cast<int>(strands.size()), std::min(most, all - first), first});
  return strands;
}

PlanSource plans_of(const Law& law, Dtype storage, const CampaignOptions& options) {
  const Strand strand = options.strand.value_or(Strand{});
  const std::uint64_t seed = seed_of(options.seed, law, storage);
  PlanSource plans(storage, seed_of_strand(seed, strand.number), cases_of(law, options),
                   first_plan_seed(seed) + static_cast<std::uint64_t>(strand.first));
  if (!options.numbers.empty()) {
    const auto first = options.numbers.begin() + strand.first;
    plans.number({first, first + cases_of(law, options)});
  }
  return plans;
}

std::vector<KeptCase> replayed_by(const CampaignOptions& options) {
  if (options.strand && options.strand->number > 0) return {};
  return options.kept ? *options.kept : kept_cases(options.corpus);
}

std::vector<KeptCase> kept_cases(const std::filesystem::path& corpus) {
  std::vector<KeptCase> kept;
  if (!std::filesystem::is_directory(corpus)) return kept;
  for (const auto& entry : std::filesystem::directory_iterator(corpus)) {
    const std::string name = entry.path().filename().string();
    const auto at = name.find('@');
    if (at != std::string::npos && name.ends_with(".json")) kept.push_back({name.substr(0, at), entry.path()});
  }
  std::sort(kept.begin(), kept.end(), [](const KeptCase& a, const KeptCase& b) { return a.file < b.file; });
  return kept;
}

Case case_of(const KeptCase& kept) {
  std::error_code unknown;
  if (!std::filesystem::is_regular_file(kept.file, unknown))
    throw std::runtime_error(kept.file.string() + ": found no file; expected a case, or nothing of that name");
  try {
    Case c = read_case_file(kept.file);
    require_stated(c);
    return c;
  } catch (const std::exception& problem) {
    throw std::runtime_error(kept.file.string() + ": " + problem.what());
  }
}

CaseRecord no_case(const KeptCase& kept, const std::string& reason) {
  CaseRecord record;
  record.law = kept.law;
  record.id = sha256(kept.file.filename().string()).substr(0, 12);
  record.title = "kept: " + kept.file.filename().string();
  record.status = Status::error;
  record.message = reason;
  return record;
}

void keep_as(const std::filesystem::path& file, const Case& c) {
  std::filesystem::create_directories(file.parent_path());
  const std::string text = write_case(c);
  std::error_code none;
  if (std::filesystem::exists(std::filesystem::symlink_status(file, none))) {
    std::ostringstream there;
    if (std::filesystem::is_regular_file(file, none)) there << std::ifstream(file, std::ios::binary).rdbuf();
    if (there.str() == text) return;
    throw std::runtime_error(file.string() + ": found something else; expected nothing of that name, or this case");
  }
  write_atomically(file.string(), text);
}

std::filesystem::path keep(const std::filesystem::path& corpus, const std::string& law, const std::string& id,
                           const Case& c) {
  const auto file = corpus / (law + "@" + id + ".json");
  keep_as(file, c);
  return file;
}

}  // namespace tally
