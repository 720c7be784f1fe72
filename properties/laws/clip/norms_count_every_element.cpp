// Law: every kernel that finds a norm counts every element once, wherever strides, chunks and launches end, and an
// empty tensor for nothing.
//   tensors of ones, the last element of each 2, the very last 3: sums and squares are whole numbers, exact in any
//   order
#include <array>
#include <cmath>
#include <map>

#include "kernels/device/kernel_registry.hpp"
#include "kernels/training_step/device_tensor.hpp"
#include "kernels/training_step/kernel_clock.hpp"
#include "kernels/training_step/own_step.hpp"
#include "kernels/window/multi_tensor_arguments.hpp"
#include "oracle/case/formats.hpp"
#include "properties/generators/choices.hpp"
#include "properties/laws/designed.hpp"
#include "properties/laws/run_and_check.hpp"

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
}};
const RegisterDesigned registered_designed("norms_count_every_element");

}  // namespace
}  // namespace tally::norms_count_every_element_law
