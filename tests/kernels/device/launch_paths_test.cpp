#include "kernels/device/launch_paths.hpp"

#include <gtest/gtest.h>

#include <algorithm>

#include "kernels/device/kernel_registry.hpp"
#include "kernels/layer_arguments.hpp"
#include "kernels/training_step/run/cost.hpp"
#include "kernels/training_step/run/device_tensor.hpp"

namespace tally::launch_paths_test {
namespace {

std::set<LaunchPath> declared(const char* operation, const char* variant = "") {
  return declared_paths(find_kernel(operation, ExecutorKind::host, variant));
}

bool has(const std::set<LaunchPath>& paths, const std::string& precision, const std::string& way) {
  return std::any_of(paths.begin(), paths.end(),
                     [&](const LaunchPath& path) { return path.precision == precision && path.way == way; });
}

/// The ways that relu's launch takes with so many elements, and at most so many blocks.
std::set<std::string> ways_of_relu(std::int64_t elements, std::int64_t most_blocks = 0) {
  Device& on = device(ExecutorKind::host);
  Stream stream(on);
  Tensor values(Dtype::fp16, {elements});
  for (std::size_t i = 0; i < values.elements(); ++i) values.set(i, i % 2 == 0 ? 1 : -1);
  const DeviceTensor x(on, "x", values), y(on, "y", Dtype::fp16, {elements});
  const GridLimit limit(most_blocks);
  const LaunchScope scope;
  timed("relu.forward", kernel<ActivationArguments>("relu.forward", ExecutorKind::host), stream,
        {Dtype::fp16, x.data(), nullptr, y.data(), elements});
  stream.synchronize();
  for (std::size_t i = 0; i < values.elements(); ++i) EXPECT_EQ(y.read().value(i), i % 2 == 0 ? 1 : 0) << i;
  std::set<std::string> ways;
  for (const LaunchPath& path : scope.paths()) {
    EXPECT_EQ(path.kernel, "relu.forward/grid_stride");
    EXPECT_EQ(path.precision, "fp16");
    ways.insert(path.way);
  }
  return ways;
}

using Ways = std::set<std::string>;

TEST(LaunchPaths, AreDeclaredByEveryKernelInEachOfItsPrecisions) {
  const auto paths = declared("layer_norm.forward", "two_pass");

  for (const char* precision : {"fp32", "fp16", "bf16"}) {
    EXPECT_TRUE(has(paths, precision, "one thread a row: several blocks, the last one cut")) << precision;
    EXPECT_TRUE(has(paths, precision, "a warp a row: a row's last stride cut")) << precision;
    EXPECT_TRUE(has(paths, precision, "a warp a row: 768 elements a row or more")) << precision;
  }
  EXPECT_EQ(paths.size(), 3u * (4 + 4 + 3));
}

TEST(LaunchPaths, OfTwoFormatsAreDeclaredForEachPair) {
  const auto paths = declared("accumulate", "kahan");

  EXPECT_EQ(paths.size(), 9u * 5);
  EXPECT_TRUE(has(paths, "fp16, bf16", "strides over the grid"));
}

TEST(LaunchPaths, NameEveryBranchThatALauncherMayTake) {
  EXPECT_TRUE(has(declared("cross_entropy", "online"), "bf16", "a warp a row, smoothed or weighted: one block"));
  EXPECT_TRUE(has(declared("clip_decay_step"), "fp16", "Adam: several chunks, the last one cut"));
  EXPECT_TRUE(has(declared("unscale_check_norm"), "fp32", "without a norm: one launch"));
  EXPECT_TRUE(has(declared("unscale_check_norm"), "fp32", "inf-norm: partial results in several strides"));
  EXPECT_TRUE(has(declared("scaler"), "", "its one way"));
}

TEST(LaunchPaths, OfEveryShippedKernelAreDeclaredWithoutALaunch) {
  std::size_t asked = 0;
  for (const RegisteredKernel* kernel : registered_kernels()) {
    if (kernel->declare == nullptr || kernel->executor != ExecutorKind::host) continue;
    const bool of_a_test =
        kernel->operation.find("_test") != std::string::npos || kernel->operation.starts_with("device_");
    if (of_a_test) continue;  // it may do what needs arguments
    ++asked;
    EXPECT_FALSE(declared_paths(*kernel).empty()) << kernel->operation;
  }
  EXPECT_GT(asked, 0u);
}

TEST(LaunchPaths, ThatACallTakesFollowFromItsSizes) {
  EXPECT_EQ(ways_of_relu(0), Ways{});
  EXPECT_EQ(ways_of_relu(64), Ways{"one block, full"});
  EXPECT_EQ(ways_of_relu(65), Ways{"one block, its last warp cut"});
  EXPECT_EQ(ways_of_relu(512), Ways{"several blocks, the last one full"});
  EXPECT_EQ(ways_of_relu(513), Ways{"several blocks, the last one cut"});
}

TEST(LaunchPaths, UnderALimitStrideOverTheGrid) {
  EXPECT_EQ(ways_of_relu(700, 2), (Ways{"several blocks, the last one cut", "strides over the grid"}));
  EXPECT_EQ(ways_of_relu(700, 3), Ways{"several blocks, the last one cut"});
}

TEST(LaunchPaths, ThatAreTakenAreDeclared) {
  const auto all = declared("relu.forward");
  for (const std::int64_t elements : {1, 32, 256, 257, 1024}) {
    const Ways taken = ways_of_relu(elements, 1);
    EXPECT_FALSE(taken.empty()) << elements;
    for (const std::string& way : taken) EXPECT_TRUE(has(all, "fp16", way)) << way;
  }
}

TEST(LaunchScope, OfTheInnerOnesAloneAreNoted) {
  const LaunchScope outer;
  EXPECT_FALSE(ways_of_relu(64).empty());
  EXPECT_TRUE(outer.paths().empty());
}

}  // namespace
}  // namespace tally::launch_paths_test
