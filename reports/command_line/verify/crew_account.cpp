#include "reports/command_line/verify/crew_account.hpp"

#include <sys/wait.h>

#include <algorithm>
#include <csignal>
#include <cstring>
#include <fstream>
#include <vector>

namespace tally::command_line {
namespace {

using Why = StepFailed::Why;

/// 'T' of a process that a signal stopped, as /proc says it; ' ' of none.
char state_of(pid_t pid) {
  std::ifstream file("/proc/" + std::to_string(pid) + "/stat");
  std::string text;
  std::getline(file, text);
  const auto name = text.rfind(") ");
  return name == std::string::npos ? ' ' : text[name + 2];
}

std::string rank_word(int rank) { return "rank " + std::to_string(rank); }

std::string how_it_ended(int status) {
  if (!WIFSIGNALED(status)) return "an exit with code " + std::to_string(WEXITSTATUS(status));
  return "signal " + std::to_string(WTERMSIG(status)) + " (" + strsignal(WTERMSIG(status)) + ")";
}

std::string behind_its_last_tap(const RankNotes& notes) {
  const std::string_view tap = notes.tap.view();
  return tap.empty() ? ", before its first tap" : ", behind the tap " + std::string(tap);
}

/// What a rank does that waits for nobody.
std::string doing(const RankNotes& notes) {
  if (notes.end != 0) return "was ended by " + how_it_ended(notes.status) + behind_its_last_tap(notes);
  switch (notes.standing.load()) {
    case RankNotes::left:
      return "left the case";
    case RankNotes::done:
      return "has ended";
    default:
      break;
  }
  const bool has_begun = notes.standing != RankNotes::not_begun;
  if (has_begun && (state_of(notes.pid) == 'T' || state_of(notes.pid) == 't'))
    return "is stopped" + behind_its_last_tap(notes);
  if (!has_begun) return "has not begun";
  return notes.standing == RankNotes::idle ? "stands between two cases" : "is at work" + behind_its_last_tap(notes);
}

bool waits_for_another(const RankNotes& notes) {
  const char state = notes.standing == RankNotes::waiting && notes.end == 0 ? state_of(notes.pid) : 'T';
  return state != 'T' && state != 't';
}

/// Who waits, in the order of who waits for whom; its last rank waits for nobody, or for one that stands there.
std::vector<int> chain_from(const CrewBoard& board, int rank) {
  std::vector<int> chain;
  std::vector<bool> seen(static_cast<std::size_t>(board.ranks()));
  for (;;) {
    chain.push_back(rank);
    seen[static_cast<std::size_t>(rank)] = true;
    const RankNotes& notes = board.rank(rank);
    const int next = notes.awaited;
    if (!waits_for_another(notes) || next < 0 || next >= board.ranks()) return chain;
    rank = next;
    if (seen[static_cast<std::size_t>(rank)]) {
      chain.push_back(rank);
      return chain;
    }
  }
}

bool is_cycle(const std::vector<int>& chain) { return std::count(chain.begin(), chain.end(), chain.back()) > 1; }

/// The rank whose process ended first and was not to; below 0: none.
int first_ended(const CrewBoard& board) {
  int first = -1;
  for (int rank = 0; rank < board.ranks(); ++rank) {
    const RankNotes& notes = board.rank(rank);
    if (notes.end == 0 || notes.standing == RankNotes::done) continue;
    if (first < 0 || notes.end < board.rank(first).end) first = rank;
  }
  return first;
}

int first_that(const CrewBoard& board, bool (*holds)(const RankNotes& notes)) {
  for (int rank = 0; rank < board.ranks(); ++rank)
    if (holds(board.rank(rank))) return rank;
  return -1;
}

bool is_told_to_end(int status) {
  if (!WIFSIGNALED(status)) return false;
  const int signal = WTERMSIG(status);
  return signal == SIGTERM || signal == SIGINT || signal == SIGHUP || signal == SIGQUIT;
}

/// Too slow, unless a rank is stopped or waits for another.
StepFailed too_slow(const CrewBoard& board, const std::string& limit) {
  const std::string text = "it took longer than " + limit + " (--case-time): ";
  if (const int waits = first_that(board, waits_for_another); waits >= 0)
    return StepFailed("hang: " + text + who_waits(board, waits), Why::hung);
  const int stopped = first_that(board, [](const RankNotes& notes) {
    return notes.end == 0 && notes.standing != RankNotes::not_begun && state_of(notes.pid) == 'T';
  });
  if (stopped >= 0) return StepFailed("hang: " + text + who_waits(board, stopped), Why::hung);
  std::string each;
  constexpr int most = 8;
  for (int rank = 0; rank < std::min(board.ranks(), most); ++rank)
    each += (rank == 0 ? "" : "; ") + who_waits(board, rank);
  return StepFailed(text + each, Why::too_slow);
}

}  // namespace

std::string who_waits(const CrewBoard& board, int rank) {
  const std::vector<int> chain = chain_from(board, rank);
  std::string text = rank_word(rank);
  for (std::size_t i = 1; i < chain.size(); ++i) {
    const RankNotes& notes = board.rank(chain[i - 1]);
    text += (i == 1 ? "" : ", which") + std::string(" waits for ") + std::string(notes.about.view()) + " from " +
            rank_word(chain[i]);
  }
  if (is_cycle(chain)) return text;
  return text + (chain.size() == 1 ? " " : ", which ") + doing(board.rank(chain.back()));
}

std::string account_of_hang(const CrewBoard& board, int rank, const std::string& waited) {
  return (is_cycle(chain_from(board, rank)) ? "deadlock: after " : "hang: after ") + waited + " " +
         who_waits(board, rank);
}

StepFailed failure_of_crew(const CrewBoard& board, const std::string& launcher,
                           const std::optional<GuardedProcess::Ended>& ended, const std::string& limit) {
  if (const std::string said = board.given_up(); !said.empty()) return StepFailed(said, Why::hung);
  const int left = first_that(board, [](const RankNotes& notes) { return notes.standing == RankNotes::left; });
  if (left >= 0) return StepFailed(std::string(board.rank(left).reason.view()));
  const int first = first_ended(board);
  if (first >= 0) {
    const int status = board.rank(first).status;
    if (is_told_to_end(status))
      return StepFailed(
          "its launcher (" + launcher + ") ended its ranks, " + rank_word(first) + " by " + how_it_ended(status),
          Why::from_outside);
    const bool killed = WIFSIGNALED(status) && WTERMSIG(status) == SIGKILL;  // which tells nothing of other runs
    return StepFailed("crash: " + rank_word(first) + " " + doing(board.rank(first)), killed ? Why::wrong : Why::died);
  }
  if (!ended) return too_slow(board, limit);
  return StepFailed("its launcher (" + launcher + ") was ended by " + ended->how, Why::from_outside);
}

}  // namespace tally::command_line
