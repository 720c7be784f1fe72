#include "kernels/device/checker/streams.hpp"

#include <algorithm>

#include "kernels/device/executor/state.hpp"

namespace tally::checker {
namespace {

struct Placed {
  std::uint32_t first_block = 0, blocks = 0;
  std::size_t stream = 0;
  std::uint64_t number = 0;
  const char* kernel = "";
  std::source_location at;
};

struct Launches {
  std::vector<Placed> all;  // by their blocks; the last is the running one
  StreamClock known;        // to the running one
  bool placed = false;      // the next launch to begin is the last of `all`
};

Launches& own_launches() {
  static thread_local Launches one;
  return one;
}

const Placed* launch_of(std::uint32_t block) {
  const auto& all = own_launches().all;
  const auto after = std::ranges::upper_bound(all, block, {}, &Placed::first_block);
  if (after == all.begin()) return nullptr;
  const Placed& it = *std::prev(after);
  return block - it.first_block < it.blocks ? &it : nullptr;
}

}  // namespace

void place_launch(std::size_t stream, std::uint64_t number, const StreamClock& known, const char* kernel,
                  std::source_location at) {
  Launches& launches = own_launches();
  if (launches.placed) launches.all.pop_back();  // it never began
  launches.all.push_back({.stream = stream, .number = number, .kernel = kernel, .at = at});
  launches.known = known;
  launches.placed = true;
}

void forget_streams() { own_launches() = {}; }

std::uint32_t begin_placed_launch(std::uint32_t first_block, std::uint32_t blocks) {
  Launches& launches = own_launches();
  if (!launches.placed) return first_block;
  launches.placed = false;
  launches.all.back().first_block = first_block;
  launches.all.back().blocks = blocks;
  return launches.all.front().first_block;
}

bool launch_happened_before(std::uint32_t block) {
  const Placed* it = launch_of(block);
  return it == nullptr || it->number <= own_launches().known.of(it->stream);
}

std::string describe_launch(std::uint32_t block) {
  const Placed* it = launch_of(block);
  if (it == nullptr || it == &own_launches().all.back()) return "";
  const std::string name = executor::kernel_name(it->kernel);
  return " of launch " + (name.empty() ? "" : name + " ") + "at " + executor::describe(it->at) + " on another stream";
}

}  // namespace tally::checker
