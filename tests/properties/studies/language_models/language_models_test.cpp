// The runs that `tally bench language_models` counts: every kernel is among them, clean ones stay inside their bounds,
// and a claim that leaves out a cast does not hold.
#include <gtest/gtest.h>

#include <algorithm>
#include <set>

#include "oracle/case/io.hpp"
#include "oracle/case/tensors/tensor.hpp"
#include "properties/faults/fault.hpp"
#include "properties/lab/evidence/evidence_run.hpp"
#include "properties/lab/language_models/family.hpp"

namespace tally::language_models_test {
namespace {

const StudyRunner& study() { return *find_study("bench", "language_models"); }

StudyOptions little() {
  StudyOptions options;
  options.effort = 0;  // one case of each kind, kernel and format
  return options;
}

const LayerFamily& family(const std::string& name) {
  return *std::ranges::find(layer_families(), name, &LayerFamily::name);
}

/// The family's only way with this kernel.
Strata held(const std::string& name, const std::string& operation, const std::string& variant, Dtype storage) {
  const LayerFamily& layers = family(name);
  const auto way = std::ranges::find_if(
      layers.ways, [&](const Way& w) { return w.kernels.contains(operation) && w.kernels.at(operation) == variant; });
  return held_run(layers, *way, storage, 0, little());
}

TEST(LanguageModels, ShowEveryTensorByEveryKernelThatShips) {
  ASSERT_FALSE(layer_families().empty());
  for (const LayerFamily& layers : layer_families()) {
    std::set<std::pair<std::string, std::string>> found, ships;
    for (const Way& way : layers.ways) {
      const Strata strata = held_run(layers, way, Dtype::bf16, 0, little());
      for (const ShownTensor& tensor : layers.tensors)
        for (const std::string& variant : strata.next({"clean", tensor.shown})) found.emplace(tensor.shown, variant);
    }
    for (const ShownTensor& tensor : layers.tensors) {
      const auto standard = shipped_variants(ExecutorKind::host).find(tensor.operation);
      if (standard == shipped_variants(ExecutorKind::host).end()) continue;  // a kernel that runs only when it is named
      for (const std::string& variant : standard->second) ships.emplace(tensor.shown, variant);
    }
    for (const auto& [tensor, variant] : ships)
      EXPECT_TRUE(found.contains({tensor, variant})) << tensor << " " << variant;
    for (const ShownTensor& tensor : layers.tensors)
      EXPECT_TRUE(std::ranges::any_of(found, [&](const auto& pair) { return pair.first == tensor.shown; }))
          << tensor.shown;
  }
}

TEST(LanguageModels, DrawTheSameCaseForEveryKernelAndOthersByNumberAndSeed) {
  ASSERT_FALSE(layer_families().empty());
  for (const LayerFamily& layers : layer_families()) {
    const std::string first = hash_of(layers.drawn(Dtype::fp16, 5, 1));
    EXPECT_EQ(first, hash_of(layers.drawn(Dtype::fp16, 5, 1))) << layers.name;
    EXPECT_NE(first, hash_of(layers.drawn(Dtype::fp16, 5, 2))) << layers.name;
    EXPECT_NE(first, hash_of(layers.drawn(Dtype::fp16, 6, 1))) << layers.name;
  }
}

TEST(LanguageModels, LeaveTheBoundOfAClaimWithoutTheCast) {
  for (const Dtype storage : {Dtype::fp16, Dtype::bf16}) {
    const Strata strata = held("attention", "attention.forward", "online_cast", storage);
    EXPECT_EQ(strata.sum({"clean"}).alarms, 0u);
    EXPECT_EQ(strata.sum({"unclaimed"}).alarms, 0u);
    EXPECT_TRUE(strata.next({"alarm"}).empty());
    EXPECT_GT(strata.sum({"other", "attention y", "online_cast", "P not cast"}).alarms, 0u);
    const Strata backward = held("attention", "attention.forward", "online_pairs", storage);
    for (const char* tensor : {"attention dq", "attention dk", "attention dv"})
      EXPECT_GT(backward.sum({"other", tensor, "recompute_cast", "P and dS not cast"}).alarms, 0u) << tensor;
    const Strata norms = held("norms", "rms_norm.forward", "cast_first", storage);
    EXPECT_GT(norms.sum({"other", "rms_norm y", "cast_first", "cast behind the weight"}).alarms, 0u);
  }
  EXPECT_TRUE(held("attention", "attention.forward", "online_cast", Dtype::fp32).next({"other"}).empty())
      << "a cast that loses nothing";
}

TEST(LanguageModels, TellFrequenciesInBf16ByFarPositions) {
  const LayerFamily& layers = family("rotary positions");
  const auto way = std::ranges::find(layers.ways, "rotary-frequencies-in-bf16", &Way::fault);
  const Strata strata = held_run(layers, *way, Dtype::bf16, 0, little());

  EXPECT_TRUE(strata.next({"clean"}).empty());
  const auto share = [&](const std::string& part) {
    const Stratum s = strata.sum({"other", "rotary y", way->fault, "table", "bf16", part});
    return static_cast<double>(s.alarms) / static_cast<double>(s.judged);
  };
  EXPECT_LT(share(layers.part_words.front()), share(layers.part_words.back()));
}

TEST(LanguageModels, FailWhereAKernelIsWrong) {
  StudyOptions options = little();
  options.subject.stages = &find_fault("lse-in-base-two")->stages();
  const Study wrong = run_study(study(), options);

  EXPECT_EQ(wrong.status, Status::fail);
  EXPECT_FALSE(wrong.message.empty());
  EXPECT_TRUE(std::ranges::any_of(wrong.tables, [](const StudyTable& t) { return t.title == "Alarms"; }));
}

}  // namespace
}  // namespace tally::language_models_test
