// The sums of a loss's row, as tests/kernels/reduction/measured_additions.hpp measures them.
#pragma once

#include <cmath>
#include <limits>
#include <string>
#include <vector>

#include "kernels/layer_arguments.hpp"
#include "tests/kernels/on_device.hpp"
#include "tests/kernels/reduction/measured_additions.hpp"

namespace tally {

inline double squared_errors(const std::string& variant, const Addends& addends) {
  const std::int64_t n = count(addends);
  const DeviceTensor y = on_device(squared(addends)), target = on_device(std::vector<double>(addends.size(), 0)),
                     loss = room(1), dy = room(n);
  call("mse", MseArguments{Dtype::fp32, y.data(), target.data(), nullptr, loss.as<float>(), dy.data(), 1, n, 1, 1, 1},
       variant);
  return values_of(loss)[0];
}

struct OfOneRow {
  double loss;
  std::vector<double> dz;
};

inline OfOneRow softmax(const std::string& variant, const std::vector<double>& z, std::size_t target,
                        const std::vector<double>& weights = {}) {
  const auto n = static_cast<std::int64_t>(z.size());
  const DeviceTensor logits = on_device(z), hit = on_device({static_cast<double>(target)}, Dtype::i64),
                     weight = on_device(weights), loss = room(1), dz = room(n);
  call("cross_entropy",
       CrossEntropyArguments{.storage = Dtype::fp32,
                             .z = logits.data(),
                             .target = hit.as<std::int64_t>(),
                             .class_weight = weights.empty() ? nullptr : weight.as<float>(),
                             .loss = loss.as<float>(),
                             .dz = dz.data(),
                             .rows = 1,
                             .classes = n,
                             .ignore_index = -1,
                             .factor = 1,
                             .keep = weights.empty() ? 1.0f : 0.0f,
                             .spread = 1,
                             .smoothed = !weights.empty()},
       variant);
  return {values_of(loss)[0], values_of(dz)};
}

constexpr double no_probability = -300;

/// 1 / sum at the largest logit, whose exponential is 1; a small one's is 0.7 of half a last place of 1.
inline double exponentials(const std::string& variant, const Addends& addends) {
  const std::size_t at = large_one(addends), another = at == 0 ? 1 : 0;
  return softmax(variant, as(addends, 0, std::log(0.7 * 0x1p-24), no_probability), another).dz[at];
}
/// The sum of the classes' shares less the large one, where all probability is.
inline double class_shares(const std::string& variant, const Addends& addends) {
  const std::size_t at = large_one(addends);
  return softmax(variant, as(addends, 0, no_probability, no_probability), at, plain(addends)).dz[at];
}
/// The weighted sum of the nll, which is log n for every class.
inline double class_losses(const std::string& variant, const Addends& addends) {
  const auto nll = static_cast<float>(std::log(static_cast<double>(addends.size())));
  const float place = std::nextafter(nll, std::numeric_limits<float>::infinity()) - nll;
  const std::vector<double> weights = as(addends, 1, 0.375 * static_cast<double>(place / nll));
  return softmax(variant, std::vector<double>(addends.size(), 0), 0, weights).loss;
}

}  // namespace tally
