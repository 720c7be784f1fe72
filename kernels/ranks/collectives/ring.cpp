// Every rank hands the next one a chunk that grows by its own numbers on the way: chunk i starts at rank i + 1, and is
// whole when it has come round to rank i. Then whole chunks go round once more.
#include "kernels/ranks/all_reduce.hpp"

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

const RegisterAllReduce registered("ring", ring);

}  // namespace
}  // namespace tally::ring
