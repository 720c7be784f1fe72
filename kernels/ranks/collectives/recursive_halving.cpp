// Pairs of ranks at half the distance each time hand each other the half of the numbers that the other goes on with, and
// add the half they keep, until each has its own chunk; then the same pairs hand whole chunks back. Where the ranks are
// more than a power of two, as many pairs of neighbours from the front as there are ranks too many add up first, and
// the second goes on for both.
#include <bit>

#include "kernels/ranks/all_reduce.hpp"
#include "oracle/case/sizes.hpp"

namespace tally::recursive_halving {
namespace {

/// The ranks that go on, a power of two, each with its own chunk or those of a pair.
class Halves {
 public:
  explicit Halves(const Addends& addends)
      : power_(static_cast<int>(std::bit_floor(static_cast<unsigned>(addends.ranks())))),
        too_many_(addends.ranks() - power_),
        chunk_(addends.chunk(0).count) {}

  int power() const { return power_; }
  bool folded(int rank) const { return rank < 2 * too_many_; }
  int number(int rank) const { return folded(rank) ? rank / 2 : rank - too_many_; }
  int rank(int number) const { return number < too_many_ ? 2 * number + 1 : number + too_many_; }
  BucketStretch chunks(int begin, int end) const {
    return {first(begin) * chunk_, (first(end) - first(begin)) * chunk_};
  }

 private:
  std::int64_t first(int number) const { return number < too_many_ ? 2 * number : number + too_many_; }

  int power_, too_many_;
  std::int64_t chunk_;
};

void recursive_halving(Addends& addends) {
  const Halves halves(addends);
  const int rank = addends.rank(), own = halves.number(rank);
  if (halves.folded(rank) && rank % 2 == 0) {
    addends.send(rank + 1, addends.all());
    addends.receive(rank + 1, addends.needed(rank));
    return;
  }
  if (halves.folded(rank)) addends.receive_and_add(rank - 1, addends.all());
  for (int distance = halves.power() / 2; distance > 0; distance /= 2) {
    const int begin = own & ~(distance - 1), other = begin ^ distance, peer = halves.rank(own ^ distance);
    addends.send(peer, halves.chunks(other, other + distance));
    addends.receive_and_add(peer, halves.chunks(begin, begin + distance));
  }
  for (int distance = 1; distance < halves.power() && !addends.scatters(); distance *= 2) {
    const int begin = own & ~(distance - 1), other = begin ^ distance, peer = halves.rank(own ^ distance);
    addends.send(peer, halves.chunks(begin, begin + distance));
    addends.receive(peer, halves.chunks(other, other + distance));
  }
  if (halves.folded(rank)) addends.send(rank - 1, addends.needed(rank - 1));
}

const RegisterAllReduce registered("recursive_halving", recursive_halving);
const RegisterEdges registered_ranks("ranks", {2, 4}, "a power of two, onto which the others fold");

}  // namespace
}  // namespace tally::recursive_halving
