// Bugs of decay: whether, into what, of what, and how often.
#include <cmath>

#include "oracle/case/contract.hpp"
#include "oracle/case/kinds.hpp"
#include "properties/diagnosis/bug.hpp"

namespace tally::decay_bug {
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

// Nothing decays.
namespace decay_left_out {

/// The gradient that came to the decay.
std::optional<Values> gradient_before(const Evidence& evidence, int window, const std::string& parameter) {
  const bool clips = evidence.c.recipe.clip.kind != kinds::none;
  return evidence.tap(window, -1, clips ? "clip" : "unscale", "d." + parameter);
}

/// The optimizer must have read the gradient and the parameter as they were: else the decay went elsewhere.
std::optional<Values> left(const Evidence& evidence, const HeldTensor& held) {
  const int w = held.name.window;
  const bool l2 = evidence.c.recipe.weight_decay.kind == kinds::l2;
  const std::string parameter = parameter_in(evidence, held, l2 ? "d." : "");
  const auto gradient = gradient_before(evidence, w, parameter), p = evidence.tap(w, -1, "decay", "in." + parameter);
  if (parameter.empty() || !gradient || !p) return std::nullopt;
  if (evidence.tap(w, -1, "optimizer", "in.d." + parameter) != gradient) return std::nullopt;
  if (evidence.tap(w, -1, "optimizer", "in." + parameter) != p) return std::nullopt;
  return l2 ? gradient : p;
}

const RegisterBug registered{{
    .name = "decay-left-out",
    .stages = {"decay"},
    .sentence = "weight decay is not applied, neither to the gradient nor to the parameter",
    .formula = "g = g, p = p",
    .remedy = "pass `weight_decay` to the optimizer for the groups that are to decay, or state that nothing decays",
    .left = left,
    .restated = [](const Case& c, const Trace&) -> Ways {
      if (!decays(c.recipe.weight_decay)) return {};
      Restated way;
      way.change = leave_out;
      return {way};
    },
}};

}  // namespace decay_left_out

// The decay is multiplied by K.
namespace decay_times_k {

std::optional<Values> left(const Evidence& evidence, const HeldTensor& held) {
  const Choice& decay = evidence.c.recipe.weight_decay;
  const double lambda = decay.number("lambda").to_double() * evidence.micro_batches(held.name.window);
  if (decay.kind == kinds::decoupled) {
    const auto p = evidence.tap(held.name.window, -1, "decay", "in." + held.name.tensor);
    if (!p || parameter_in(evidence, held, "").empty()) return std::nullopt;
    return times(*p, 1 - evidence.scalar(held.name.window, "schedule", "learning_rate", 0) * lambda);
  }
  const std::string parameter = parameter_in(evidence, held, "d.");
  auto gradient = evidence.tap(held.name.window, -1, "decay", "in.d." + parameter);
  const auto p = evidence.tap(held.name.window, -1, "decay", "in." + parameter);
  if (!gradient || !p) return std::nullopt;
  for (std::size_t i = 0; i < p->size(); ++i) (*gradient)[i] += lambda * (*p)[i];
  return gradient;
}

/// Not of a decay of the gradient: of that decay-per-microbatch says the same.
Ways restated(const Case& c, const Trace&) {
  if (!decays(c.recipe.weight_decay) || decays_gradient(c.recipe.weight_decay)) return {};
  Restated way;
  way.deviation.times_lambda = [&c](int window) { return micro_batches(c, window); };
  way.formula = "p (1 - lr K λ)";
  return {way};
}

const RegisterBug registered{{
    .name = "decay-scaled-by-accumulation",
    .stages = {"decay"},
    .sentence = "weight decay is multiplied by the number of micro-batches",
    .formula = "g + K λ p, or p (1 - lr K λ)",
    .remedy = "do not multiply the decay by the {K} micro-batches: it is not accumulated",
    .left = left,
    .restated = restated,
}};

}  // namespace decay_times_k

// Weight decay acts once for every micro-batch.
namespace decayed_k_times {

std::optional<Values> left(const Evidence& evidence, const HeldTensor& held) {
  const Choice& decay = evidence.c.recipe.weight_decay;
  const double lambda = decay.number("lambda").to_double();
  const int times_decayed = evidence.micro_batches(held.name.window);
  if (decay.kind == kinds::decoupled) {
    const auto p = evidence.tap(held.name.window, -1, "decay", "in." + held.name.tensor);
    if (!p || parameter_in(evidence, held, "").empty()) return std::nullopt;
    const double rate = evidence.scalar(held.name.window, "schedule", "learning_rate", 0);
    return times(*p, std::pow(1 - rate * lambda, times_decayed));
  }
  const std::string parameter = parameter_in(evidence, held, "d.");
  auto gradient = evidence.tap(held.name.window, -1, "decay", "in.d." + parameter);
  const auto p = evidence.tap(held.name.window, -1, "decay", "in." + parameter);
  if (!gradient || !p) return std::nullopt;
  for (std::size_t i = 0; i < p->size(); ++i) (*gradient)[i] += times_decayed * lambda * (*p)[i];
  return gradient;
}

Ways restated(const Case& c, const Trace&) {
  if (!decays(c.recipe.weight_decay)) return {};
  Restated way;
  const bool adds_up = decays_gradient(c.recipe.weight_decay);
  (adds_up ? way.deviation.times_lambda : way.deviation.decays) = [&c](int w) { return micro_batches(c, w); };
  return {way};
}

const RegisterBug registered{{
    .name = "decay-per-microbatch",
    .stages = {"decay"},
    .sentence = "weight decay is applied once per micro-batch, not once per window",
    .formula = "g + K λ p, or p (1 - lr λ)^K",
    .remedy = "decay once per window, at the step, not with every micro-batch",
    .left = left,
    .restated = restated,
}};

}  // namespace decayed_k_times

// The parameter shrinks where the penalty should be added to the gradient.
namespace decoupled_for_l2 {

std::optional<Values> left(const Evidence& evidence, const HeldTensor& held) {
  const std::string parameter = parameter_in(evidence, held, "d.");
  if (parameter.empty()) return std::nullopt;
  const auto before = evidence.tap(held.name.window, -1, "decay", "in." + parameter);
  if (evidence.tap(held.name.window, -1, "optimizer", "in." + parameter) == before) return std::nullopt;
  return evidence.tap(held.name.window, -1, "decay", "in.d." + parameter);
}

const RegisterBug registered{{
    .name = "adam-vs-adamw-decay",
    .stages = {"decay"},
    .sentence = "weight decay is decoupled: the parameter shrinks, and the gradient gets no L2 penalty",
    .formula = "g = g, p (1 - lr λ)",
    .remedy = "use `torch.optim.Adam(weight_decay=…)`, which adds the decay to the gradient, or state `weight_decay` "
              "as decoupled",
    .left = left,
    .restated = [](const Case& c, const Trace&) { return decayed_as(c, "l2", "decoupled"); },
}};

}  // namespace decoupled_for_l2

// A penalty on the gradient where the parameter should shrink.
namespace l2_for_decoupled {

/// The optimizer must have read a gradient that the penalty moved.
std::optional<Values> left(const Evidence& evidence, const HeldTensor& held) {
  const int w = held.name.window;
  const std::string parameter = parameter_in(evidence, held, "");
  if (evidence.c.recipe.weight_decay.kind != kinds::decoupled || parameter.empty()) return std::nullopt;
  const bool clips = evidence.c.recipe.clip.kind != kinds::none;
  const auto before = evidence.tap(w, -1, clips ? "clip" : "unscale", "d." + parameter);
  const auto after = evidence.tap(w, -1, "optimizer", "in.d." + parameter);
  if (!before || !after || *before == *after) return std::nullopt;
  return evidence.tap(w, -1, "decay", "in." + parameter);
}

const RegisterBug registered{{
    .name = "adamw-vs-adam-decay",
    .stages = {"decay"},
    .sentence = "weight decay is an L2 penalty in the gradient, but should be decoupled and shrink the parameter",
    .formula = "g + λ p, p = p",
    .remedy = "use `torch.optim.AdamW` in place of `Adam(weight_decay=…)`; or state `weight_decay` as l2",
    .left = left,
    .restated = [](const Case& c, const Trace&) { return decayed_as(c, "decoupled", "l2"); },
}};

}  // namespace l2_for_decoupled

Restated excluding(std::vector<std::string> excluded, const std::string& sentence, const std::string& formula) {
  Restated way;
  way.change = [excluded = std::move(excluded)](Case& c) { c.recipe.weight_decay.options["exclude"] = excluded; };
  way.sentence = sentence;
  way.formula = formula;
  return way;
}

const RegisterBug registered_others{{
    .name = "decay-of-other-parameters",
    .sentence = "weight decay applies to other parameters than the recipe says",
    .formula = "g + λ p, or p (1 - lr λ), for other p",
    .remedy = "put the parameters that are to decay into a group with `weight_decay`, all others into one with 0; or "
              "state what is excluded",
    .restated = [](const Case& c, const Trace&) -> Ways {
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

const RegisterBug registered_in_the_loss{{
    .name = "decay-in-the-loss",
    .sentence = "the L2 penalty is part of every micro-batch's loss, so that it is accumulated and clipped",
    .formula = "A = Σ (s_k + λ p)",
    .remedy = "take the penalty out of the loss and pass `weight_decay` to the optimizer, or divide it by {K} and "
              "state it as part of the loss",
    .restated = [](const Case& c, const Trace&) -> Ways {
      if (!decays(c.recipe.weight_decay)) return {};
      return {in_the_loss(
                  c, [](int) { return 1.0L; }, "A = Σ (s_k + λ p), K λ p in all"),
              in_the_loss(
                  c, [](int k) { return 1.0L / k; }, "A = Σ (s_k + λ p / K), before the clip")};
    },
}};

}  // namespace
}  // namespace tally::decay_bug
