#include "kernels/training_step/norm_kind.hpp"

#include "oracle/case/rank_keys.hpp"

namespace tally {

NormKind norm_kind_of(const Run& run) {
  const NormKind whole = norm_kind_of(run.c.recipe.clip);
  const bool squares = (!run.pieces.empty() || run.pipelined()) && rank_word(run.c, "reduce.norm") == "squares";
  return squares && whole == NormKind::two ? NormKind::squares : whole;
}

}  // namespace tally
