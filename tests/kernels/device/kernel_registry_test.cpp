#include "kernels/device/kernel_registry.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <stdexcept>

#include "oracle/registered_files.hpp"

namespace tally::kernel_registry_test {
namespace {

struct SetArguments {
  int* out;
  int value;
};

void set_first(Stream&, const SetArguments& a) { *a.out = a.value; }
void set_second(Stream&, const SetArguments& a) { *a.out = 2 * a.value; }

const RegisterKernel first("registry_test.set", {.variant = "test_once"}, set_first);
const RegisterKernel second("registry_test.set", {.variant = "test_doubled"}, set_second, KernelUse::when_named);

int value_set_by(std::string_view variant) {
  int out = 0;
  Stream stream(device(ExecutorKind::host));
  kernel<SetArguments>("registry_test.set", ExecutorKind::host, variant)(stream, {&out, 21});
  return out;
}

/// What the error says that `use` throws.
std::string message_of(void (*use)()) {
  try {
    use();
  } catch (const std::logic_error& error) {
    return error.what();
  }
  return "";
}

TEST(KernelRegistry, FindsAVariantByNameAndTheStandardWithoutOne) {
  EXPECT_EQ(value_set_by("test_once"), 21);
  EXPECT_EQ(value_set_by("test_doubled"), 42);
  EXPECT_EQ(value_set_by(""), 21);
}

TEST(KernelRegistry, RefusesWhatIsNotThere) {
  EXPECT_THROW(find_kernel("registry_test.set", ExecutorKind::cuda), std::logic_error);
  EXPECT_THROW(find_kernel("registry_test.set", ExecutorKind::host, "a"), std::logic_error);
  EXPECT_THROW(find_kernel("registry_test", ExecutorKind::host), std::logic_error);
  EXPECT_THROW(kernel<int>("registry_test.set", ExecutorKind::host), std::logic_error);
}

TEST(KernelRegistry, RefusesASecondKernelOfTheSameName) {
  const auto words = message_of([] { RegisterKernel("norm", {.variant = "two_stage"}, set_second); });
  EXPECT_NE(words.find("kernel norm/two_stage on host is registered twice, first in kernels/window/norm.cu; expected "
                       "another variant"),
            std::string::npos)
      << words;
}

TEST(KernelRegistry, RefusesASecondStandardKernelAndSaysWhichItHas) {
  const auto words = message_of([] { RegisterKernel("norm", {.variant = "registry_test"}, set_second); });
  EXPECT_NE(words.find("the standard kernel of norm is two_stage of kernels/window/norm.cu"), std::string::npos)
      << words;
  EXPECT_FALSE(std::ranges::count(shipped_variants("norm", ExecutorKind::host), "registry_test"));
}

TEST(KernelRegistry, SaysWhatThereIsInThePlaceOfWhatIsMissing) {
  EXPECT_EQ(message_of([] { find_kernel("registry_test.set", ExecutorKind::host, "fast"); }),
            "no kernel registry_test.set/fast on host; there are test_doubled, test_once");
  EXPECT_EQ(message_of([] { find_kernel("linear.weight_gradient", ExecutorKind::host); }),
            "no standard kernel linear.weight_gradient on host; there are into_buffer, separate");
  const auto words = message_of([] { find_kernel("swish.forward", ExecutorKind::host); });
  EXPECT_TRUE(words.starts_with("no standard kernel swish.forward on host; there are kernels of accumulate, "))
      << words;
}

bool is_registered(const std::string& operation, ExecutorKind executor, std::type_index arguments) {
  return std::ranges::any_of(registered_kernels(), [&](const RegisteredKernel* each) {
    return each->operation == operation && each->executor == executor && each->arguments == arguments;
  });
}

/// Tests register variants of their own, for the host alone; what the program itself holds comes in pairs.
TEST(KernelRegistry, HoldsEveryOperationForEveryExecutorOfTheBuild) {
  std::size_t pairs = 0;
  for (const RegisteredKernel* each : registered_kernels()) {
    if (each->operation.find("_test") != std::string::npos) continue;
    if (each->executor == ExecutorKind::cuda) {
      EXPECT_EQ(find_kernel(each->operation, ExecutorKind::host, each->claim.variant).arguments, each->arguments);
      ++pairs;
    } else if (built_with_cuda()) {
      EXPECT_TRUE(is_registered(each->operation, ExecutorKind::cuda, each->arguments)) << each->operation;
    }
  }
  EXPECT_EQ(pairs > 0, built_with_cuda());
}

TEST(KernelRegistry, HasOneStandardKernelOfWhatAStepLaunchesUnasked) {
  const StandardKernels& standard = standard_kernels(ExecutorKind::host);
  EXPECT_EQ(standard.at("layer_norm.forward")->claim.variant, "two_pass");
  EXPECT_EQ(standard.at("linear.bias_gradient")->claim.variant, "column_lanes");
  EXPECT_EQ(standard.at("relu.forward")->claim.variant, "grid_stride");
  for (const char* asked_for : {"clip_decay_step", "unscale_check_norm", "head_loss", "add_norm", "add_norm.backward",
                                "gemm", "linear.weight_gradient", "probe.atomic_add"})
    EXPECT_FALSE(standard.contains(asked_for)) << asked_for;
}

TEST(KernelRegistry, KnowsTheFileOfAKernelFromTheRepositoryOn) {
  EXPECT_TRUE(file_of_kernel("registry_test.set", "test_once").ends_with("kernels/device/kernel_registry_test.cpp"));
  EXPECT_EQ(file_of_kernel("norm", "two_stage"), "kernels/window/norm.cu");
  EXPECT_EQ(file_of_kernel("norm", "none"), "");
}

TEST(KernelRegistry, ListsEveryKernelAndNotesItsFile) {
  const auto all = registered_kernels();

  const auto mine = [](const RegisteredKernel* each) { return each->operation == "registry_test.set"; };
  EXPECT_EQ(std::ranges::count_if(all, mine), 2);
  const auto here = [](const std::string& file) { return file.ends_with("kernel_registry_test.cpp"); };
  EXPECT_EQ(std::ranges::count_if(registered_files(), here), 1);
}

}  // namespace
}  // namespace tally::kernel_registry_test
