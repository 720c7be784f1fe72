#include "kernels/device/kernel_registry.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <stdexcept>

#include "kernels/device/kernel_files.hpp"
#include "oracle/registered_files.hpp"

namespace tally {
namespace {

struct SetArguments {
  int* out;
  int value;
};

void set_first(Stream&, const SetArguments& a) { *a.out = a.value; }
void set_second(Stream&, const SetArguments& a) { *a.out = 2 * a.value; }

const RegisterKernel first("registry_test.set", {.variant = "b_once"}, set_first);
const RegisterKernel second("registry_test.set", {.variant = "c_twice"}, set_second);

int value_set_by(std::string_view variant) {
  int out = 0;
  Stream stream(device(ExecutorKind::host));
  kernel<SetArguments>("registry_test.set", ExecutorKind::host, variant)(stream, {&out, 21});
  return out;
}

TEST(KernelRegistry, FindsAVariantByNameAndTheFirstWithoutOne) {
  EXPECT_EQ(value_set_by("b_once"), 21);
  EXPECT_EQ(value_set_by("c_twice"), 42);
  EXPECT_EQ(value_set_by(""), 21);
}

TEST(KernelRegistry, RefusesWhatIsNotThere) {
  EXPECT_THROW(find_kernel("registry_test.set", ExecutorKind::cuda), std::logic_error);
  EXPECT_THROW(find_kernel("registry_test.set", ExecutorKind::host, "a"), std::logic_error);
  EXPECT_THROW(find_kernel("registry_test", ExecutorKind::host), std::logic_error);
  EXPECT_THROW(kernel<int>("registry_test.set", ExecutorKind::host), std::logic_error);
}

TEST(KernelRegistry, RefusesASecondKernelOfTheSameName) {
  EXPECT_THROW(RegisterKernel("registry_test.set", {.variant = "b_once"}, set_second), std::logic_error);
}

/// Tests register variants of their own, for the host alone; what the program itself holds comes in pairs.
TEST(KernelRegistry, HoldsEveryOperationForEveryExecutorOfTheBuild) {
  for (const RegisteredKernel* each : registered_kernels()) {
    if (each->operation == "registry_test.set") continue;
    if (each->executor == ExecutorKind::cuda) {
      EXPECT_NO_THROW(find_kernel(each->operation, ExecutorKind::host, each->claim.variant, each->arguments));
    } else if (built_with_cuda()) {
      EXPECT_NO_THROW(find_kernel(each->operation, ExecutorKind::cuda, "", each->arguments));
    }
  }
}

TEST(KernelRegistry, KnowsTheFileOfAKernelFromTheRepositoryOn) {
  EXPECT_TRUE(file_of_kernel("registry_test.set", "b_once").ends_with("kernels/device/kernel_registry_test.cpp"));
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
}  // namespace tally
