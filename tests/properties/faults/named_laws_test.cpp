// A fault breaks every law that it names. Its row of ctest ends at the first one that catches it; the others are held
// here.
#include <gtest/gtest.h>

#include <algorithm>
#include <string>
#include <vector>

#include "kernels/device/device.hpp"
#include "properties/campaign/law_task.hpp"
#include "properties/diagnosis/diagnose.hpp"
#include "properties/faults/fault.hpp"
#include "properties/faults/fault_names.hpp"
#include "properties/laws/law.hpp"

namespace tally::named_laws_test {
namespace {

/// In some storage format, at default effort.
bool breaks(const Fault& fault, const Law& law) {
  CampaignOptions options;
  options.subject.stages = &fault.stages();
  options.shrink = false;
  return std::ranges::any_of(std::vector{Dtype::fp32, Dtype::fp16, Dtype::bf16},
                             [&](Dtype storage) { return run_law_task(law, storage, options).failing.has_value(); });
}

std::vector<std::string> names_of_laws() {
  std::vector<std::string> names;
  for (const Law* law : laws()) names.push_back(law->name);
  return names;
}

class NamedLaw : public testing::TestWithParam<std::string> {};

TEST_P(NamedLaw, IsBrokenByEveryFaultThatNamesIt) {
  if (GetParam() == "no_data_race" && !built_with_checks()) GTEST_SKIP() << "nothing watches for races";
  const NoDiagnosis none;
  ASSERT_FALSE(faults_of(GetParam()).empty()) << GetParam();
  for (const std::string& name : faults_of(GetParam()))
    EXPECT_TRUE(breaks(*find_fault(name), *find_law(GetParam()))) << name << " does not break " << GetParam();
}

INSTANTIATE_TEST_SUITE_P(Catalogue, NamedLaw, testing::ValuesIn(names_of_laws()),
                         [](const auto& each) { return each.param; });

}  // namespace
}  // namespace tally::named_laws_test
