// A process group: ranks of MPI that train cases together, what they train at a time, and what each notes of itself for
// whoever must tell why it hangs.
// Defined in group_notes.cpp.
#pragma once

#include <sys/types.h>

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <optional>
#include <string>
#include <string_view>

#include "kernels/ranks/link.hpp"
#include "kernels/ranks/mpi_link.hpp"
#include "kernels/subjects/process/child_process.hpp"
#include "kernels/trace/last_place.hpp"
#include "kernels/training_step/ranks/checkpoint.hpp"
#include "kernels/training_step/run/own_step.hpp"
#include "oracle/case/case.hpp"
#include "reports/command_line/verify/subject.hpp"

namespace tally::command_line {

// Where the ranks of a process group note where they stand, in memory that their parent reads when one of them dies or hangs: what
// each made last, what it waits for, and who ended first. It is of one machine.

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

class GroupBoard {
 public:
  /// A new one. Throws std::runtime_error where there is no memory.
  explicit GroupBoard(int ranks);
  /// That of another process. nullopt where `path` is none: on another machine than the parent's, say.
  static std::optional<GroupBoard> at(const std::string& path);
  GroupBoard(GroupBoard&& other) noexcept;
  GroupBoard& operator=(GroupBoard&&) = delete;
  ~GroupBoard();

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
  GroupBoard(Head* head, std::size_t bytes) : head_(head), bytes_(bytes) {}
  Descriptor descriptor_;  // none: of another process
  Head* head_ = nullptr;
  std::size_t bytes_ = 0;
};

// What a process group's notes say of its ranks, for people.

/// Who waits for whom, from this rank on: "rank 0 waits for w0/reduce from rank 2, which is stopped, after the tap …".
std::string who_waits(const GroupBoard& board, int rank);

/// "hang: …", or "deadlock: …" where those that wait wait for each other; `waited`: how long this rank did.
std::string account_of_hang(const GroupBoard& board, int rank, const std::string& waited);

/// Why a process group left no trace of a case: a rank's end, what a rank said of a hang, or that of the launcher. `limit` and
/// `ended` are as StepWitness::failure() has them; the processes may still be there.
StepFailed failure_of_group(const GroupBoard& board, const std::string& launcher,
                            const std::optional<ProcessEnd>& ended, const std::string& limit);

// What one rank of a process group notes of itself on the process group's board. Without a board it notes nothing.

class GroupPost : public WaitWatch, public TapWatch {
 public:
  /// `path` of the board; none is there where the parent is on another machine.
  GroupPost(const std::string& path, int rank, int ranks);

  /// From here on two processes run: the one that goes on behind this call trains, and the other waits for its end,
  /// notes it and ends alike, so that the way of an end is known whatever it is. Either ends with its parent.
  void train_under_watch();

  void stand(RankNotes::Standing standing);
  /// It cannot go on with the group, for this reason: no other rank waits for it any more.
  void leave(const std::string& reason);
  /// What the rank said that left; empty where none did.
  std::string why_broken() const;
  /// It waited as long as it may. Says what was found; the first such rank's stands.
  std::string give_up(double seconds);

  void see(const TapView& tap) override;
  void wait(int from, const std::string& about) override;
  void go_on() override;
  bool is_broken() const override;

 private:
  std::optional<GroupBoard> board_;
  RankNotes* notes_ = nullptr;
  int rank_;
  RankNotes::Standing before_ = RankNotes::idle;  // a wait
  std::string tap_;
};

// What a process group trains together at a time, as it goes from the first rank to the others, and what each of them leaves.

/// A case, or a generation of one whose number of ranks changes, with what the generation before it wrote down.
struct GroupJob {
  Case c;
  std::string hash;  // of the case, as its parent says
  std::size_t generation = 0;
  Checkpoint before;
};

/// Never empty.
std::string packed(const GroupJob& job);
/// Throws std::runtime_error for a text that packed() did not make.
GroupJob unpacked_job(const std::string& text);

/// How many processes train any generation of a case at most.
std::size_t processes_at_most(const Case& c);

/// What one process leaves: its trace as flat bytes and what it wrote down for the next generation, or why it has none.
struct GroupPart {
  std::string trace;
  Checkpoint after;
  std::string why;
};

std::string packed(const GroupPart& part);
GroupPart unpacked_part(const std::string& text);

/// Trains as one of the first processes of the link, as many as the job's generation has. Throws HungLink.
GroupPart trained(Link& link, const GroupJob& job);
/// The generation's.
std::size_t processes_of(const GroupJob& job);

// Ranks of MPI that train cases together: what each process of the process group does.

struct GroupOptions {
  double seconds = 30;  // that a rank waits for another
  std::string answers;  // file of the first rank's answers; empty: standard output
  std::string board;    // where the process group's board is (process_group.hpp); empty: there is none
  bool nccl = false;    // sums by the library are NCCL's, on each process's GPU; else MPI's
};

/// What a process of the process group does until its first rank's input ends: cases are read there, as a step of one's own
/// reads them (kernels/subjects/process/process.md), trained by all, and answered. A rank that waits too long for
/// another ends them all. Returns the exit code.
int run_rank_of_group(const GroupOptions& options);

// A process group of MPI's ranks as a subject: cases of so many ranks are trained by it, all others by its first rank.

/// Starts it once to see that it can. Throws UsageError, StepRefused. It lives as long as the program.
RunOptions group_subject(const SubjectOptions& options, int ranks);

}  // namespace tally::command_line
