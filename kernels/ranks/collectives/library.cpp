// The sum of the library that joins the ranks (MPI_Iallreduce), in an order that nobody declares. Ranks of one process,
// which no library joins, stand in for it: rank 0 adds partial sums in a drawn order and hands everyone the sum.
#include "kernels/ranks/all_reduce.hpp"

namespace tally::library {
namespace {

void library(Addends& addends) {
  if (addends.sum_by_library() || addends.leaves_sum_to(0)) return;
  addends.receive_all_and_add_drawn(addends.all());
  addends.hand_out();
}

const RegisterAllReduce registered("library", library);

}  // namespace
}  // namespace tally::library
