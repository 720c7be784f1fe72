// Where the ranks of a crew note where they stand, in memory that their parent reads when one of them dies or hangs: what
// each made last, what it waits for, and who ended first. It is of one machine.
#pragma once

#include <sys/types.h>

#include <atomic>
#include <cstdint>
#include <cstring>
#include <optional>
#include <string>
#include <string_view>

namespace tally::command_line {

/// Text of a fixed size, cut where it is longer. Whoever reads it while it is written may see a part of each.
template <std::size_t size>
struct NotedText {
  char text[size];
  void put(std::string_view from) {
    const std::size_t taken = from.copy(text, size - 1);
    text[taken] = '\0';
  }
  std::string_view view() const { return {text, strnlen(text, size - 1)}; }
};

/// One rank's notes. All begin as zeros.
struct RankNotes {
  enum Standing : std::uint32_t { not_begun, idle, at_work, waiting, left, done };
  std::atomic<pid_t> pid;  // of the process that trains
  std::atomic<std::uint32_t> standing;
  std::atomic<std::int32_t> awaited;  // the rank that it waits for
  std::atomic<std::uint32_t> end;     // its place among all ends, from 1; 0: it goes on
  std::atomic<std::int32_t> status;   // as waitpid tells it
  NotedText<256> tap, about;          // the last one made; what it waits for
  NotedText<1024> reason;             // why it left
};

class CrewBoard {
 public:
  /// A new one. Throws std::runtime_error where there is no memory.
  explicit CrewBoard(int ranks);
  /// That of another process. nullopt where `path` is none: on another machine than the parent's, say.
  static std::optional<CrewBoard> at(const std::string& path);
  CrewBoard(CrewBoard&& other) noexcept;
  CrewBoard& operator=(CrewBoard&&) = delete;
  ~CrewBoard();

  /// Where any process of this user finds it, as long as this one lives.
  std::string path() const;
  int ranks() const;
  RankNotes& rank(int number) const;

  /// Notes that a rank's process ended, and by what.
  void note_end(int rank, int status) const;
  /// The group cannot go on, whatever a rank still waits for.
  bool is_broken() const;
  void break_up() const;
  /// Notes what was found of a hang, the first time. Whether this was the first.
  bool give_up(std::string_view account) const;
  /// Empty: nobody gave up.
  std::string given_up() const;

 private:
  struct Head;
  CrewBoard(int descriptor, Head* head, std::size_t bytes) : descriptor_(descriptor), head_(head), bytes_(bytes) {}
  int descriptor_ = -1;  // below 0: of another process
  Head* head_ = nullptr;
  std::size_t bytes_ = 0;
};

}  // namespace tally::command_line
