#include "reports/command_line/verify/crew_post.hpp"

#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <chrono>
#include <cmath>
#include <csignal>
#include <cstring>
#include <stdexcept>
#include <thread>

#include "reports/command_line/verify/crew_account.hpp"

namespace tally::command_line {
namespace {

constexpr int not_started = 3;

/// Ends as the process did that was waited for.
[[noreturn]] void end_alike(int status) {
  if (!WIFSIGNALED(status)) _exit(WEXITSTATUS(status));
  const rlimit none{0, 0};
  setrlimit(RLIMIT_CORE, &none);  // the other one may have left its own
  std::signal(WTERMSIG(status), SIG_DFL);
  kill(getpid(), WTERMSIG(status));
  _exit(128 + WTERMSIG(status));
}

}  // namespace

CrewPost::CrewPost(const std::string& path, int rank, int ranks) : rank_(rank) {
  auto board = CrewBoard::at(path);
  if (!board || board->ranks() != ranks || rank < 0 || rank >= ranks) return;
  notes_ = &board_.emplace(std::move(*board)).rank(rank);
}

void CrewPost::train_under_watch() {
  prctl(PR_SET_PDEATHSIG, SIGKILL);
  const pid_t own = getpid(), trains = fork();
  if (trains < 0) throw std::runtime_error(std::string("no process for a rank: ") + std::strerror(errno));
  if (trains == 0) {
    prctl(PR_SET_PDEATHSIG, SIGKILL);
    if (getppid() != own) _exit(not_started);
    if (notes_ != nullptr) notes_->pid = getpid();
    return;
  }
  prctl(PR_SET_NAME, "tally-watch");
  int status = 0;
  while (waitpid(trains, &status, 0) < 0)
    if (errno != EINTR) _exit(not_started);
  if (notes_ != nullptr) board_->note_end(rank_, status);
  end_alike(status);
}

void CrewPost::stand(RankNotes::Standing standing) {
  if (notes_ != nullptr) notes_->standing = standing;
}

void CrewPost::leave(const std::string& reason) {
  if (notes_ == nullptr || board_->is_broken()) return;
  notes_->reason.put("rank " + std::to_string(rank_) + " left the case: " + reason);
  stand(RankNotes::left);
  board_->break_up();
}

std::string CrewPost::why_broken() const {
  for (int rank = 0; is_broken() && rank < board_->ranks(); ++rank)
    if (board_->rank(rank).standing == RankNotes::left) return std::string(board_->rank(rank).reason.view());
  return "";
}

std::string CrewPost::give_up(double seconds) {
  if (notes_ == nullptr) return "";
  const std::string account =
      account_of_hang(*board_, rank_, std::to_string(std::lround(std::max(1.0, seconds))) + " s");
  constexpr std::chrono::milliseconds until_the_first_has_said_it{200};
  if (!board_->give_up(account)) std::this_thread::sleep_for(until_the_first_has_said_it);
  return account;
}

void CrewPost::see(const TapView& tap) {
  if (notes_ == nullptr || notes_->standing != RankNotes::at_work) return;
  tap_.clear();
  append(tap_, tap);
  notes_->tap.put(tap_);
}

void CrewPost::wait(int from, const std::string& about) {
  if (notes_ == nullptr) return;
  before_ = static_cast<RankNotes::Standing>(notes_->standing.load());
  notes_->about.put(about);
  notes_->awaited = from;
  stand(RankNotes::waiting);
}

void CrewPost::go_on() { stand(before_); }

bool CrewPost::is_broken() const { return notes_ != nullptr && board_->is_broken(); }

}  // namespace tally::command_line
