// The fused passes on tables of tensors: empty ones, odd tails, and tensors that begin at any element of a buffer.
#include <gtest/gtest.h>

#include <cmath>

#include "kernels/window/arguments.hpp"
#include "tests/kernels/on_device.hpp"

namespace tally::multi_tensor_kernels_test {
namespace {

/// Elements of a flat buffer from which, and how many, each tensor takes.
struct Place {
  std::int64_t begin, elements;
};
const std::vector<Place> places{{1, 3}, {4, 0}, {5, 31}, {37, 4097}, {4135, 1}, {4136, 33}};
constexpr std::int64_t all = 4170;

std::vector<double> counted() {
  std::vector<double> values(static_cast<std::size_t>(all));
  for (std::size_t i = 0; i < values.size(); ++i) values[i] = static_cast<double>(i % 7) - 3;
  return values;
}

TEST(UnscaleCheckNorm, WritesItsTensorsAloneWhereverTheyBegin) {
  const DeviceTensor in = on_device(counted()), inverse = on_device({0.5}), partial = room(8), norm = room(1);
  const DeviceTensor out = on_device(std::vector<double>(static_cast<std::size_t>(all), 100));
  DeviceTensor found(host(), "found", Dtype::u8, {4});
  found.zero();
  std::vector<SummedTensor> tensors;
  double sum = 0;
  std::vector<double> expected(static_cast<std::size_t>(all), 100);
  for (const Place& place : places) {
    tensors.push_back({in.as<float>() + place.begin, out.as<float>() + place.begin, place.elements});
    for (std::int64_t i = place.begin; i < place.begin + place.elements; ++i) {
      const auto at = static_cast<std::size_t>(i);
      expected[at] = counted()[at] / 2;
      sum += std::fabs(expected[at]);
    }
  }
  call("unscale_check_norm",
       UnscaleCheckNormArguments{tensors, Dtype::fp32, inverse.as<float>(), found.as<std::uint32_t>(), NormKind::one,
                                 partial.as<float>(), norm.as<float>()});
  EXPECT_EQ(values_of(out), expected);
  EXPECT_EQ(values_of(norm)[0], sum);
  EXPECT_EQ(found.scalar<std::uint32_t>(), 0u);
}

/// Whether a buffer of these, but for one element that is infinite, is found to overflow.
bool finds_infinity_at(std::int64_t element) {
  std::vector<double> values = counted();
  values[static_cast<std::size_t>(element)] = -INFINITY;
  const DeviceTensor in = on_device(values), out = room(all);
  DeviceTensor found(host(), "found", Dtype::u8, {4});
  found.zero();
  std::vector<SummedTensor> tensors;
  for (const Place& each : places) {
    tensors.push_back({in.as<float>() + each.begin, out.as<float>() + each.begin, each.elements});
  }
  call("unscale_check_norm", UnscaleCheckNormArguments{tensors, Dtype::fp32, nullptr, found.as<std::uint32_t>(),
                                                       NormKind::two, nullptr, nullptr});
  return found.scalar<std::uint32_t>() == 1;
}

TEST(UnscaleCheckNorm, FindsWhatIsNotFiniteInAnyTensor) {
  for (const Place& place : places) {
    if (place.elements == 0) continue;
    EXPECT_TRUE(finds_infinity_at(place.begin)) << place.begin;  // before others of the same thread
    EXPECT_TRUE(finds_infinity_at(place.begin + place.elements - 1)) << place.begin;
  }
}

/// p - 1/2 (g clipped to 1), without momentum: exact.
TEST(ClipDecayStep, MovesItsTensorsAloneWhereverTheyBegin) {
  const DeviceTensor gradient = on_device(counted());
  const DeviceTensor parameter = on_device(std::vector<double>(static_cast<std::size_t>(all), 8));
  std::vector<SteppedTensor> tensors;
  std::vector<double> expected(static_cast<std::size_t>(all), 8);
  for (const Place& place : places) {
    tensors.push_back({gradient.as<float>() + place.begin, parameter.as<float>() + place.begin, nullptr, nullptr,
                       place.elements, false, false});
    for (std::int64_t i = place.begin; i < place.begin + place.elements; ++i) {
      const auto at = static_cast<std::size_t>(i);
      expected[at] = 8 - std::clamp(counted()[at], -1.0, 1.0) / 2;
    }
  }
  ClipDecayStepArguments arguments{};
  arguments.tensors = tensors;
  arguments.format = Dtype::fp32;
  arguments.clip = ClipKind::by_value;
  arguments.max_value = 1;
  arguments.sgd_constants.rate = 0.5f;
  call("clip_decay_step", arguments);
  EXPECT_EQ(values_of(parameter), expected);
}

}  // namespace
}  // namespace tally::multi_tensor_kernels_test
