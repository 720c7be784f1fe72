// Every rank hands each chunk to the rank of its number, which adds what all brought of it, rank 0 first, and hands
// everyone the sum.
#include "kernels/ranks/all_reduce.hpp"

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

const RegisterAllReduce registered("all_to_all", all_to_all);

}  // namespace
}  // namespace tally::all_to_all
