// The sum of the library that joins the ranks (MPI_Iallreduce), in an order that nobody declares. Ranks of one process,
// which no library joins, stand in for it: rank 0 adds partial sums in a drawn order and hands everyone the sum.
#include "kernels/ranks/all_reduce.hpp"

namespace tally {
namespace {

void library(Addends& addends) {
  constexpr int root = 0;
  if (addends.sum_by_library()) return;
  if (addends.rank() != root) {
    addends.send(root, addends.all());
    addends.receive(root, addends.needed(addends.rank()));
    return;
  }
  addends.receive_all_and_add_drawn(addends.all());
  for (int to = 1; to < addends.ranks(); ++to) addends.send(to, addends.needed(to));
}

const RegisterAllReduce registered("library", library);

}  // namespace
}  // namespace tally
