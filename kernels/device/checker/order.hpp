// What happens before what in a checked launch: when threads touched memory, and what each knows of the others.
#pragma once

#include <array>
#include <cstdint>
#include <map>

namespace tally::checker {

// When a thread of a launch touched memory, and what one thread knows of the others' accesses.
//
// Blocks are numbered through the process, so a stamp of an earlier launch is recognised by its block alone. Within a
// block a barrier begins an epoch; within a warp every __syncwarp advances each lane's clock.

inline constexpr unsigned lanes = 32;

/// One access. All zero: none.
struct Stamp {
  std::uint32_t block = 0, epoch = 0;
  std::uint32_t who = 0;   // thread, and its clock << thread_bits
  std::uint32_t code = 0;  // where in the program, see access.hpp

  static constexpr unsigned thread_bits = 10;
  unsigned thread() const { return who & ((1u << thread_bits) - 1); }
  std::uint32_t clock() const { return who >> thread_bits; }
};

using WarpClocks = std::array<std::uint32_t, lanes>;  // of each lane, how far it is known

/// What of some blocks is known: all before an epoch, and of some warps each lane up to its clock.
class Known {
 public:
  bool empty() const { return blocks_.empty(); }
  bool covers(const Stamp& stamp) const {
    const auto found = blocks_.find(stamp.block);
    if (found == blocks_.end()) return false;
    if (stamp.epoch < found->second.epoch) return true;
    const auto warp = found->second.warps.find(stamp.thread() / lanes);
    return warp != found->second.warps.end() && stamp.clock() <= warp->second[stamp.thread() % lanes];
  }
  void add(std::uint32_t block, std::uint32_t epoch, unsigned warp, const WarpClocks& clocks) {
    Block& known = blocks_[block];
    known.epoch = epoch > known.epoch ? epoch : known.epoch;
    raise(known.warps[warp], clocks);
  }
  void add(const Known& other) {
    for (const auto& [number, block] : other.blocks_) {
      for (const auto& [warp, clocks] : block.warps) add(number, block.epoch, warp, clocks);
    }
  }

  static void raise(WarpClocks& clocks, const WarpClocks& others) {
    for (unsigned lane = 0; lane < lanes; ++lane) {
      if (others[lane] > clocks[lane]) clocks[lane] = others[lane];
    }
  }

 private:
  struct Block {
    std::uint32_t epoch = 0;
    std::map<unsigned, WarpClocks> warps;
  };
  std::map<std::uint32_t, Block> blocks_;
};

// What happens before what in a checked launch, as the executor tells it: threads come and go, wait at barriers and in
// __syncwarp, fence, and meet in atomics. Shuffles and votes order no memory, so they are not told.

/// The running thread of the checked launch on this operating-system thread.
struct Running {
  bool active = false;                        // a block of a checked launch is running
  std::uint32_t first_block = 0, blocks = 0;  // of the launch
  // The blocks of it, and of earlier launches on other streams that it may not come after: from, and how many.
  std::uint32_t unordered = 0, unordered_blocks = 0;
  std::uint32_t block = 0, epoch = 0;
  std::uint32_t who = 0;              // as in Stamp
  const WarpClocks* known = nullptr;  // by the running thread, of its warp
  bool handed_on = false;             // a fence was seen in this launch
  bool clocks = false;                // some thread of the block has a clock other than 1, or knows of another's
  // Where own_elements.hpp applies: the launch, by its first block, << 32. Elsewhere `never`.
  static constexpr std::uint64_t never = ~std::uint64_t{0};
  std::uint64_t noting = never;
  std::uint32_t threads = 0;                       // of a block
  std::uint64_t position = 0, block_position = 0;  // of the running thread, and of the block's first, in the launch
};
inline constinit thread_local Running running{};

/// `who` of a thread that has not synchronised.
inline std::uint32_t fresh_who(unsigned thread) { return thread | 1u << Stamp::thread_bits; }

/// A launch begins and ends; does nothing unless `checked`.
class LaunchScope {
 public:
  LaunchScope(bool checked, std::uint64_t blocks);
  ~LaunchScope();
  LaunchScope(const LaunchScope&) = delete;
  LaunchScope& operator=(const LaunchScope&) = delete;

 private:
  bool checked_;
};

void begin_block();

void set_running_thread(unsigned thread);
inline void enter_thread(unsigned thread) {
  running.position = running.block_position + thread;
  running.who = fresh_who(thread);
  if (running.clocks) set_running_thread(thread);
}

/// Every thread of the block has come to the barrier, or ended.
void pass_barrier();
/// The running thread's warp: these lanes have come to __syncwarp, or ended.
void pass_warp_barrier(unsigned warp, std::uint32_t lanes_there);

/// __threadfence, also of a block: what the running thread knows may be handed on by atomics.
void fence();
/// Before an atomic of the running thread on this address: hands on what was fenced, takes what others handed on.
void meet(const void* address);

/// Whether a stamp of this launch by another thread, or of a launch on another stream, is known to have happened
/// before; the slow part.
bool known_otherwise(const Stamp& stamp);

/// Whether the access happens before what the running thread does now.
inline bool happened_before(const Stamp& stamp) {
  const Running& r = running;
  if (stamp.block == r.block) {
    if (stamp.epoch < r.epoch) return true;
    const unsigned thread = stamp.thread(), mine = r.who & ((1u << Stamp::thread_bits) - 1);
    if (thread == mine) return true;
    if (thread / lanes == mine / lanes && stamp.clock() <= (*r.known)[thread % lanes]) return true;
  } else if (stamp.block - r.unordered >= r.unordered_blocks) {
    return true;  // an earlier launch, or none
  }
  const bool nothing_else_known = !r.handed_on && stamp.block >= r.first_block;
  return !nothing_else_known && known_otherwise(stamp);
}

}  // namespace tally::checker
