#include <sys/prctl.h>

#include <algorithm>
#include <csignal>
#include <fstream>
#include <iostream>
#include <nlohmann/json.hpp>
#include <set>
#include <sstream>

#include "properties/campaign/node.hpp"
#include "reports/command_line/output.hpp"
#include "reports/command_line/verify/mpi.hpp"
#include "reports/record/packed.hpp"
#include "reports/text/stored_text.hpp"

namespace tally::command_line {
namespace {

namespace fs = std::filesystem;

std::string contents_or_none(const fs::path& file) {
  std::ifstream stream(file, std::ios::binary);
  return {std::istreambuf_iterator<char>(stream), {}};
}

/// How long pieces took in the run that a folder holds, by title; empty where none was timed.
std::map<std::string, double> last_seconds(const fs::path& out) {
  std::map<std::string, double> seconds;
  const nlohmann::json facts = nlohmann::json::parse(contents_or_none(out / "run.json"), nullptr, false);
  if (!facts.is_object() || !facts.contains("across")) return seconds;
  try {
    for (const auto& piece : facts.at("across").at("pieces")) seconds[piece.at("title")] = piece.at("seconds");
  } catch (const nlohmann::json::exception&) {  // of another version: in their own order then
    seconds.clear();
  }
  return seconds;
}

std::vector<std::string> titles_of(const CampaignWork& work) {
  std::vector<std::string> titles;
  for (std::size_t i = 0; i < work.size(); ++i) titles.push_back(work.title_of(i));
  return titles;
}

/// An answer as JSON; as it is where it is none, as that of a process that died.
std::string readable(const std::string& answer) {
  try {
    return to_json(unpacked(answer));
  } catch (const std::runtime_error&) {
    return answer;
  }
}

/// Both answers beside the report, for whoever looks for the reason.
void keep_both(const DifferentAnswers& both, const fs::path& out) {
  for (const int i : {0, 1})
    std::ofstream(out / ("piece-" + std::to_string(both.number + 1) + "-" + (i == 0 ? "a" : "b") + ".json"),
                  std::ios::binary)
        << readable(both.answers[i]);
}

std::string facts_of(const Dealing& dealing, const CampaignWork& work, const std::string& library) {
  nlohmann::json processes = nlohmann::json::array(), pieces = nlohmann::json::array();
  for (const Dealing::Member& member : dealing.members())
    processes.push_back({{"host", member.host},
                         {"workers", member.workers},
                         {"pieces", member.pieces},
                         {"busy_seconds", member.busy},
                         {"waiting_seconds", member.waited},
                         {"lost", member.lost}});
  for (const Dealing::Run& run : dealing.runs())
    pieces.push_back({{"title", work.title_of(run.number)}, {"seconds", run.seconds}, {"process", run.member}});
  return nlohmann::json{{"library", library},       {"processes", processes},
                        {"pieces", pieces},         {"dealing_seconds", dealing.seconds()},
                        {"dealt", dealing.dealt()}, {"dealt_again", dealing.dealt_again()}}
      .dump();
}

/// The journal that the first process keeps, and the answers that it had.
Journal opened(const AcrossOptions& options, const CampaignOptions& campaign, Heading& heading,
               std::vector<std::string>& answers) {
  const fs::path file = options.out / "journal";
  if (options.resume) {
    if (!fs::exists(file))
      throw UsageError("--resume: " + file.string() + ": found no journal; expected one that an interrupted run left");
    const Heading before = heading_of(Journal::heading_of(file));
    if (const std::string other = difference(before, heading); !other.empty())
      throw UsageError("--resume: " + file.string() + ": " + other + ", as in the journal");
    heading.kept = before.kept;
    return Journal::resumed(file, answers);
  }
  if (fs::exists(file))
    throw UsageError("--out: " + file.string() +
                     ": found the journal of a campaign that was ended before it was over; expected none: --resume " +
                     options.out.string() + " goes on with it, or remove it");
  heading.kept = names_of(kept_cases(campaign.corpus));
  return Journal::begun(file, text_of(heading));
}

AcrossRun lead(CampaignProcess& process, MpiLink& link, const CampaignOptions& campaign, const AcrossOptions& options,
               const CampaignWork& work, Journal journal, const Heading& heading, std::vector<std::string> answers) {
  std::size_t finished = work.size() - static_cast<std::size_t>(std::ranges::count_if(answers, &std::string::empty));
  Dealing dealing(
      Dealer(longest_first(titles_of(work), last_seconds(options.out)), std::move(answers)), journal, text_of(heading),
      static_cast<std::size_t>(link.size()), options.lost_after,
      [&](int to, const std::string& word, const std::string& text) { process.send(to, word, text); },
      [&](std::size_t number) {
        campaign.progress("[" + std::to_string(++finished) + "/" + std::to_string(work.size()) + "] " +
                          work.title_of(number));
      });
  try {
    process.run(&dealing, [&] { return campaign.interrupted && *campaign.interrupted; });
  } catch (const DifferentAnswers& both) {
    keep_both(both, options.out);
    throw;
  } catch (const NotTheSameCampaign&) {
    if (!options.resume) journal.remove();  // nothing was dealt
    dealing.stop();
    throw;
  }
  journal.sync();
  return {dealing.dealer().answers(), facts_of(dealing, work, link.library()), std::move(journal), nullptr};
}

/// Ends all processes, as one of them cannot go on.
[[noreturn]] void give_up(MpiLink& link, const std::exception& reason, const fs::path& out) {
  std::cerr << "error: process " << link.rank() << ": " << reason.what() << "\n";
  if (link.rank() == dealing_process)
    std::cerr << "what was found is kept in " << (out / "journal").string() << ": --resume " << out.string()
              << " goes on with it" << std::endl;
  link.abort(environment);
  std::_Exit(environment);
}

EarlyForkJobs jobs_of(CampaignOptions campaign, const std::string& heading) {
  campaign.interrupted = nullptr;  // no half answer: see EarlyFork
  campaign.kept = kept_cases_of(campaign.corpus, heading_of(heading).kept);
  const auto work = std::make_shared<const CampaignWork>(campaign);
  return {[work](std::size_t i, std::size_t before) { return work->run(i, before); },
          [work](std::size_t i, std::size_t before, const Death& died) { return work->run(i, before, &died); }};
}

}  // namespace

std::optional<AcrossRun> run_across(CampaignOptions& campaign, const AcrossOptions& options,
                                    const std::function<void()>& check) {
  const auto world = world_of_launcher();
  if (!world)
    throw UsageError(
        "--across: no launcher of MPI started this process; expected mpirun -n 2 tally verify --across "
        "mpi, or srun --mpi=pmix in its place");
  prctl(PR_SET_PDEATHSIG, SIGKILL);  // it does not outlive its launcher; the journal stays
  std::signal(SIGPIPE, SIG_IGN);
  campaign.processes = options.processes * world->size;
  const CampaignWork work(campaign);
  Heading heading{options.campaign, hex(sha256_digest(contents_or_none("/proc/self/exe"))), work.size(), {}};
  EarlyFork helper([&](const std::string& text) { return jobs_of(campaign, text); });
  std::unique_ptr<MpiLink> link = joined(*world, options.lost_after);
  CampaignProcess process(*link, helper, options.processes, heading, options.out / "journal");
  if (link->rank() != dealing_process) {
    try {
      process.run(nullptr, [] { return false; });
    } catch (const std::exception& reason) {
      give_up(*link, reason, options.out);
    }
    link->finish();
    return std::nullopt;
  }
  std::vector<std::string> answers(work.size());
  std::optional<Journal> journal;
  try {
    check();
    journal.emplace(opened(options, campaign, heading, answers));
  } catch (const std::exception&) {
    for (int to = 0; to < link->size(); ++to) process.send(to, word::over, "");
    link->finish();
    throw;
  }
  try {
    AcrossRun run = lead(process, *link, campaign, options, work, std::move(*journal), heading, std::move(answers));
    const bool lost = run.facts.find("\"lost\":true") != std::string::npos;
    if (lost)
      run.left = std::move(link);
    else
      link->finish();
    return run;
  } catch (const NotTheSameCampaign& reason) {
    link->finish();
    throw UsageError(std::string("--across: ") + reason.what());
  } catch (const std::exception& reason) {
    give_up(*link, reason, options.out);
  }
}

}  // namespace tally::command_line
