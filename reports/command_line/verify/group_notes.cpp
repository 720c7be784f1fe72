// Where ranks note how far they are, and what their notes say, for people.
#include <fcntl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <csignal>
#include <cstring>
#include <fstream>
#include <stdexcept>
#include <utility>
#include <vector>

#include "reports/command_line/verify/process_group.hpp"

namespace tally::command_line {
namespace {

constexpr char mark[16] = "tally-crew-1";

}  // namespace

struct GroupBoard::Head {
  char mark[16];
  std::int32_t ranks;
  std::atomic<std::uint32_t> ends, broken, gave_up, account_stands;
  NotedText<8192> account;
};

namespace {

/// The bytes of the head, so that notes lie where they may.
constexpr std::size_t notes_from = 16384;

std::size_t bytes_for(int ranks) { return notes_from + static_cast<std::size_t>(ranks) * sizeof(RankNotes); }

void* mapped(int descriptor, std::size_t bytes) {
  return mmap(nullptr, bytes, PROT_READ | PROT_WRITE, MAP_SHARED, descriptor, 0);
}

}  // namespace

GroupBoard::GroupBoard(int ranks) : bytes_(bytes_for(ranks)) {
  static_assert(sizeof(Head) <= notes_from);
  descriptor_ = Descriptor(memfd_create("tally-crew", MFD_CLOEXEC));
  void* const memory = descriptor_ >= 0 && ftruncate(descriptor_, static_cast<off_t>(bytes_)) == 0
                           ? mapped(descriptor_, bytes_)
                           : MAP_FAILED;
  if (memory == MAP_FAILED) throw std::runtime_error(std::string("no memory for a crew: ") + std::strerror(errno));
  head_ = static_cast<Head*>(memory);
  head_->ranks = ranks;
  std::memcpy(head_->mark, mark, sizeof mark);
}

std::optional<GroupBoard> GroupBoard::at(const std::string& path) {
  const Descriptor descriptor(open(path.c_str(), O_RDWR | O_CLOEXEC));
  if (descriptor < 0) return std::nullopt;
  struct stat facts {};
  const bool large =
      fstat(descriptor, &facts) == 0 && S_ISREG(facts.st_mode) && static_cast<std::size_t>(facts.st_size) >= notes_from;
  const auto bytes = static_cast<std::size_t>(facts.st_size);
  void* const memory = large ? mapped(descriptor, bytes) : MAP_FAILED;
  if (memory == MAP_FAILED) return std::nullopt;
  GroupBoard board(static_cast<Head*>(memory), bytes);
  if (std::memcmp(board.head_->mark, mark, sizeof mark) != 0 || bytes != bytes_for(board.head_->ranks))
    return std::nullopt;
  return board;
}

GroupBoard::GroupBoard(GroupBoard&& other) noexcept
    : descriptor_(std::move(other.descriptor_)), head_(std::exchange(other.head_, nullptr)), bytes_(other.bytes_) {}

GroupBoard::~GroupBoard() {
  if (head_ != nullptr) munmap(head_, bytes_);
}

std::string GroupBoard::path() const {
  return "/proc/" + std::to_string(getpid()) + "/fd/" + std::to_string(int{descriptor_});
}

int GroupBoard::ranks() const { return head_->ranks; }

RankNotes& GroupBoard::rank(int number) const {
  if (number < 0 || number >= ranks()) throw std::logic_error("a crew has no rank " + std::to_string(number));
  return reinterpret_cast<RankNotes*>(reinterpret_cast<char*>(head_) + notes_from)[number];
}

void GroupBoard::note_end(int number, int status) const {
  RankNotes& notes = rank(number);
  notes.status = status;
  notes.end = ++head_->ends;
}

bool GroupBoard::is_broken() const { return head_->broken != 0; }

void GroupBoard::break_up() const { head_->broken = 1; }

bool GroupBoard::give_up(std::string_view account) const {
  if (head_->gave_up.exchange(1) != 0) return false;
  head_->account.put(account);
  head_->account_stands = 1;
  return true;
}

std::string GroupBoard::given_up() const {
  return head_->account_stands != 0 ? std::string(head_->account.view()) : "";
}

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

std::string behind_its_last_tap(const RankNotes& notes) {
  const std::string_view tap = notes.tap.view();
  return tap.empty() ? ", before its first tap" : ", after the tap " + std::string(tap);
}

/// What a rank does that waits for nobody.
std::string doing(const RankNotes& notes) {
  if (notes.end != 0) return "was ended by " + end_by(notes.status).how + behind_its_last_tap(notes);
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
std::vector<int> chain_from(const GroupBoard& board, int rank) {
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
int first_ended(const GroupBoard& board) {
  int first = -1;
  for (int rank = 0; rank < board.ranks(); ++rank) {
    const RankNotes& notes = board.rank(rank);
    if (notes.end == 0 || notes.standing == RankNotes::done) continue;
    if (first < 0 || notes.end < board.rank(first).end) first = rank;
  }
  return first;
}

int first_that(const GroupBoard& board, bool (*holds)(const RankNotes& notes)) {
  for (int rank = 0; rank < board.ranks(); ++rank)
    if (holds(board.rank(rank))) return rank;
  return -1;
}

/// Too slow, unless a rank is stopped or waits for another.
StepFailed too_slow(const GroupBoard& board, const std::string& limit) {
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

std::string who_waits(const GroupBoard& board, int rank) {
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

std::string account_of_hang(const GroupBoard& board, int rank, const std::string& waited) {
  return (is_cycle(chain_from(board, rank)) ? "deadlock: after " : "hang: after ") + waited + " " +
         who_waits(board, rank);
}

StepFailed failure_of_group(const GroupBoard& board, const std::string& launcher,
                            const std::optional<ProcessEnd>& ended, const std::string& limit) {
  if (const std::string said = board.given_up(); !said.empty()) return StepFailed(said, Why::hung);
  const int left = first_that(board, [](const RankNotes& notes) { return notes.standing == RankNotes::left; });
  if (left >= 0) return StepFailed(std::string(board.rank(left).reason.view()));
  const int first = first_ended(board);
  if (first >= 0) {
    const int status = board.rank(first).status;
    const bool killed = WIFSIGNALED(status) && WTERMSIG(status) == SIGKILL;  // which tells nothing of other runs
    if (end_by(status).from_outside && !killed)
      return StepFailed(
          "its launcher (" + launcher + ") ended its ranks, " + rank_word(first) + " by " + end_by(status).how,
          Why::from_outside);
    return StepFailed("crash: " + rank_word(first) + " " + doing(board.rank(first)), killed ? Why::wrong : Why::died);
  }
  if (!ended) return too_slow(board, limit);
  return StepFailed("its launcher (" + launcher + ") was ended by " + ended->how, Why::from_outside);
}

}  // namespace tally::command_line
