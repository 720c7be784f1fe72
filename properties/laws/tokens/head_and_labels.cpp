// Laws of the head and its labels: chunks, the shift, and the tokens that count.
#include "oracle/case/rows.hpp"
#include "properties/generators/choices.hpp"
#include "properties/generators/launch_designs.hpp"
#include "properties/generators/token_plan.hpp"
#include "properties/laws/law.hpp"
#include "properties/laws/run_and_check.hpp"
#include "properties/laws/shapes.hpp"

// Law: a head that is one with the loss keeps its bound, whose logits are never stored, on every way of its launch, in
// every precision.
namespace tally::a_head_in_chunks_keeps_its_bound_law {
namespace {

Outcome holds(const Case& c, const RunOptions& subject) { return run_and_check(c, subject).outcome; }

bool differs(const Case& c, const RunOptions& subject) {
  Case other = c;
  Tensor& table = other.tensors.at("wte.weight");
  for (std::size_t i = 0; i < table.elements(); ++i) table.set(i, 1 - table.value(i));
  table.drawing.reset();
  return bits_differ(run(c, subject), run(other, subject), {"loss", "unscale"});
}

const RegisterLaw registered{{
    .name = "a_head_in_chunks_keeps_its_bound",
    .family = "tokens",
    .statement = "Head and loss as one, in chunks of rows, keep the bound of logits that are never stored.",
    .shape = design_head,
    .holds = holds,
    .control = "another table gives other bits",
    .differs = differs,
    .weight = 0.3,
    .designed = true,
}};

}  // namespace
}  // namespace tally::a_head_in_chunks_keeps_its_bound_law

// Law: where rounding takes nothing, head and loss as one leave the bits of the two by themselves, however many chunks
// the rows come to. Every row is (1, 0, …), and the logits of two or four classes are 0, those of all others -256, whose
// exponentials are 0 in fp32: probabilities are 1/2 or 1/4, and gradients small multiples of 1/16, in 16 bits as well.
namespace tally::chunks_of_a_head_leave_exact_bits_law {
namespace {

const std::string& head(const Case& c) { return c.model.layers.back().name; }

void shape(Plan& plan) {
  read_tokens(plan);
  plan.tokens.width = plan.seed % 2 == 0 ? 2 : 3;
  plan.tokens.positions = plan.tokens.tied = false;
  plan.hidden.clear();
  plan.output_bias = false;
  plan.loss = choice("loss", "cross_entropy", {{"shift", plan.seed % 4 < 2}});
  plan.windows.resize(1);
  for (std::int64_t& rows : plan.windows.front()) rows = std::min<std::int64_t>(rows, 9);
  plan.windows.front().front() = 4 + static_cast<std::int64_t>(plan.seed % 6);
  plan.normalisation = Normalisation::sum;
  plan.recipe.loss_scale = choice("loss_scale", "none");
  plan.execution.kernels = {{"head_loss", "chunked"}};
}

/// Logits of 0 and -256, and gradients of x that say which class they came from.
Case far_apart(Case c) {
  Tensor &table = c.tensors.at("wte.weight"), &weight = c.tensors.at(head(c) + ".weight");
  const std::int64_t classes = weight.shape[0], width = weight.shape[1], near = classes < 4 ? 2 : 4;
  const auto set = [&](Tensor& tensor, std::int64_t row, std::int64_t j, double value) {
    tensor.set(static_cast<std::size_t>(row * width + j), value);
  };
  for (std::int64_t row = 0; row < classes; ++row) {
    for (std::int64_t j = 0; j < width; ++j) {
      set(table, row, j, j == 0 ? 1 : 0);
      set(weight, row, j, static_cast<double>((row + j) % 3 - 1) / 2);
    }
    set(weight, row, 0, row < near ? 0 : -256);
  }
  table.drawing.reset();
  weight.drawing.reset();
  return c;
}

Outcome holds(const Case& drawn, const RunOptions& subject) {
  if (!drawn.tensors.contains("wte.weight") || !drawn.execution.kernels.contains("head_loss"))
    return not_for("a model over tokens whose head is one with the loss");
  const Case c = far_apart(drawn);
  Case apart = c;
  apart.execution.kernels.erase("head_loss");
  CheckedRun fused = run_and_check(c, subject);
  if (fused.outcome.status == Status::not_run) return fused.outcome;
  const CheckedRun separate = run_and_check(apart, subject);
  add(fused.outcome, separate.outcome);
  require_equal_bits(fused.outcome, separate.trace, fused.trace, {"fork", "accumulate", "unscale", "optimizer"},
                     "head and loss as one left other bits than by themselves, though nothing rounds");
  return settled(std::move(fused.outcome));
}

/// The label of every row is another one.
bool differs(const Case& drawn, const RunOptions& subject) {
  const Case c = far_apart(drawn);
  Case other = c;
  Tensor& target = other.tensors.at("target");
  const std::int64_t classes = other.tensors.at(head(c) + ".weight").shape[0];
  for (std::size_t row = 0; row < target.elements(); ++row)
    target.set_bits(row, static_cast<std::uint64_t>((std::max<std::int64_t>(target.integer(row), 0) + 1) % classes));
  target.drawing.reset();
  return bits_differ(run(c, subject), run(other, subject), {"unscale"});
}

const RegisterLaw registered{{
    .name = "chunks_of_a_head_leave_exact_bits",
    .family = "tokens",
    .statement = "Where nothing rounds, head and loss as one leave the bits of the two by themselves.",
    .shape = shape,
    .holds = holds,
    .control = "other labels give other gradients",
    .differs = differs,
}};

}  // namespace
}  // namespace tally::chunks_of_a_head_leave_exact_bits_law

