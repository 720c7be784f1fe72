// The algorithms of a sum over ranks.
#include <algorithm>
#include <bit>
#include <numeric>

#include "kernels/ranks/all_reduce.hpp"
#include "oracle/case/sizes.hpp"

// Rank 0 adds the others' numbers to its own, rank 1 first, and hands everyone the sum.
namespace tally::in_order {
namespace {

void in_order(Addends& addends) {
  if (addends.leaves_sum_to(0)) return;
  addends.receive_all_and_add(addends.all());
  addends.hand_out();
}

const RegisterKind<AllReduce> registered("in_order", in_order);

}  // namespace
}  // namespace tally::in_order

// Rank 0 adds the others' numbers to its own as they come, and hands everyone the sum.
namespace tally::arrival {
namespace {

void arrival(Addends& addends) {
  if (addends.leaves_sum_to(0)) return;
  std::vector<int> missing(static_cast<std::size_t>(addends.ranks() - 1));
  std::iota(missing.begin(), missing.end(), 1);
  while (!missing.empty()) std::erase(missing, addends.receive_first_and_add(missing, addends.all()));
  addends.hand_out();
}

const RegisterKind<AllReduce> registered("arrival", arrival);

}  // namespace
}  // namespace tally::arrival

// The sum of the library that joins the ranks (MPI_Iallreduce), in an order that nobody declares. Ranks of one process,
// which no library joins, stand in for it: rank 0 adds partial sums in a drawn order and hands everyone the sum.
namespace tally::library {
namespace {

void library(Addends& addends) {
  if (addends.sum_by_library() || addends.leaves_sum_to(0)) return;
  addends.receive_all_and_add_drawn(addends.all());
  addends.hand_out();
}

const RegisterKind<AllReduce> registered("library", library);

}  // namespace
}  // namespace tally::library

// Ranks are the nodes of a binary tree whose root is rank 0: each adds what its two children hand up to its own numbers,
// the left one first, and the sum comes down the same way.
namespace tally::tree {
namespace {

void tree(Addends& addends) {
  const int rank = addends.rank(), parent = (rank - 1) / 2, left = 2 * rank + 1;
  for (int child = left; child <= left + 1 && child < addends.ranks(); ++child)
    addends.receive_and_add(child, addends.all());
  if (rank > 0) {
    addends.send(parent, addends.all());
    addends.receive(parent, addends.all());
  }
  for (int child = left; child <= left + 1 && child < addends.ranks(); ++child) addends.send(child, addends.all());
}

const RegisterKind<AllReduce> registered("tree", tree);
const Register<SizeEdges> registered_ranks{{"ranks", {3, 7}, "a level of the tree is full"}};

}  // namespace
}  // namespace tally::tree

// Every rank hands the next one a chunk that grows by its own numbers on the way: chunk i starts at rank i + 1, and is
// whole when it has come round to rank i. Then whole chunks go round once more.
namespace tally::ring {
namespace {

void ring(Addends& addends) {
  const int rank = addends.rank(), ranks = addends.ranks();
  const int next = (rank + 1) % ranks, last = (rank + ranks - 1) % ranks;
  for (int step = 0; step + 1 < ranks; ++step) {
    addends.send(next, addends.chunk(rank - 1 - step));
    addends.receive_and_add(last, addends.chunk(rank - 2 - step));
  }
  for (int step = 0; step + 1 < ranks && !addends.scatters(); ++step) {
    addends.send(next, addends.chunk(rank - step));
    addends.receive(last, addends.chunk(rank - 1 - step));
  }
}

const RegisterKind<AllReduce> registered("ring", ring);

}  // namespace
}  // namespace tally::ring

// Every rank hands each chunk to the rank of its number, which adds what all brought of it, rank 0 first, and hands
// everyone the sum.
namespace tally::all_to_all {
namespace {

void all_to_all(Addends& addends) {
  const int rank = addends.rank(), ranks = addends.ranks();
  for (int to = 0; to < ranks; ++to)
    if (to != rank) addends.send(to, addends.chunk(to));
  addends.receive_all_and_add(addends.chunk(rank));
  for (int to = 0; to < ranks && !addends.scatters(); ++to)
    if (to != rank) addends.send(to, addends.chunk(rank));
  for (int from = 0; from < ranks && !addends.scatters(); ++from)
    if (from != rank) addends.receive(from, addends.chunk(from));
}

const RegisterKind<AllReduce> registered("all_to_all", all_to_all);

}  // namespace
}  // namespace tally::all_to_all

// Pairs of ranks exchange what they have and both add it, at twice the distance each time. Where the ranks are more
// than a power of two, as many pairs of neighbours from the front as there are ranks too many add up first, and the
// second of each goes on for both.
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

const RegisterKind<AllReduce> registered("recursive_doubling", recursive_doubling);
const Register<SizeEdges> registered_ranks{{"ranks", {2, 4}, "a power of two, onto which the others fold"}};

}  // namespace
}  // namespace tally::recursive_doubling

// Pairs of ranks at half the distance each time hand each other the half of the numbers that the other goes on with, and
// add the half they keep, until each has its own chunk; then the same pairs hand whole chunks back. Where the ranks are
// more than a power of two, as many pairs of neighbours from the front as there are ranks too many add up first, and
// the second goes on for both.
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

const RegisterKind<AllReduce> registered("recursive_halving", recursive_halving);
const Register<SizeEdges> registered_ranks{{"ranks", {2, 4}, "a power of two, onto which the others fold"}};

}  // namespace
}  // namespace tally::recursive_halving
