// Choices drawn from a seed.
#pragma once

#include <cstdint>
#include <initializer_list>
#include <string>

#include "kernels/device/executor/schedule.hpp"

namespace tally {

class Lots {
 public:
  explicit Lots(std::uint64_t seed) : random_(seed) {}

  bool one_in(std::uint64_t n) { return random_.below(n) == 0; }
  std::int64_t between(std::int64_t least, std::int64_t most) {
    return least + static_cast<std::int64_t>(random_.below(static_cast<std::uint64_t>(most - least + 1)));
  }
  /// Any of them, each as often; one that stands twice comes twice as often.
  template <class T>
  T any(std::initializer_list<T> choices) {
    return choices.begin()[random_.below(choices.size())];
  }
  std::string word(std::initializer_list<const char*> choices) { return any(choices); }

 private:
  executor::Schedule random_;
};

}  // namespace tally
