// Restatements of the weight decay and of options of the optimizer.
#include "oracle/case/contract.hpp"
#include "properties/diagnosis/restatement.hpp"

// Restatements of the weight decay: whether, into what, and how often.
namespace tally::decays_restatement {
namespace {

using Ways = std::vector<Restated>;

Ways decayed_as(const Case& c, const std::string& stated, const std::string& done) {
  if (c.recipe.weight_decay.kind != stated) return {};
  Restated way;
  way.change = [done](Case& other) { other.recipe.weight_decay.kind = done; };
  return {way};
}

int micro_batches(const Case& c, int window) {
  return static_cast<int>(c.windows[static_cast<std::size_t>(window)].size());
}

void leave_out(Case& c) { c.recipe.weight_decay = {"none", {}}; }

const RegisterRestatement registered_left_out{{
    .name = "decay-left-out",
    .sentence = "weight decay is not applied, neither to the gradient nor to the parameter",
    .formula = "g = g, p = p",
    .ways = [](const Case& c, const Trace&) -> Ways {
      if (!decays(c.recipe.weight_decay)) return {};
      Restated way;
      way.change = leave_out;
      return {way};
    },
}};

const RegisterRestatement registered_decoupled{{
    .name = "adam-vs-adamw-decay",
    .sentence = "weight decay is decoupled: the parameter shrinks, and the gradient gets no L2 penalty",
    .formula = "g = g, p (1 - lr λ)",
    .ways = [](const Case& c, const Trace&) { return decayed_as(c, "l2", "decoupled"); },
}};

const RegisterRestatement registered_coupled{{
    .name = "adamw-vs-adam-decay",
    .sentence = "weight decay is an L2 penalty in the gradient, but should be decoupled and shrink the parameter",
    .formula = "g + λ p, p = p",
    .ways = [](const Case& c, const Trace&) { return decayed_as(c, "decoupled", "l2"); },
}};

const RegisterRestatement registered_per_micro_batch{{
    .name = "decay-per-microbatch",
    .sentence = "weight decay is applied once per micro-batch, not once per window",
    .formula = "g + K λ p, or p (1 - lr λ)^K",
    .ways = [](const Case& c, const Trace&) -> Ways {
      if (!decays(c.recipe.weight_decay)) return {};
      Restated way;
      const bool adds_up = decays_gradient(c.recipe.weight_decay);
      (adds_up ? way.deviation.times_lambda : way.deviation.decays) = [&c](int w) { return micro_batches(c, w); };
      return {way};
    },
}};

const RegisterRestatement registered_times_k{{
    .name = "decay-scaled-by-accumulation",
    .sentence = "weight decay is multiplied by the number of micro-batches",
    .formula = "p (1 - lr K λ)",
    .ways = [](const Case& c, const Trace&) -> Ways {
      // decay-per-microbatch says the same of a decay of the gradient.
      if (!decays(c.recipe.weight_decay) || decays_gradient(c.recipe.weight_decay)) return {};
      Restated way;
      way.deviation.times_lambda = [&c](int window) { return micro_batches(c, window); };
      return {way};
    },
}};

Restated excluding(std::vector<std::string> excluded, const std::string& sentence, const std::string& formula) {
  Restated way;
  way.change = [excluded = std::move(excluded)](Case& c) { c.recipe.weight_decay.options["exclude"] = excluded; };
  way.sentence = sentence;
  way.formula = formula;
  return way;
}

const RegisterRestatement registered_others{{
    .name = "decay-of-other-parameters",
    .sentence = "weight decay applies to other parameters than the recipe says",
    .formula = "g + λ p, or p (1 - lr λ), for other p",
    .remedy = "put the parameters that are to decay into a group with `weight_decay`, all others into one with 0; or "
              "state what is excluded",
    .ways = [](const Case& c, const Trace&) -> Ways {
      if (!decays(c.recipe.weight_decay)) return {};
      const std::vector<std::string>& stated = c.recipe.weight_decay.texts("exclude");
      if (!stated.empty()) return {excluding({}, "parameters that the recipe excludes decay too", "every p decays")};
      return {excluding({"bias", "norm"}, "biases and norms do not decay, although the recipe excludes nothing",
                        "only weights of linear layers decay"),
              excluding({"bias"}, "biases do not decay, although the recipe excludes nothing", "no bias decays")};
    },
}};

/// `share(K)` of the penalty is in each micro-batch's loss, and so in the gradient that is clipped.
Restated in_the_loss(const Case& c, std::function<long double(int k)> share, const std::string& formula) {
  Restated way;
  way.change = leave_out;
  const long double lambda = c.recipe.weight_decay.number("lambda").to_double();
  way.deviation.penalty = [&c, lambda, share = std::move(share)](int window, int) {
    return lambda * share(micro_batches(c, window));
  };
  way.changed = 2;
  way.formula = formula;
  return way;
}

const RegisterRestatement registered_in_the_loss{{
    .name = "decay-in-the-loss",
    .sentence = "the L2 penalty is part of every micro-batch's loss, so that it is accumulated and clipped",
    .formula = "A = Σ (s_k + λ p)",
    .remedy = "take the penalty out of the loss and pass `weight_decay` to the optimizer, or divide it by {K} and "
              "state it as part of the loss",
    .ways = [](const Case& c, const Trace&) -> Ways {
      if (!decays(c.recipe.weight_decay)) return {};
      return {in_the_loss(
                  c, [](int) { return 1.0L; }, "A = Σ (s_k + λ p), K λ p in all"),
              in_the_loss(
                  c, [](int k) { return 1.0L / k; }, "A = Σ (s_k + λ p / K), before the clip")};
    },
}};

}  // namespace
}  // namespace tally::decays_restatement

// An option of the optimizer is another one than the case gives: on for off, none for some, the standard for a given one.
namespace tally::optimizer_options_restatement {
namespace {

std::string text_of(const OptionValue& value) {
  if (const bool* flag = std::get_if<bool>(&value)) return *flag ? "true" : "false";
  if (const Decimal* number = std::get_if<Decimal>(&value)) return number->text;
  return "another value";
}

Restated with_option(const std::string& name, const OptionValue& stated, const OptionValue& done) {
  Restated way;
  way.change = [name, done](Case& c) { c.recipe.optimizer.options[name] = done; };
  way.sentence = "the optimizer uses another value of an option than the case states: " + name;
  way.formula = name + " = " + text_of(done) + " in place of " + text_of(stated);
  return way;
}

std::vector<Restated> ways(const Case& c, const Trace&) {
  std::vector<Restated> all;
  const Contract* contract = find_contract("optimizer", c.recipe.optimizer.kind);
  for (const Option& option : contract->options) {
    const auto stated = c.recipe.optimizer.options.find(option.name);
    if (stated == c.recipe.optimizer.options.end()) continue;
    if (const bool* flag = std::get_if<bool>(&stated->second)) {
      all.push_back(with_option(option.name, stated->second, !*flag));
      continue;
    }
    if (option.standard && *option.standard != stated->second)
      all.push_back(with_option(option.name, stated->second, *option.standard));
    if (option.name == "dampening")  // as in v = μ v + (1 - μ) g
      all.push_back(with_option(option.name, stated->second, c.recipe.optimizer.number("momentum")));
  }
  return all;
}

const RegisterRestatement registered{{
    .name = "option-taken-as",
    .sentence = "the stage uses another value of an option than the case states",
    .formula = "option = another value",
    .ways = ways,
}};

}  // namespace
}  // namespace tally::optimizer_options_restatement
