// p_r is what rank r found of its own pieces g_r; every operation is rounded to fp32, in the order of the ranks.
// (rank_norm.1)  squares: p_r = sum g_r^2, the norm is sqrt(p_0 + p_1 + ...)
// (rank_norm.2)  norms: p_r = sqrt(sum g_r^2), the norm is sqrt(p_0^2 + p_1^2 + ...)
// (rank_norm.3)  of stages s, on each of which ranks have pieces: q_s is the sum under the root of (rank_norm.1) or
//                (rank_norm.2) over the ranks of one stage, and the norm is sqrt(q_0 + q_1 + ...)
// The 1-norm has p_r = sum |g_r| and is their sum, the inf-norm is the largest of all.
#include <cmath>

#include "oracle/case/rank_keys.hpp"
#include "oracle/recipe/recipe_rules.hpp"
#include "oracle/window/rank_stages.hpp"

namespace tally::oracle {

bool hands_over_squares(const Case& c) {
  return norm_of(c.recipe.clip) == NormOrder::two && rank_word(c, "reduce.norm") == "squares";
}

float rounded_norm(const Case& c, const PartsByStage<float>& parts) {
  const NormOrder order = norm_of(c.recipe.clip);
  const bool squares = order == NormOrder::two && !hands_over_squares(c);
  const auto term = [&](float part) { return squares ? part * part : part; };
  const auto joined = [&](float a, float b) {
    if (order == NormOrder::largest) return std::isnan(a) || a > b ? a : b;
    return a + b;
  };
  std::vector<float> stages;
  for (const std::vector<float>& ranks : parts) {
    float& all = stages.emplace_back(term(ranks.front()));
    for (std::size_t rank = 1; rank < ranks.size(); ++rank) all = joined(all, term(ranks[rank]));
  }
  float all = stages.front();
  for (std::size_t stage = 1; stage < stages.size(); ++stage) all = joined(all, stages[stage]);
  return order == NormOrder::two ? std::sqrt(all) : all;
}

}  // namespace tally::oracle
