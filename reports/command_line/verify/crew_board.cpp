#include "reports/command_line/verify/crew_board.hpp"

#include <fcntl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <stdexcept>
#include <utility>

namespace tally::command_line {
namespace {

constexpr char mark[16] = "tally-crew-1";

}  // namespace

struct CrewBoard::Head {
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

CrewBoard::CrewBoard(int ranks) : bytes_(bytes_for(ranks)) {
  static_assert(sizeof(Head) <= notes_from);
  descriptor_ = memfd_create("tally-crew", MFD_CLOEXEC);
  void* const memory = descriptor_ >= 0 && ftruncate(descriptor_, static_cast<off_t>(bytes_)) == 0
                           ? mapped(descriptor_, bytes_)
                           : MAP_FAILED;
  if (memory == MAP_FAILED) throw std::runtime_error(std::string("no memory for a crew: ") + std::strerror(errno));
  head_ = static_cast<Head*>(memory);
  head_->ranks = ranks;
  std::memcpy(head_->mark, mark, sizeof mark);
}

std::optional<CrewBoard> CrewBoard::at(const std::string& path) {
  const int descriptor = open(path.c_str(), O_RDWR | O_CLOEXEC);
  if (descriptor < 0) return std::nullopt;
  struct stat facts {};
  const bool large =
      fstat(descriptor, &facts) == 0 && S_ISREG(facts.st_mode) && static_cast<std::size_t>(facts.st_size) >= notes_from;
  const auto bytes = static_cast<std::size_t>(facts.st_size);
  void* const memory = large ? mapped(descriptor, bytes) : MAP_FAILED;
  close(descriptor);
  if (memory == MAP_FAILED) return std::nullopt;
  CrewBoard board(-1, static_cast<Head*>(memory), bytes);
  if (std::memcmp(board.head_->mark, mark, sizeof mark) != 0 || bytes != bytes_for(board.head_->ranks))
    return std::nullopt;
  return board;
}

CrewBoard::CrewBoard(CrewBoard&& other) noexcept
    : descriptor_(std::exchange(other.descriptor_, -1)),
      head_(std::exchange(other.head_, nullptr)),
      bytes_(other.bytes_) {}

CrewBoard::~CrewBoard() {
  if (head_ != nullptr) munmap(head_, bytes_);
  if (descriptor_ >= 0) close(descriptor_);
}

std::string CrewBoard::path() const {
  return "/proc/" + std::to_string(getpid()) + "/fd/" + std::to_string(descriptor_);
}

int CrewBoard::ranks() const { return head_->ranks; }

RankNotes& CrewBoard::rank(int number) const {
  if (number < 0 || number >= ranks()) throw std::logic_error("a crew has no rank " + std::to_string(number));
  return reinterpret_cast<RankNotes*>(reinterpret_cast<char*>(head_) + notes_from)[number];
}

void CrewBoard::note_end(int number, int status) const {
  RankNotes& notes = rank(number);
  notes.status = status;
  notes.end = ++head_->ends;
}

bool CrewBoard::is_broken() const { return head_->broken != 0; }

void CrewBoard::break_up() const { head_->broken = 1; }

bool CrewBoard::give_up(std::string_view account) const {
  if (head_->gave_up.exchange(1) != 0) return false;
  head_->account.put(account);
  head_->account_stands = 1;
  return true;
}

std::string CrewBoard::given_up() const { return head_->account_stands != 0 ? std::string(head_->account.view()) : ""; }

}  // namespace tally::command_line
