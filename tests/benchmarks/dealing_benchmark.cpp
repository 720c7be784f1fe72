// What dealing a campaign's pieces over processes costs, with pieces that do nothing but sleep:
//   mpirun -n 2 dealing_benchmarks MODULE FOLDER PIECES MILLISECONDS WORKERS
// MODULE is that of the launcher's MPI, reports/tally_mpi_openmpi.so or reports/tally_mpi_mpich.so; FOLDER is empty.
#include <sys/prctl.h>

#include <chrono>
#include <csignal>
#include <cstdlib>
#include <filesystem>
#include <iostream>
#include <numeric>
#include <thread>

#include "kernels/ranks/mpi_link.hpp"
#include "properties/campaign/node.hpp"

namespace {

using namespace tally;

EarlyForkJobs sleeping(int milliseconds) {
  const auto sleep = [milliseconds](std::size_t number, std::size_t) {
    std::this_thread::sleep_for(std::chrono::milliseconds(milliseconds));
    return std::string(2000, static_cast<char>('a' + number % 26));
  };
  return {sleep, [sleep](std::size_t number, std::size_t before, const Death&) { return sleep(number, before); }};
}

void report(const Dealing& dealing, const MpiLink& link, double seconds, int milliseconds, int workers) {
  const auto pieces = static_cast<double>(dealing.dealt());
  double waited = 0, busy = 0;
  for (const auto& member : dealing.members()) waited += member.waited, busy += member.busy;
  std::cout << link.library() << ", " << link.size() << " processes with " << workers << " workers, " << pieces
            << " pieces of " << milliseconds << " ms: " << seconds << " s, dealing " << 1e6 * dealing.seconds() / pieces
            << " us a piece, a worker waits " << 1e3 * waited / pieces << " ms for one, "
            << pieces * milliseconds / (10.0 * seconds * link.size() * workers) << " % of ideal" << std::endl;
}

int run(const std::string& module, const std::filesystem::path& folder, std::size_t pieces, int milliseconds,
        int workers) {
  prctl(PR_SET_PDEATHSIG, SIGKILL);
  EarlyFork helper([milliseconds](const std::string&) { return sleeping(milliseconds); });
  const auto link = open_mpi_link(module, 60);
  const Heading heading{"sleep", "none", pieces, {}};
  CampaignProcess process(*link, helper, workers, heading, folder / "journal");
  if (link->rank() != dealing_process) {
    process.run(nullptr, [] { return false; });
    link->finish();
    return 0;
  }
  std::vector<std::size_t> order(pieces);
  std::iota(order.begin(), order.end(), std::size_t{0});
  Journal journal = Journal::begun(folder / "journal", text_of(heading));
  const auto begin = std::chrono::steady_clock::now();
  Dealing dealing(
      Dealer(order, std::vector<std::string>(pieces)), journal, text_of(heading),
      static_cast<std::size_t>(link->size()), 60,
      [&](int to, const std::string& word, const std::string& text) { process.send(to, word, text); },
      [](std::size_t) {});
  process.run(&dealing, [] { return false; });
  const std::chrono::duration<double> took = std::chrono::steady_clock::now() - begin;
  report(dealing, *link, took.count(), milliseconds, workers);
  link->finish();
  journal.remove();
  return 0;
}

}  // namespace

int main(int count, char** words) {
  if (count != 6) {
    std::cerr << "expected MODULE FOLDER PIECES MILLISECONDS WORKERS\n";
    return 2;
  }
  return run(words[1], words[2], std::strtoull(words[3], nullptr, 10), std::atoi(words[4]), std::atoi(words[5]));
}
