// When a thread of a launch touched memory, and what one thread knows of the others' accesses.
//
// Blocks are numbered through the process, so a stamp of an earlier launch is recognised by its block alone. Within a
// block a barrier begins an epoch; within a warp every __syncwarp advances each lane's clock.
#pragma once

#include <array>
#include <cstdint>
#include <map>

namespace tally::checker {

inline constexpr unsigned lanes = 32;

/// One access. All zero: none.
struct Stamp {
  std::uint32_t block = 0, epoch = 0;
  std::uint32_t who = 0;   // thread, and its clock << thread_bits
  std::uint32_t code = 0;  // where in the program, see source_line.hpp

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

}  // namespace tally::checker
