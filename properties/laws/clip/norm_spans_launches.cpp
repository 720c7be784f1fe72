// Law: a norm over more tensors than one launch takes counts every element once, and an empty tensor among them counts
// nothing.
//   28 parameters: more than the 24 of a launch on the host. Then the kernel alone, on 60 tensors of ones, every third
//   one empty: the sum of magnitudes is exact.
#include "kernels/device/kernel_registry.hpp"
#include "kernels/training_step/device_tensor.hpp"
#include "kernels/training_step/own_step.hpp"
#include "kernels/window/arguments.hpp"
#include "oracle/case/formats.hpp"
#include "properties/generators/choices.hpp"
#include "properties/laws/designed.hpp"
#include "properties/laws/run_and_check.hpp"
#include "properties/laws/shapes.hpp"

namespace tally::norm_spans_launches_law {
namespace {

constexpr std::int64_t hidden_layers = 13, tensors = 60, elements = 2;

void shape(Plan& plan) {
  static const char* norms[] = {"2", "1", "inf"};
  static const std::vector<Dtype> masters = formats_for(&FormatUses::master);
  plan.input = 2;
  plan.hidden.clear();
  for (std::int64_t i = 1; i <= hidden_layers; ++i) {
    plan.hidden.push_back(layer("linear", "fc" + std::to_string(i), {{"out", std::int64_t{2}}}));
  }
  plan.loss = choice("loss", "mse");
  plan.ignored_percent = 0;
  plan.empty_micro_batch = false;
  plan.outputs = 1;
  plan.windows = {{2, 1}};
  plan.recipe.loss_scale = choice("loss_scale", "none");
  plan.recipe.clip =
      choice("clip", "global_norm", {{"max_norm", Decimal{"0.015625"}}, {"norm", std::string(norms[plan.seed % 3])}});
  plan.recipe.optimizer = choice("optimizer", plan.seed / 3 % 2 == 0 ? "sgd" : "adam");
  plan.precision.master = masters[plan.seed % masters.size()];
  if (plan.seed / 6 % 2 == 0) plan.execution.kernels["clip_decay_step"] = "multi_tensor";
  if (plan.seed % 4 != 3) return;
  // The pass that reads all gradients takes several launches without a norm, too.
  plan.execution.kernels["unscale_check_norm"] = "multi_tensor";
  plan.recipe.clip = choice("clip", "none");
  plan.precision.accumulate = masters[plan.seed / 4 % 3];
}

/// The 1-norm that the run's kernel finds over `tensors` tensors of ones, every third one empty.
double norm_with_empty_tensors(Device& on, const std::string& variant) {
  Tensor one_each(Dtype::fp32, {elements});
  for (std::size_t i = 0; i < one_each.elements(); ++i) one_each.set(i, 1);
  const DeviceTensor ones(on, "ones", one_each), nothing(on, "nothing", Dtype::fp32, {0});
  std::vector<NormSource> sources;
  for (std::int64_t i = 0; i < tensors; ++i) {
    sources.push_back(i % 3 == 0 ? NormSource{nothing.as<float>(), 0} : NormSource{ones.as<float>(), elements});
  }
  const DeviceTensor partial(on, "partial", Dtype::fp32, {norm_chunks(sources)}), norm(on, "norm", Dtype::fp32, {});
  Stream stream(on);
  kernel<NormArguments>("norm", on.kind(), variant)(
      stream, NormArguments{NormKind::one, sources, partial.as<float>(), norm.as<float>()});
  stream.synchronize();
  return norm.read().value(0);
}

Outcome holds(const Case& c, const RunOptions& subject) {
  require_tallys_kernels(subject, "a norm over empty tensors");
  CheckedRun judged = run_and_check(c, subject);
  if (judged.outcome.status == Status::not_run) return judged.outcome;
  const double found =
      norm_with_empty_tensors(device(subject.executor), judged.trace.claims.kernels.at("norm").variant);
  tell_trigger("no element");
  require(judged.outcome, found == tensors * 2 / 3 * elements, "norm/empty tensors", "norm",
          "the norm over tensors of ones, some of them empty, is not the number of elements");
  return settled(std::move(judged.outcome));
}

bool differs(const Case& c, const RunOptions& subject) {
  return bits_differ(run(c, subject), run(with_other_input(c), subject), {"norm"});
}

const RegisterLaw registered{{
    .name = "norm_spans_launches",
    .family = "clipping",
    .statement = "A norm over more tensors than a launch takes counts every element once, empty tensors for nothing.",
    .shape = shape,
    .holds = holds,
    .control = "another input has another norm",
    .differs = differs,
    .weight = 0.3,
}};
const RegisterDesigned registered_designed("norm_spans_launches");

}  // namespace
}  // namespace tally::norm_spans_launches_law
