// Pairs of ranks exchange what they have and both add it, at twice the distance each time. Where the ranks are more
// than a power of two, as many pairs of neighbours from the front as there are ranks too many add up first, and the
// second of each goes on for both.
#include <bit>

#include "kernels/ranks/all_reduce.hpp"
#include "oracle/case/sizes.hpp"

namespace tally::recursive_doubling {
namespace {

void recursive_doubling(Addends& addends) {
  const int rank = addends.rank(), ranks = addends.ranks();
  const int power = static_cast<int>(std::bit_floor(static_cast<unsigned>(ranks))), too_many = ranks - power;
  const bool folded = rank < 2 * too_many;
  if (folded && rank % 2 == 0) {
    addends.send(rank + 1, addends.all());
    addends.receive(rank + 1, addends.all());
    return;
  }
  if (folded) addends.receive_and_add(rank - 1, addends.all());
  const int own = folded ? rank / 2 : rank - too_many;
  for (int distance = 1; distance < power; distance *= 2) {
    const int other = own ^ distance, peer = other < too_many ? 2 * other + 1 : other + too_many;
    addends.send(peer, addends.all());
    addends.receive_and_add(peer, addends.all());
  }
  if (folded) addends.send(rank - 1, addends.all());
}

const RegisterAllReduce registered("recursive_doubling", recursive_doubling);
const RegisterEdges registered_ranks("ranks", {2, 4}, "a power of two, onto which the others fold");

}  // namespace
}  // namespace tally::recursive_doubling
