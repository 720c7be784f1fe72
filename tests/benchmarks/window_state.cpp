#include "tests/benchmarks/window_state.hpp"

#include <cmath>
#include <span>

#include "tests/benchmarks/window_sizes.hpp"

namespace tally::benchmarks {
namespace {

constexpr float loss_scale = 65536.0f;

Buffer room(Device& on, const char* name, std::int64_t elements) {
  return {on, name, Dtype::fp32, static_cast<std::size_t>(elements)};
}

std::int64_t chunks_of(std::span<const std::int64_t> sizes) {
  std::int64_t chunks = 0;
  for (const std::int64_t size : sizes) chunks += (size + norm_chunk - 1) / norm_chunk;
  return chunks;
}

}  // namespace

WindowState::WindowState(Device& on, std::int64_t parameters)
    : device_(&on),
      stream_(on),
      parameters_(parameters),
      sizes_(window_sizes(parameters)),
      places_(window_places(sizes_)),
      summed_(room(on, "summed", places_.back())),
      unscaled_(room(on, "unscaled", places_.back())),
      parameter_(room(on, "parameter", places_.back())),
      exp_avg_(room(on, "exp_avg", places_.back())),
      exp_avg_sq_(room(on, "exp_avg_sq", places_.back())),
      spare_(room(on, "spare", places_.back())),
      inverse_scale_(room(on, "inverse_scale", 1)),
      found_(room(on, "found", 1)),
      partial_(room(on, "partial", chunks_of(sizes_))),
      norm_(room(on, "norm", 1)),
      coefficient_(room(on, "coefficient", 1)),
      unscale_check_norm_(kernel<UnscaleCheckNormArguments>("unscale_check_norm", on.kind())),
      clip_decay_step_(kernel<ClipDecayStepArguments>("clip_decay_step", on.kind())),
      copy_(kernel<DeviceCopy>("bench.copy", on.kind())) {
  fill_with_pattern(summed_, loss_scale);
  fill_with_pattern(parameter_, 1.0f);
  for (const Buffer* buffer : {&exp_avg_, &exp_avg_sq_, &found_}) on.zero(buffer->data(), buffer->bytes());
  const float inverse = 1 / loss_scale;
  on.write(inverse_scale_.data(), &inverse, sizeof inverse);
  for (std::size_t i = 0; i < sizes_.size(); ++i) {
    const std::int64_t at = places_[i];
    summed_tensors_.push_back({data(summed_) + at, data(unscaled_) + at, sizes_[i]});
    stepped_tensors_.push_back({.gradient = data(unscaled_) + at,
                                .parameter = data(parameter_) + at,
                                .first = data(exp_avg_) + at,
                                .second = data(exp_avg_sq_) + at,
                                .elements = sizes_[i],
                                .decays = true,
                                .started = true});
  }
}

void WindowState::read_once() {
  unscale_check_norm_(stream_, {.tensors = summed_tensors_,
                                .format = Dtype::fp32,
                                .inverse_scale = data(inverse_scale_),
                                .found = static_cast<std::uint32_t*>(found_.data()),
                                .kind = NormKind::two,
                                .partial = data(partial_),
                                .norm = data(norm_)});
}

void WindowState::step_once() {
  ClipDecayStepArguments arguments{};
  arguments.tensors = stepped_tensors_;
  arguments.format = Dtype::fp32;
  arguments.clip = ClipKind::by_norm;
  arguments.by_norm = {data(norm_), data(coefficient_), 1.0f, 1e-6f};
  arguments.decay = DecayKind::decoupled;
  arguments.factor = 1.0f - 1e-3f * 0.01f;
  arguments.adam = true;
  arguments.adam_constants.beta1 = 0.9f;
  arguments.adam_constants.one_minus_beta1 = 0.1f;
  arguments.adam_constants.beta2 = 0.999f;
  arguments.adam_constants.one_minus_beta2 = 0.001f;
  arguments.adam_constants.corrected_rate = 1e-3f;
  arguments.adam_constants.root_correction = 1.0f;
  arguments.adam_constants.eps = 1e-8f;
  clip_decay_step_(stream_, arguments);
}

void WindowState::copy(const Buffer& from, const Buffer& to, std::int64_t elements) {
  copy_(stream_, {from.data(), to.data(), static_cast<std::size_t>(elements) * sizeof(float)});
}

void WindowState::copy_as_read_once() { copy(summed_, spare_, parameters_); }

void WindowState::copy_as_step_once() {
  for (const Buffer* from : {&unscaled_, &parameter_, &exp_avg_}) copy(*from, spare_, parameters_);
  copy(exp_avg_sq_, spare_, parameters_ / 2);
}

/// Numbers between a half and one, of either sign: no step comes near subnormal numbers, which take longer.
void WindowState::fill_with_pattern(const Buffer& buffer, float scale) {
  std::vector<float> pattern(1 << 20);
  std::uint64_t state = 11;
  for (float& value : pattern) {
    state = state * 6364136223846793005ULL + 1442695040888963407ULL;
    const float magnitude = 0.5f + static_cast<float>(state >> 41) * 0x1p-24f;
    value = (state >> 40 & 1) != 0 ? magnitude * scale : -magnitude * scale;
  }
  auto* to = static_cast<std::byte*>(buffer.data());
  for (std::size_t left = buffer.bytes(); left > 0;) {
    const std::size_t now = std::min(left, pattern.size() * sizeof(float));
    device_->write(to, pattern.data(), now);
    to += now;
    left -= now;
  }
}

std::string WindowState::complaint() const {
  const auto element = [&](const Buffer& buffer, std::int64_t at) {
    float value = 0;
    device_->read(data(buffer) + at, &value, sizeof value);
    return value;
  };
  std::uint32_t found = 1;
  device_->read(found_.data(), &found, sizeof found);
  if (found != 0) return "an overflow was found";
  const double norm = element(norm_, 0), all = static_cast<double>(parameters_);
  // Every square lies between a quarter and one.
  if (!(norm * norm >= all / 4 && norm * norm <= all)) return "the norm is " + std::to_string(norm);
  for (std::size_t i = 0; i < sizes_.size(); ++i) {
    for (const std::int64_t at : {places_[i], places_[i] + sizes_[i] - 1}) {
      const float moment = element(exp_avg_, at);
      const std::string where = " at element " + std::to_string(at);
      if (!(element(unscaled_, at) * loss_scale == element(summed_, at))) return "a gradient is not unscaled" + where;
      if (!(moment != 0 && std::isfinite(moment))) return "a moment did not move" + where;
    }
  }
  return "";
}

}  // namespace tally::benchmarks
