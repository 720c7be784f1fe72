// Ranks are the nodes of a binary tree whose root is rank 0: each adds what its two children hand up to its own numbers,
// the left one first, and the sum comes down the same way.
#include "kernels/ranks/all_reduce.hpp"
#include "oracle/case/sizes.hpp"

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

const RegisterAllReduce registered("tree", tree);
const RegisterEdges registered_ranks("ranks", {3, 7}, "a level of the tree is full");

}  // namespace
}  // namespace tally::tree
