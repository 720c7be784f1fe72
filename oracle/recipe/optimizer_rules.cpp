#include "oracle/recipe/optimizer_rules.hpp"

namespace tally::oracle {

const OptimizerRules& rules_of(const Choice& optimizer) {
  return *RegisterOptimizerRules::of("bounds", "optimizer", optimizer.kind);
}

}  // namespace tally::oracle
