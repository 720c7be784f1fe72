// Laws of means: constant values pass, and where attention selects, a whole model is exact.
#include <algorithm>
#include <array>
#include <cmath>

#include "kernels/device/kernel_registry.hpp"
#include "kernels/training_step/run/own_step.hpp"
#include "oracle/case/rows.hpp"
#include "oracle/exact/trajectory.hpp"
#include "oracle/layers/heads.hpp"
#include "properties/generators/choices.hpp"
#include "properties/generators/exact_cases.hpp"
#include "properties/generators/token_plan.hpp"
#include "properties/laws/run_and_check.hpp"

// Law: constant values pass. Where every row's v is the same c, y is c, whatever the weights are: y is a mean. Weights
// that all lean one way when they are stored in 16 bits tell whether they were summed as they weigh: the first row of a
// sequence weighs 1, every other just less than the middle between 1/2 and the next number of the format, which is
// stored as 1/2. A sum of what the weights were before leaves less than c, of nine rows and more.
//
// Where the sum takes what weighs, y before it is stored is c but for the roundings of both sums, of the quotient and
// of weights that are normalised before: below (4 n + 4) u |c| for n rows of fp32, u = 2^-24. Up to 256 rows that is
// less than 2^-13 |c|, below the 2^-12 |c| by which y would have to be off in order to be stored as another number than
// c in a format of at most 11 digits: y is c to the bit.
namespace tally::constant_values_pass_law {
namespace {

constexpr std::int64_t features = 4, most_rows = 256;

void shape(Plan& plan) {
  attend(plan, QueriesAndKeys::apart);
  static constexpr std::array<std::array<std::int64_t, 2>, 3> all_heads{{{1, 1}, {2, 1}, {2, 2}}};
  const auto [heads, groups] = all_heads[plan.seed % all_heads.size()];
  const auto linear = [](const char* name, std::int64_t out) {
    Layer made = layer("linear", name, {{"out", out}});
    made.inputs = {"wte"};
    return made;
  };
  const bool causal = plan.seed % 4 != 0;
  Layer attention =
      layer("attention", "att", {{"heads", heads}, {"kv_heads", groups}, {"causal", causal}, {"scale", Decimal{"1"}}});
  attention.inputs = {"q", "k", "v"};
  plan.hidden = {linear("q", heads * features), linear("k", groups * features), linear("v", groups * features),
                 attention};
  plan.tokens.positions = plan.tokens.tied = false;
  plan.tokens.longest = 20;
  auto& first = plan.windows.front().front();
  first = std::max(first, plan.tokens.longest + 3);
}

const Layer* of_kind(const Model& model, const std::string& kind) {
  const auto found = std::ranges::find(model.layers, kind, &Layer::kind);
  return found == model.layers.end() ? nullptr : &*found;
}

/// An attention that drops nothing, whose q, k and v are linear layers with bias on the looked up rows, in heads of four.
bool is_for(const Case& c) {
  const Layer* attention = of_kind(c.model, "attention");
  if (!c.model.tokens || c.model.input < 2 || attention == nullptr || attention->number("scale").to_double() != 1)
    return false;
  if (drops_weights(*attention)) return false;
  const Layer& table = c.model.layers.front();
  if (std::ranges::max(c.sequences) > most_rows || attention->integer("window") != 0) return false;
  return std::ranges::all_of(attention->inputs, [&](const std::string& name) {
    const auto l = std::ranges::find(c.model.layers, name, &Layer::name);
    return l != c.model.layers.end() && l->kind == "linear" && l->tied.empty() && l->flag("bias") &&
           l->inputs == std::vector<std::string>{table.name} && l->integer("out") % features == 0;
  });
}

/// The tensor filled anew, by `of(row, column)`.
template <class Of>
void fill(Tensor& tensor, Of of) {
  const auto columns = tensor.shape.size() == 2 ? static_cast<std::size_t>(tensor.shape[1]) : 1;
  for (std::size_t i = 0; i < tensor.elements(); ++i) tensor.set(i, of(i / columns, i % columns));
  tensor.drawing.reset();
}

/// A number as a sum of three of the format, the largest first.
std::array<double, 3> in_parts(double number, Dtype format) {
  Tensor part(format, {1});
  std::array<double, 3> parts{};
  for (double& each : parts) {
    part.set(0, number);
    each = part.value(0);
    number -= each;
  }
  return parts;
}

/// The v of a feature, in the middle of a binade.
double constant(std::size_t feature) {
  return std::ldexp(feature % 2 == 0 ? 1.5 : -1.5, static_cast<int>(feature % 3));
}

/// The first row of every sequence scores 0, the others what makes them weigh just less than the middle.
Case with_leaning_weights(Case c) {
  const Layer& attention = *of_kind(c.model, "attention");
  const double middle = 0.5 + 0.25 * std::ldexp(1, 1 - (c.precision.storage == Dtype::bf16 ? 8 : 11)) - 0x1p-20;
  const auto score = in_parts(std::log(middle), c.precision.storage);
  const std::vector<std::int64_t> places = places_in_sequences(c);
  Tensor& tokens = c.tensors.at("tokens");
  for (std::size_t row = 0; row < places.size(); ++row)
    tokens.set(row, places[row] == 0 ? 0 : 1 + static_cast<double>(tokens.integer(row) % (c.model.input - 1)));
  tokens.drawing.reset();
  const auto tensor = [&](std::size_t input, const char* name) -> Tensor& {
    return c.tensors.at(attention.inputs[input] + name);
  };
  fill(c.tensors.at(c.model.layers.front().name + ".weight"),
       [](std::size_t row, std::size_t column) { return row > 0 && column == 0 ? 1 : 0; });
  fill(tensor(0, ".weight"), [](auto, auto) { return 0; });
  fill(tensor(0, ".bias"), [](std::size_t row, auto) { return row % features < 3 ? 1 : 0; });
  fill(tensor(1, ".weight"), [&](std::size_t row, std::size_t column) {
    return column == 0 && row % features < 3 ? score[row % features] : 0;
  });
  fill(tensor(1, ".bias"), [](auto, auto) { return 0; });
  return c;
}

Case with_constant_values(Case c) {
  const std::string& values = of_kind(c.model, "attention")->inputs[2];
  fill(c.tensors.at(values + ".weight"), [](auto, auto) { return 0; });
  fill(c.tensors.at(values + ".bias"), [](std::size_t row, auto) { return constant(row % features); });
  return c;
}

/// Whether y must be c to the bit: the sum takes what weighs, in 16 bits.
bool sums_what_weighs(const Case& c, const Trace& trace) {
  const auto claim = trace.claims.kernels.find("attention.forward");
  if (claim == trace.claims.kernels.end() || c.precision.storage == Dtype::fp32) return false;
  static constexpr std::array algorithms{"naive", "online", "online_exp2", "online_cast_sum"};
  return std::ranges::find(algorithms, claim->second.algorithm) != algorithms.end();
}

Outcome holds(const Case& c, const RunOptions& subject) {
  if (!is_for(c)) return not_for("attention over tokens whose q, k and v are linear layers with bias");
  const Case constants = with_constant_values(with_leaning_weights(c));
  CheckedRun run = run_and_check(constants, subject);
  if (run.outcome.status == Status::not_run) return run.outcome;
  const bool bits = sums_what_weighs(c, run.trace);
  for (std::size_t k = 0; k < c.windows.front().size() && bits; ++k) {
    const std::string tap = "w0/m" + std::to_string(k) + "/forward/" + of_kind(c.model, "attention")->name + ".y";
    const Tensor* y = run.trace.find(tap);
    if (y == nullptr) continue;
    bool all = true;
    for (std::size_t i = 0; i < y->elements(); ++i) all = all && y->value(i) == constant(i % features);
    require(run.outcome, all, tap, "forward", "values that are the same in every row did not pass as they are");
  }
  return settled(std::move(run.outcome));
}

bool differs(const Case& c, const RunOptions& subject) {
  const Case leaning = with_leaning_weights(c);
  return bits_differ(run(with_constant_values(leaning), subject), run(leaning, subject), {"forward"});
}

const RegisterLaw registered{{
    .name = "constant_values_pass",
    .family = "attention",
    .statement = "Values that are the same in every row are the output of attention, to the bit where the weights are "
                 "summed as they weigh.",
    .shape = shape,
    .holds = holds,
    .control = "values that are not constant give other bits",
    .differs = differs,
    .weight = 0.5,
}};

}  // namespace
}  // namespace tally::constant_values_pass_law

