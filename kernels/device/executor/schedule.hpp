// The order in which threads start and ready threads go on: in order, or drawn from a seed.
#pragma once

#include <cstdint>

namespace tally::executor {

/// splitmix64, a counter with a mixing function.
class Schedule {
 public:
  explicit Schedule(std::uint64_t seed = 0) : state_(seed), drawn_(seed != 0) {}

  bool drawn() const { return drawn_; }
  std::uint64_t next() {
    std::uint64_t z = state_ += 0x9e3779b97f4a7c15ull;
    z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9ull;
    z = (z ^ (z >> 27)) * 0x94d049bb133111ebull;
    return z ^ (z >> 31);
  }
  /// Below `limit`, which is at least 1.
  std::uint64_t below(std::uint64_t limit) {
    return static_cast<std::uint64_t>((static_cast<unsigned __int128>(next()) * limit) >> 64);
  }

 private:
  std::uint64_t state_;
  bool drawn_;
};

}  // namespace tally::executor
