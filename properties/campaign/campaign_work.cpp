#include <fnmatch.h>

#include <algorithm>
#include <iterator>
#include <set>
#include <sstream>
#include <stdexcept>

#include "properties/campaign/campaign.hpp"
#include "properties/campaign/coverage/coverage.hpp"
#include "properties/campaign/law_task.hpp"
#include "properties/campaign/training/training.hpp"
#include "properties/faults/fault_names.hpp"
#include "reports/record/packed.hpp"
#include "reports/record/record.hpp"

namespace tally {
namespace {

/// By name against shell patterns with commas between them. Throws for a pattern that no law matches.
std::vector<const Law*> matching_laws(const std::string& globs) {
  std::set<const Law*> named;
  std::istringstream patterns(globs);
  for (std::string pattern; std::getline(patterns, pattern, ',');) {
    const auto matches = [&](const Law* law) { return fnmatch(pattern.c_str(), law->name.c_str(), 0) == 0; };
    const std::size_t before = named.size();
    for (const Law* law : laws())
      if (matches(law)) named.insert(law);
    if (named.size() == before && std::ranges::none_of(named, matches))
      throw std::invalid_argument("no law matches '" + pattern + "'; see `./tally list laws`");
  }
  std::vector<const Law*> found;
  std::ranges::copy_if(laws(), std::back_inserter(found), [&](const Law* law) { return named.contains(law); });
  return found;
}

Results run_training_job(const TrainingProblem& problem, const CampaignOptions& options) {
  Results part;
  part.training = run_training(problem, options.precisions, options.subject);
  Coverage coverage(options.subject.executor);
  const bool batch_norm = problem.model.find("BatchNorm") != std::string::npos;
  for (const TrainingRecord& t : part.training) {
    if (batch_norm && t.windows > 0 && t.accuracy_accumulated > 0) coverage.note("evaluated after training");
  }
  part.triggers = coverage.records();
  return part;
}

Results part_of(const Law& law, const TaskResult& found) {
  Results part;
  part.cases = found.cases;
  part.triggers = found.triggers;
  part.certified = found.certified;
  LawRecord record;
  record.name = law.name;
  record.control_differs = found.control_differs;
  part.laws.push_back(record);
  return part;
}

LawRecord described(const Law& law) {
  LawRecord record;
  record.name = law.name;
  record.family = law.family;
  record.statement = law.statement;
  record.faults = faults_of(law.name);
  record.control = law.control;
  return record;
}

}  // namespace

CampaignWork::CampaignWork(CampaignOptions options) : options_(std::move(options)), pieces_(pieces_of_shard()) {
  records_to_reach(options_.subject.executor);  // once, not in every process that is forked
}

/// Every n-th job, whole: laws and trainings of all kinds in each shard.
std::vector<CampaignWork::Piece> CampaignWork::pieces_of_shard() const {
  std::vector<Piece> jobs, pieces;
  if (options_.training) {
    for (std::size_t i = 0; i < training_problems().size(); ++i) jobs.push_back({nullptr, Dtype::fp32, i});
  }
  const auto matching = matching_laws(options_.law_glob);
  if (matching.empty())
    throw std::invalid_argument("no law matches '" + options_.law_glob + "'; see `./tally list laws`");
  for (const Law* law : matching) {
    for (const Dtype storage : options_.precisions) jobs.push_back({law, storage});
  }
  const auto count = static_cast<std::size_t>(options_.shard.count);
  for (auto i = static_cast<std::size_t>(options_.shard.index - 1); i < jobs.size(); i += count) {
    Piece piece = jobs[i];
    const std::vector<Strand> strands = piece.law ? strands_of(*piece.law, options_) : std::vector<Strand>(1);
    piece.strands = strands.size();
    for (const Strand& strand : strands) {
      piece.strand = strand;
      pieces.push_back(piece);
    }
  }
  return pieces;
}

std::string CampaignWork::title_of(std::size_t number) const { return title_of(pieces_[number]); }

std::string CampaignWork::title_of(const Piece& piece) const {
  if (!piece.law) return training_problems()[piece.training].title;
  const std::string job = piece.law->name + " " + std::string(name_of(piece.storage));
  if (piece.strands == 1) return job;
  return job + ", strand " + std::to_string(piece.strand.number + 1) + " of " + std::to_string(piece.strands);
}

/// What is left of the time is shared out among the pieces that are left.
CampaignOptions CampaignWork::options_of(const Piece& piece, std::size_t before) const {
  CampaignOptions mine = options_;
  mine.strand = piece.strand;
  if (!options_.seconds) return mine;
  const std::chrono::duration<double> spent = std::chrono::steady_clock::now() - started_;
  mine.seconds = std::max(0.0, *options_.seconds - spent.count()) * options_.processes / double(size() - before);
  return mine;
}

std::string CampaignWork::run(std::size_t number, std::size_t before, const Death* died) const {
  const Piece& piece = pieces_[number];
  return packed(found_by(piece, options_of(piece, before), died));
}

Results CampaignWork::found_by(const Piece& piece, const CampaignOptions& options, const Death* died) const {
  if (!died && options.interrupted && *options.interrupted) return {};
  if (!piece.law && died) throw std::runtime_error(died->how);
  if (!piece.law) return run_training_job(training_problems()[piece.training], options);
  const Abandon abandon = [&](const TaskResult& found) {
    leave_job(packed(part_of(*piece.law, found)),
              title_of(piece) + ": " + found.cases.back().message + ": " + found.cases.back().token);
  };
  return part_of(*piece.law, run_law_task(*piece.law, piece.storage, options, abandon, died));
}

/// A piece that threw, or whose process died of no case that is known: recorded as an error of its law, so that it
/// cannot be overlooked.
CaseRecord CampaignWork::crashed(const Piece& piece, const std::string& answer) const {
  CaseRecord record;
  record.law = piece.law ? piece.law->name : "training";
  record.precision = name_of(piece.storage);
  record.id = title_of(piece);
  record.title = title_of(piece);
  record.status = Status::error;
  record.message = answer;
  return record;
}

Results CampaignWork::results(const std::vector<std::string>& answers) const {
  Results results;
  results.seed = options_.seed;
  results.effort = options_.effort;
  results.triggers_required = options_.triggers_required;
  results.triggers = Coverage(options_.subject.executor).records();
  if (options_.shard != ShardName{}) results.shard = text_of(options_.shard);
  for (const Law* law : matching_laws(options_.law_glob)) results.laws.push_back(described(*law));
  const auto missing = std::ranges::count_if(answers, &std::string::empty);
  for (std::size_t i = 0; i < answers.size(); ++i) {
    if (answers[i].starts_with("crash: "))
      results.cases.push_back(crashed(pieces_[i], answers[i]));
    else if (!answers[i].empty())
      add_part(results, unpacked(answers[i]));
  }
  results.partial = missing > 0 || (options_.interrupted && *options_.interrupted);
  if (results.partial) results.partial_reason = "interrupted";
  settle_laws(results);
  std::uint64_t checks = 0;
  for (const CaseRecord& c : results.cases) checks += c.checks;
  for (const TrainingRecord& t : results.training) checks += t.checks;
  (options_.subject.executor == ExecutorKind::cuda ? results.ran_on_device : results.ran_on_host) = checks;
  return results;
}

}  // namespace tally
