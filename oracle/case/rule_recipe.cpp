#include "oracle/case/decimal.hpp"
#include "oracle/case/rules.hpp"

namespace tally {
namespace {

bool is_zero(const Decimal& number) { return compare_decimals(number.text, "0") == 0; }

}  // namespace

void check_optimizer(const Case& c, Findings& findings) {
  const Choice& optimizer = c.recipe.optimizer;
  if (optimizer.kind != "sgd" || !optimizer.flag("nesterov")) return;
  if (is_zero(optimizer.number("momentum")))
    findings.add("$.recipe.optimizer.nesterov", "true without momentum", "false, or a momentum > 0");
  if (!is_zero(optimizer.number("dampening")))
    findings.add("$.recipe.optimizer.nesterov", "true with dampening", "false, or a dampening of 0");
}

void check_warmup(const Case& c, Findings& findings) {
  const Choice& rate = c.recipe.learning_rate;
  if (rate.kind == "warmup_cosine" && rate.integer("warmup") > rate.integer("total"))
    findings.add("$.recipe.learning_rate.warmup", std::to_string(rate.integer("warmup")),
                 "at most total, " + std::to_string(rate.integer("total")));
}

/// A counter at the interval would already have returned to 0, and one beyond it never reaches it.
void check_growth_counter(const Case& c, Findings& findings) {
  const Choice& scale = c.recipe.loss_scale;
  if (scale.kind == "dynamic" && scale.integer("growth_counter") >= scale.integer("growth_interval"))
    findings.add("$.recipe.loss_scale.growth_counter", std::to_string(scale.integer("growth_counter")),
                 "less than growth_interval, " + std::to_string(scale.integer("growth_interval")));
}

}  // namespace tally
