#include "oracle/case/contract.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <regex>
#include <stdexcept>

#include "oracle/registered_files.hpp"

namespace tally::contract_test {
namespace {

/// By the end of its path: a compiler cache may have made the beginning relative to the build folder.
bool is_registered(const std::string& file) {
  const auto& files = registered_files();
  return std::any_of(files.begin(), files.end(),
                     [&](const std::string& noted) { return noted.ends_with("oracle/" + file); });
}

TEST(Contract, IsThereForEveryKindOfTheCase) {
  const std::pair<const char*, std::vector<const char*>> sections[] = {
      {"layer", {"linear", "relu", "tanh", "sigmoid", "gelu", "batch_norm", "layer_norm", "dropout"}},
      {"loss", {"cross_entropy", "mse"}},
      {"optimizer", {"sgd", "adam"}},
      {"learning_rate", {"constant", "step", "warmup_cosine"}},
      {"weight_decay", {"none", "l2", "decoupled"}},
      {"clip", {"none", "global_norm", "value"}},
      {"loss_scale", {"none", "static", "dynamic"}}};
  for (const auto& [section, kinds] : sections)
    for (const char* kind : kinds) EXPECT_NE(find_contract(section, kind), nullptr) << section << " " << kind;
}

TEST(Contract, ListsASectionSortedByKind) {
  const auto contracts = contracts_of("layer");
  EXPECT_GE(contracts.size(), 8u);
  for (std::size_t i = 1; i < contracts.size(); ++i) EXPECT_LT(contracts[i - 1]->kind, contracts[i]->kind);
}

TEST(Contract, IsFoundBySectionAndKind) {
  ASSERT_NE(find_contract("clip", "none"), nullptr);
  EXPECT_EQ(find_contract("optimizer", "none"), nullptr);
  EXPECT_EQ(find_contract("loss", "linear"), nullptr);
}

TEST(Contract, StatesTheShapesOfItsTensors) {
  const Choice layer{"linear", {{"out", std::int64_t{5}}, {"bias", false}}};
  const Contract& linear = *find_contract("layer", "linear");

  EXPECT_EQ(linear.out_features(layer, 3), 5);
  EXPECT_EQ(linear.tensors[0].shape(layer, 3), (std::vector<std::int64_t>{5, 3}));
  EXPECT_FALSE(linear.tensors[1].present(layer));
}

TEST(Contract, OfAKindIsRegisteredOnce) {
  EXPECT_THROW(Register<Contract>({.section = "clip", .kind = "none", .options = {}}), std::logic_error);
}

TEST(Contract, IsRegisteredByEveryFileThatDefinesOne) {
  int files = 0;
  for (const char* folder : {"layers", "losses", "recipe"})
    for (const auto& entry :
         std::filesystem::directory_iterator(std::filesystem::path(TALLY_SOURCE_DIR) / "oracle" / folder)) {
      std::ifstream stream(entry.path());
      const std::string text{std::istreambuf_iterator<char>(stream), {}};
      const bool defines = text.find("\nconst Contract ") != std::string::npos ||
                           text.find("\nconst Register<Contract> ") != std::string::npos;
      if (entry.path().extension() != ".cpp" || !defines) continue;
      ++files;
      EXPECT_TRUE(is_registered(std::string(folder) + "/" + entry.path().filename().string())) << entry.path();
    }
  EXPECT_GE(files, 24);
}

/// A constant with a name that no contract has would compare with nothing.
TEST(Kinds, AreThoseOfContracts) {
  std::ifstream stream(std::filesystem::path(TALLY_SOURCE_DIR) / "oracle" / "case" / "kinds.hpp");
  const std::string text{std::istreambuf_iterator<char>(stream), {}};
  const std::regex constant(R"re((\w+) = "(\w+)")re");
  int constants = 0;
  for (std::sregex_iterator each(text.begin(), text.end(), constant), end; each != end; ++each, ++constants) {
    const std::string kind = (*each)[2];
    const auto has = [&](const char* section) { return find_contract(section, kind) != nullptr; };
    constexpr const char* sections[] = {"layer",        "loss",          "optimizer", "clip",
                                        "weight_decay", "learning_rate", "loss_scale"};
    EXPECT_TRUE(std::ranges::any_of(sections, has)) << kind;
    EXPECT_TRUE((*each)[1] == kind || kind == "static") << (*each)[1];
  }
  EXPECT_GT(constants, 0);
}

}  // namespace
}  // namespace tally::contract_test
