// Which launches on other streams a launch comes after, for the checker: how far each stream was known to be.
#pragma once

#include <cstdint>
#include <source_location>
#include <string>
#include <vector>

namespace tally::checker {

/// By stream: so many pieces of its work are known to be done.
class StreamClock {
 public:
  std::uint64_t of(std::size_t stream) const { return stream < done_.size() ? done_[stream] : 0; }
  void raise(std::size_t stream, std::uint64_t done) {
    if (stream >= done_.size()) done_.resize(stream + 1);
    if (done > done_[stream]) done_[stream] = done;
  }
  void raise(const StreamClock& other) {
    for (std::size_t stream = 0; stream < other.done_.size(); ++stream) raise(stream, other.done_[stream]);
  }

 private:
  std::vector<std::uint64_t> done_;
};

/// The next launch on this operating-system thread is piece `number`, from 1, of that stream's work, and comes after
/// what `known` says. Launches since the last forget_streams() are held against each other by this.
void place_launch(std::size_t stream, std::uint64_t number, const StreamClock& known, const char* kernel,
                  std::source_location at);
/// All work so far is done, and what follows comes after it.
void forget_streams();

/// The placed launch that begins takes these blocks. Returns the first block that it may not come after: of the oldest
/// placed launch, or its own.
std::uint32_t begin_placed_launch(std::uint32_t first_block, std::uint32_t blocks);

/// Whether an earlier placed launch's block comes before the running launch.
bool launch_happened_before(std::uint32_t block);
/// " of launch KERNEL at FILE:LINE on another stream"; empty for no placed launch's.
std::string describe_launch(std::uint32_t block);

}  // namespace tally::checker
