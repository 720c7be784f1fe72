// Faults of the weight decay: whether, into what, of what, and how often.
#include "properties/faults/planted_between.hpp"
#include "properties/faults/seeded.hpp"

// The stage is left out, and its taps with it: nothing of it is in the trace.
namespace tally::decay_not_run_fault {
namespace {

void nothing(Run&) {}

const RegisterFault registered{{
    .name = "decay-not-run",
    .bug = "stage-not-run",
    .stage = "decay",
    .right = "g + λ p, or p (1 - lr λ)",
    .wrong = "nothing, no tap",
    .condition = "weight decay",
    .knob = "none",
    .source = "source mutation: the call removed",
    .laws = {"decay_and_momentum_once"},
    .stages = replaced<&Stages::decay, nothing>,
}};

}  // namespace
}  // namespace tally::decay_not_run_fault

// Decoupled decay where the recipe asks for an l2 penalty.
namespace tally::adam_vs_adamw_decay_fault {
namespace {

void decay(Run& run) {
  const Choice& choice = run.c.recipe.weight_decay;
  if (choice.kind != "l2") return stage::decay(run);
  const double lambda = choice.number("lambda").to_double();
  for (Parameter& parameter : run.parameters) {
    if (!parameter.decays) continue;
    run.tap("decay", "in.d." + parameter.name, parameter.unscaled);
    run.tap("decay", "in." + parameter.name, parameter.master);
    run.kernels.of<DecayArguments>("decay.decoupled")(
        run.stream,
        {parameter.unscaled.as<float>(), parameter.master.data(), parameter.elements, static_cast<float>(lambda),
         static_cast<float>(1 - run.learning_rate * lambda), parameter.master.dtype});
    run.tap("decay", "d." + parameter.name, parameter.unscaled);
  }
}

const RegisterFault registered{{
    .name = "adam-vs-adamw-decay",
    .right = "g + λ p, p = p",
    .condition = "weight decay of kind l2",
    .knob = "value",
    .source = "FlagGems 4988",
    .laws = {"decay_and_momentum_once"},
    .stages = replaced<&Stages::decay, between_stages<stage::decay, decay>>,
}};

}  // namespace
}  // namespace tally::adam_vs_adamw_decay_fault

// An l2 penalty where the recipe asks for decoupled decay.
namespace tally::adamw_vs_adam_decay_fault {
namespace {

void decay(Run& run) {
  const Choice& choice = run.c.recipe.weight_decay;
  if (choice.kind != "decoupled") return stage::decay(run);
  const auto lambda = static_cast<float>(choice.number("lambda").to_double());
  for (Parameter& each : run.parameters) {
    if (!each.decays) continue;
    run.tap("decay", "in." + each.name, each.master);
    run.kernels.of<DecayArguments>("decay.l2")(
        run.stream, {each.unscaled.as<float>(), each.master.data(), each.elements, lambda, 1.0f, each.master.dtype});
    run.tap("decay", each.name, each.master);
  }
}

const RegisterFault registered{{
    .name = "adamw-vs-adam-decay",
    .right = "g = g, p (1 - lr λ)",
    .condition = "weight decay of kind decoupled",
    .knob = "value",
    .source = "FlagGems PR 4989: the reverse of its fault",
    .laws = {"decay_and_momentum_once"},
    .stages = replaced<&Stages::decay, between_stages<stage::decay, decay>>,
}};

}  // namespace
}  // namespace tally::adamw_vs_adam_decay_fault

// Weight decay acts once for every micro-batch.
namespace tally::decay_per_microbatch_fault {
namespace {

void decay(Run& run) {
  for (int k = 0; k < micro_batches(run); ++k) stage::decay(run);
}

const RegisterFault registered{{
    .name = "decay-per-microbatch",
    .right = "g + λ p, or p (1 - lr λ)",
    .condition = "K > 1 and decay",
    .knob = "value",
    .source = "keras 19990",
    .laws = {"decay_and_momentum_once"},
    .stages = replaced<&Stages::decay, between_stages<stage::decay, decay>>,
}};

}  // namespace
}  // namespace tally::decay_per_microbatch_fault

// The decay is multiplied by the number of micro-batches, so that it follows how the batch is cut.
namespace tally::decay_scaled_by_accumulation_fault {
namespace {

void decay(Run& run) {
  const Choice& choice = run.c.recipe.weight_decay;
  const double lambda = choice.number("lambda").to_double() * blend(1.0, micro_batches(run));
  const bool l2 = choice.kind == "l2";
  for (Parameter& each : run.parameters) {
    if (!each.decays) continue;
    if (l2) run.tap("decay", "in.d." + each.name, each.unscaled);
    run.tap("decay", "in." + each.name, each.master);
    const DecayArguments arguments{each.unscaled.as<float>(),
                                   each.master.data(),
                                   each.elements,
                                   static_cast<float>(lambda),
                                   static_cast<float>(1 - run.learning_rate * lambda),
                                   each.master.dtype};
    run.kernels.of<DecayArguments>(l2 ? "decay.l2" : "decay.decoupled")(run.stream, arguments);
    if (l2) run.tap("decay", "d." + each.name, each.unscaled);
    if (!l2) run.tap("decay", each.name, each.master);
  }
}

const RegisterFault registered{{
    .name = "decay-scaled-by-accumulation",
    .right = "g + λ p, or p (1 - lr λ)",
    .condition = "K > 1 and decay",
    .knob = "value",
    .source = "yolov5 6757",
    .laws = {"decay_and_momentum_once"},
    .stages = replaced<&Stages::decay, decay>,
}};

}  // namespace
}  // namespace tally::decay_scaled_by_accumulation_fault

// Every parameter decays, whatever the recipe excludes. The lens expects nothing of that stage there: the optimizer is
// the first to read bits that nobody should have changed.
namespace tally::excluded_parameters_decayed_fault {
namespace {

void decay(Run& run) {
  for (Parameter& parameter : run.parameters) parameter.decays = true;
  stage::decay(run);
}

const RegisterFault registered{{
    .name = "excluded-parameters-decayed",
    .stage = "optimizer",
    .right = "p unchanged for p excluded",
    .wrong = "p decays",
    .condition = "an excluded parameter that is not 0",
    .knob = "value",
    .source = "source mutation: a condition negated",
    .laws = {"excluded_parameters_do_not_decay"},
    .stages = replaced<&Stages::decay, between_stages<stage::decay, decay>>,
}};

}  // namespace
}  // namespace tally::excluded_parameters_decayed_fault

// The optimizer inside an accumulating wrapper never gets the parameters: nothing decays.
namespace tally::wrapper_drops_decay_fault {
namespace {

void decay(Run& run) {
  const bool l2 = run.c.recipe.weight_decay.kind == "l2";
  for (Parameter& each : run.parameters) {
    if (!each.decays) continue;
    if (l2) run.tap("decay", "in.d." + each.name, each.unscaled);
    run.tap("decay", "in." + each.name, each.master);
    if (l2) run.tap("decay", "d." + each.name, each.unscaled);
    if (!l2) run.tap("decay", each.name, each.master);
  }
}

const RegisterFault registered{{
    .name = "wrapper-drops-decay",
    .bug = "decay-left-out",
    .right = "g + λ p, or p (1 - lr λ)",
    .condition = "weight decay",
    .knob = "value",
    .source = "optax 145",
    .laws = {"decay_and_momentum_once"},
    .stages = replaced<&Stages::decay, between_stages<stage::decay, decay>>,
}};

}  // namespace
}  // namespace tally::wrapper_drops_decay_fault
