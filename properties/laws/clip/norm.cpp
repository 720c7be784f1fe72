// Laws of the norm: every element counts once, wherever launches, strides and chunks end.
#include <array>
#include <cmath>
#include <map>

#include "kernels/device/kernel_registry.hpp"
#include "kernels/training_step/run/cost.hpp"
#include "kernels/training_step/run/device_tensor.hpp"
#include "kernels/training_step/run/own_step.hpp"
#include "kernels/window/arguments.hpp"
#include "oracle/case/tensors/tensor.hpp"
#include "properties/generators/choices.hpp"
#include "properties/laws/law.hpp"
#include "properties/laws/run_and_check.hpp"
#include "properties/laws/shapes.hpp"

// Law: a norm over more tensors than one launch takes counts every element once, and an empty tensor among them counts
// nothing.
//   28 parameters: more than the 24 of a launch on the host. Then the kernel alone, on 60 tensors of ones, every third
//   one empty: the sum of magnitudes is exact.
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
    .designed = true,
}};

}  // namespace
}  // namespace tally::norm_spans_launches_law

// Law: every kernel that finds a norm counts every element once, wherever strides, chunks and launches end, and an
// empty tensor for nothing.
//   tensors of ones, the last element of each 2, the very last 3: sums and squares are whole numbers, exact in any
//   order
namespace tally::norms_count_every_element_law {
namespace {

constexpr std::array kinds{NormKind::one, NormKind::two, NormKind::infinity, NormKind::squares};

/// Strides of 256 elements, chunks of 4096, each end full and cut; `many`: more than 256 tensors, a launch's limit on a
/// GPU, and more than 256 partial results.
std::vector<std::int64_t> sizes(bool many) {
  std::vector<std::int64_t> all{2, 256, 300, 512, 4096, 5000, 8192};
  for (std::int64_t i = 0; many && i < 450; ++i) all.push_back(i % 3);
  all.push_back(1);
  return all;
}

class Ones {
 public:
  Ones(Device& on, Dtype dtype, bool many) : norm_(on, "norm", Dtype::fp32, {}), found_(on, "found", Dtype::u8, {4}) {
    const std::vector<std::int64_t> all = sizes(many);
    for (const std::int64_t elements : all) {
      Tensor ones(dtype, {elements});
      const bool is_last = count_ + 1 == all.size();
      for (std::size_t i = 0; i < ones.elements(); ++i) ones.set(i, i + 1 < ones.elements() ? 1 : is_last ? 3 : 2);
      add(on, ones);
    }
    partial_.emplace(on, "partial", Dtype::fp32, std::vector<std::int64_t>{norm_chunks(sources_)});
    found_.zero();
  }

  double norm_by(const std::string& variant, NormKind kind, Device& on) {
    const auto launcher = kernel<NormArguments>("norm", on.kind(), variant);
    return norm_of(on, [&](Stream& stream) {
      timed("norm", launcher, stream, {kind, sources_, partial_->as<float>(), norm_.as<float>()});
    });
  }
  double norm_in_passing(Dtype format, NormKind kind, Device& on) {
    const auto launcher = kernel<UnscaleCheckNormArguments>("unscale_check_norm", on.kind());
    return norm_of(on, [&](Stream& stream) {
      timed("unscale_check_norm", launcher, stream,
            {summed_, format, nullptr, found_.as<std::uint32_t>(), kind, partial_->as<float>(), norm_.as<float>()});
    });
  }
  double expected(NormKind kind) const {
    if (kind == NormKind::infinity) return 3;
    if (kind == NormKind::squares) return static_cast<double>(static_cast<float>(squares_));
    return kind == NormKind::one ? sum_ : std::sqrt(static_cast<float>(squares_));
  }

 private:
  void add(Device& on, const Tensor& ones) {
    for (std::size_t i = 0; i < ones.elements(); ++i) {
      sum_ += ones.value(i);
      squares_ += ones.value(i) * ones.value(i);
    }
    const auto elements = static_cast<std::int64_t>(ones.elements());
    tensors_.emplace_back(on, "ones " + std::to_string(count_), ones);
    written_.emplace_back(on, "unscaled " + std::to_string(count_++), Dtype::fp32, std::vector{elements});
    sources_.push_back({tensors_.back().as<float>(), elements});
    summed_.push_back({tensors_.back().data(), written_.back().as<float>(), elements});
  }
  template <class Launch>
  double norm_of(Device& on, Launch launch) {
    norm_.poison();
    Stream stream(on);
    launch(stream);
    stream.synchronize();
    return norm_.read().value(0);
  }

  std::size_t count_ = 0;
  double sum_ = 0, squares_ = 0;
  std::vector<DeviceTensor> tensors_, written_;
  std::vector<NormSource> sources_;
  std::vector<SummedTensor> summed_;
  std::optional<DeviceTensor> partial_;
  DeviceTensor norm_, found_;
};

void shape(Plan& plan) {
  plan.hidden.clear();
  plan.recipe.clip = choice("clip", "global_norm", {{"max_norm", Decimal{"0.25"}}});
}

class ExactNorms {
 public:
  ExactNorms(Outcome& outcome, Device& on) : outcome_(outcome), on_(on) {}

  void require_all(Dtype format, bool many) {
    Ones ones(on_, format, many);
    for (const NormKind kind : kinds) {
      require_exact("unscale_check_norm", ones.norm_in_passing(format, kind, on_), ones.expected(kind));
      if (format != Dtype::fp32) continue;
      for (const std::string& variant : shipped_variants("norm", on_.kind()))
        require_exact("norm/" + variant, ones.norm_by(variant, kind, on_), ones.expected(kind));
    }
  }

 private:
  void require_exact(const std::string& kernel, double found, double expected) {
    require(outcome_, found == expected, "norm/" + kernel, "norm",
            kernel + " finds a norm of " + std::to_string(found) + " where it is " + std::to_string(expected));
  }

  Outcome& outcome_;
  Device& on_;
};

Outcome holds(const Case& c, const RunOptions& subject) {
  require_tallys_kernels(subject, "every kernel that finds a norm");
  CheckedRun judged = run_and_check(c, subject);
  if (judged.outcome.status == Status::not_run) return judged.outcome;
  Device& on = device(subject.executor);
  const LaunchScope launches;
  ExactNorms norms(judged.outcome, on);
  for (const Dtype format : storage_formats()) {
    norms.require_all(format, false);
    norms.require_all(format, true);
  }
  tell_launches(on.kind(), launches.paths());
  return settled(std::move(judged.outcome));
}

bool differs(const Case& c, const RunOptions& subject) {
  Case other = c;
  Tensor& x = other.tensors.at("x");
  x.set(0, 1 - x.value(0));
  x.drawing.reset();
  return bits_differ(run(c, subject), run(other, subject), {"norm"});
}

const RegisterLaw registered{{
    .name = "norms_count_every_element",
    .family = "clipping",
    .statement = "Every kernel that finds a norm counts every element once, empty tensors for nothing.",
    .shape = shape,
    .holds = holds,
    .control = "another input has another norm",
    .differs = differs,
    .weight = 0.05,
    .designed = true,
}};

}  // namespace
}  // namespace tally::norms_count_every_element_law