// Law: the shift stays inside its sequence. A row is scored by the label of the next row of its own sequence; the first
// label of a sequence scores nothing, so that another one changes no bit and no count.
namespace tally::the_shift_stays_inside_law {
namespace {

const std::vector<std::string> everything{"cast", "forward",    "loss",    "backward",
                                          "fork", "accumulate", "unscale", "optimizer"};

void shape(Plan& plan) {
  read_tokens(plan);
  plan.loss.options["shift"] = true;
}

/// Another class in every row that stands at this place of its sequence; an ignored row gets a label.
Case with_other_labels(Case c, std::int64_t place) {
  const std::int64_t classes = features_after(c.model, c.model.layers.size() - 1);
  const std::vector<std::int64_t> places = places_in_sequences(c);
  Tensor& target = c.tensors.at("target");
  for (std::size_t row = 0; row < places.size(); ++row)
    if (places[row] == place)
      target.set_bits(row, static_cast<std::uint64_t>((std::max<std::int64_t>(target.integer(row), 0) + 1) % classes));
  target.drawing.reset();
  return c;
}

Outcome holds(const Case& c, const RunOptions& subject) {
  if (!shifts_labels(c.model.loss)) return not_for("a loss that shifts its labels");
  CheckedRun straight = run_and_check(c, subject);
  if (straight.outcome.status == Status::not_run) return straight.outcome;
  const Case other = with_other_labels(c, 0);
  const CheckedRun changed = run_and_check(other, subject);
  add(straight.outcome, changed.outcome);
  require_equal_bits(straight.outcome, straight.trace, changed.trace, everything,
                     "the first label of a sequence changed something");
  return settled(std::move(straight.outcome));
}

bool differs(const Case& c, const RunOptions& subject) {
  return bits_differ(run(c, subject), run(with_other_labels(c, 1), subject), {"unscale"});
}

const RegisterLaw registered{{
    .name = "the_shift_stays_inside",
    .family = "tokens",
    .statement = "A row is scored by the next label of its own sequence: a sequence's first label changes no bit.",
    .shape = shape,
    .holds = holds,
    .control = "other second labels give other gradients",
    .differs = differs,
}};

}  // namespace
}  // namespace tally::the_shift_stays_inside_law

// Law: micro-batches of tokens count by the tokens that are scored.   Σ_k s_k / Σ_k n_k
// Sequences of unequal lengths, labels that are ignored, and a micro-batch of nothing else: n_k counts the labels behind
// the shift, which never leaves its sequence.
namespace tally::token_counts_are_weighted_law {
namespace {

void shape(Plan& plan) {
  plan.normalisation = Normalisation::window_items;
  unequal_micro_batches(plan);
  read_tokens(plan);
  if (plan.tokens.tied) tie_more(plan);
  plan.ignored_percent = plan.seed % 3 == 0 ? 0 : 30;
  plan.empty_micro_batch = plan.seed % 4 == 0;
}

Outcome holds(const Case& c, const RunOptions& subject) {
  if (!c.model.tokens) return not_for("a model over tokens");
  Outcome outcome = run_and_check(c, subject).outcome;
  add(outcome, run_and_check(full_batch_of(c), subject).outcome);
  outcome = settled(std::move(outcome));
  return has_equal_items(c) ? vacuous(std::move(outcome), "all micro-batches have equal items") : outcome;
}

bool differs(const Case& c, const RunOptions& subject) {
  Case other = c;
  other.normalisation = Normalisation::mean_of_means;
  return bits_differ(run(c, subject), run(other, subject), {"unscale"});
}

const RegisterLaw registered{{
    .name = "token_counts_are_weighted",
    .family = "tokens",
    .statement = "Micro-batches of tokens count by the tokens that are scored, in sequences of any lengths.",
    .shape = shape,
    .holds = holds,
    .control = "mean_of_means on the same tokens gives other gradients",
    .differs = differs,
}};

}  // namespace
}  // namespace tally::token_counts_are_weighted_law