// Law: where attention selects, a whole model is exact. Every weight is 1, 1/2 or 0, so that every sum is exact in any
// order: all kernels of attention leave one set of bits in every stage, under every order of additions and schedule, and
// in fp32 the gradients are the exact ones.
namespace tally::selecting_attention_is_exact_law {
namespace {

void shape(Plan& plan) {
  attend(plan, QueriesAndKeys::apart);
  for (const char* operation : {"attention.forward", "attention.backward"}) plan.execution.kernels.erase(operation);
}

/// What e^-128 comes to is below what a float holds.
void require_exact(Outcome& outcome, const Case& c, const Trace& trace) {
  const auto answer =
      oracle::evaluate_window<long double>(c, 0, oracle::Branch::accumulated, oracle::initial_state<long double>(c));
  for (const auto& [parameter, gradient] : answer.grad) {
    const std::string name = "w0/unscale/d." + parameter;
    const Tensor* got = trace.find(name);
    bool same = got != nullptr;
    for (std::size_t i = 0; same && i < got->elements(); ++i)
      same = got->value(i) == static_cast<float>(gradient.data()[i]);
    require(outcome, same, name, "unscale", "the gradient of a model that selects is not the exact one");
  }
}

bool same_values(const Tensor& a, const Tensor& b) {
  for (std::size_t i = 0; i < a.elements(); ++i)
    if (a.value(i) != b.value(i)) return false;
  return a.dtype == b.dtype && a.shape == b.shape;
}

/// Requires the same of sums by atomics too, whose order is nobody's promise: here every order gives the same.
void require_one_set_of_bits(Outcome& outcome, const Trace& expected, const Trace& got, const std::string& kernels) {
  for (const Tap& tap : expected.taps()) {
    if (tap.name.stage == "optimizer" || tap.value.dtype == Dtype::i64 || tap.value.dtype == Dtype::u8) continue;
    const Tensor* other = got.find(tap.name.view());
    require(outcome, other != nullptr && same_values(*other, tap.value), tap.name.text(), tap.name.stage,
            kernels + " left other bits where every sum is exact");
  }
}

Case with_kernels(Case c, const std::string& forward, const std::string& backward) {
  c.execution.kernels["attention.forward"] = forward;
  c.execution.kernels["attention.backward"] = backward;
  return c;
}

Outcome holds(const Case& drawn, const RunOptions& subject) {
  if (!drawn.model.tokens || drawn.model.input < 2) return not_for("a model over tokens");
  const Case c = selecting_model(drawn);
  CheckedRun straight = run_and_check(c, subject);
  if (straight.outcome.status == Status::not_run) return straight.outcome;
  if (c.precision.storage == Dtype::fp32) require_exact(straight.outcome, c, straight.trace);
  if (own_step(subject) != nullptr) return settled(std::move(straight.outcome));
  const auto forwards = shipped_variants("attention.forward", subject.executor),
             backwards = shipped_variants("attention.backward", subject.executor);
  std::size_t number = 0;
  for (const std::string& forward : forwards) {
    const std::string& backward = backwards[number++ % backwards.size()];
    RunOptions other = subject;
    other.order_seed = other.schedule_seed = number;
    require_one_set_of_bits(straight.outcome, straight.trace, run(with_kernels(c, forward, backward), other),
                            forward + " and " + backward);
  }
  return settled(std::move(straight.outcome));
}

bool differs(const Case& drawn, const RunOptions& subject) {
  const Case c = selecting_model(drawn);
  Case other = c;
  Tensor& values = other.tensors.at("v.weight");
  for (std::size_t i = 0; i < values.elements(); ++i) values.set(i, 2 * values.value(i));
  return bits_differ(run(c, subject), run(other, subject), {"forward", "unscale"});
}

const RegisterLaw registered{{
    .name = "selecting_attention_is_exact",
    .family = "attention",
    .statement = "Where attention selects rows, a whole model is exact: one set of bits by all its kernels.",
    .shape = shape,
    .holds = holds,
    .control = "values twice as large give other bits",
    .differs = differs,
    .weight = 0.5,
}};

}  // namespace
}  // namespace tally::selecting_attention_is_exact_law
