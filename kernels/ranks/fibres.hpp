// Ranks of a group as fibres of one thread.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <map>
#include <string>
#include <string_view>

#include "kernels/device/executor/fibre.hpp"
#include "kernels/ranks/link.hpp"

namespace tally {

// The stack of one rank in this process.

/// Memory is taken page by page as the stack grows; below it lies a page that cannot be touched.
class FibreStack {
 public:
  explicit FibreStack(void (*entry)());
  ~FibreStack();
  FibreStack(const FibreStack&) = delete;
  FibreStack& operator=(const FibreStack&) = delete;

  executor::Context context;

 private:
  std::byte* mapping_;
};

// Ranks in one process, each on a stack of its own, and the bytes that they send each other.

// Bytes that ranks of one process send each other, by window and by what they are about.

/// Bytes of one rank, by the stage of a window that they are about: "w0/reduce", every micro-batch's together.
using RankTraffic = std::map<std::string, std::uint64_t>;

/// While it lives, what ranks on fibres of this thread send is counted. Scopes nest; the inner one alone counts.
class TrafficScope {
 public:
  TrafficScope();
  ~TrafficScope();
  TrafficScope(const TrafficScope&) = delete;
  TrafficScope& operator=(const TrafficScope&) = delete;
  /// By rank; a rank that sent nothing is absent.
  const std::map<int, RankTraffic>& ranks() const { return ranks_; }

 private:
  friend void note_sent(int rank, std::string_view about, std::size_t bytes);
  std::map<int, RankTraffic> ranks_;
  TrafficScope* outer_;
};

/// For links: a message that was handed over.
void note_sent(int rank, std::string_view about, std::size_t bytes);

// Ranks in one process, each on a stack of its own: one runs until it waits for a message, then another that can.
// No thread of the operating system is involved, so that a run repeats, and the order is drawn.

/// Runs work(link) for every rank of a group of `ranks`. Which of those that can go on does is the lowest, or drawn from
/// `arrival` where that is not 0. What a rank throws ends the group: the others' waits throw BrokenLink, and it is
/// thrown again once all have ended. Ranks that all wait are a deadlock: every wait throws BrokenLink, whose text says
/// who waits for whom. Where `stages` neighbours are one rank's, messages name them so: "stage 2 of rank 1".
void run_ranks_on_fibres(int ranks, std::uint64_t arrival, const std::function<void(Link& link)>& work, int stages = 1);
/// The rank whose fibre runs on this thread; 0 outside.
int running_rank();

}  // namespace tally
