#include "oracle/case/graph.hpp"

#include <gtest/gtest.h>

#include <set>
#include <stdexcept>

#include "case_files.hpp"
#include "oracle/case/file/parts.hpp"
#include "oracle/case/io.hpp"
#include "tests/kernels/residual_case.hpp"

namespace tally::graph_test {
namespace {

/// Who reads what, by index:
///
///   0 start   the model's input            5 b     inner
///   1 shift   the model's input, start     6 c     start
///   2 a       shift                        7 sum   b, c, b
///   3 t       a                            8 last  sum
///   4 inner   a, t
///
/// Three features up to inner and in c, five from b and c on, two at the end.
Model branched_model() {
  Model model;
  model.input = 3;
  model.layers = {layer_of("relu", "start"),
                  reading({"input", "start"}, layer_of("add", "shift")),
                  layer_of("linear", "a", {{"out", std::int64_t{3}}}),
                  layer_of("tanh", "t"),
                  reading({"a", "t"}, layer_of("add", "inner")),
                  layer_of("linear", "b", {{"out", std::int64_t{5}}}),
                  reading({"start"}, layer_of("linear", "c", {{"out", std::int64_t{5}}})),
                  reading({"b", "c", "b"}, layer_of("add", "sum")),
                  layer_of("linear", "last", {{"out", std::int64_t{2}}})};
  model.loss = choice_of("loss", "mse");
  return model;
}

/// For each layer what a function of the model says of it.
template <class F>
auto of_each_layer(const Model& model, F&& f) {
  std::vector<decltype(f(std::size_t{}))> all;
  for (std::size_t i = 0; i < model.layers.size(); ++i) all.push_back(f(i));
  return all;
}

using Readers = std::vector<std::pair<std::size_t, std::size_t>>;  // layer, and which of its inputs

Readers readers(const Model& model, std::size_t i) {
  Readers found;
  for (const LayerReader& reader : readers_of(model, i)) found.emplace_back(reader.layer, reader.input);
  return found;
}

TEST(Graph, SaysWhatALayerReads) {
  const Model model = branched_model();
  const auto inputs = of_each_layer(model, [&](std::size_t i) { return inputs_of(model, i); });
  const auto first = of_each_layer(model, [&](std::size_t i) { return first_input_of(model, i); });

  EXPECT_EQ(inputs, (std::vector<std::vector<LayerInput>>{
                        {model_input}, {model_input, 0}, {1}, {2}, {2, 3}, {4}, {0}, {5, 6, 5}, {7}}));
  EXPECT_EQ(first, (std::vector<LayerInput>{model_input, model_input, 1, 2, 2, 4, 0, 5, 7}));
}

TEST(Graph, SaysWhoReadsALayer) {
  const Model model = branched_model();
  const auto found = of_each_layer(model, [&](std::size_t i) { return readers(model, i); });

  EXPECT_EQ(
      found,
      (std::vector<Readers>{
          {{1, 1}, {6, 0}}, {{2, 0}}, {{3, 0}, {4, 0}}, {{4, 1}}, {{5, 0}}, {{7, 0}, {7, 2}}, {{7, 1}}, {{8, 0}}, {}}));
}

TEST(Graph, RefusesANameThatIsNoEarlierLayers) {
  Model model = branched_model();
  for (const char* name : {"nowhere", "last", "c", ""}) {
    model.layers[6].inputs = {name};
    EXPECT_THROW(inputs_of(model, 6), std::logic_error) << name;
    EXPECT_THROW(first_input_of(model, 6), std::logic_error) << name;
  }
}

TEST(Graph, NumbersTheInputsOfALayerThatReadsSeveral) {
  const Layer linear{{"linear", {}}, ""}, add{{"add", {}}, ""}, attention{{"attention", {}}, ""};
  EXPECT_EQ(input_word(linear, 1, 0), "x");
  EXPECT_EQ(input_word(add, 2, 0), "x0");
  EXPECT_EQ(input_word(add, 3, 2), "x2");
  EXPECT_EQ(input_word(attention, 3, 0), "q");
  EXPECT_EQ(input_word(attention, 3, 2), "v");
}

/// Parameters begin at a; c has its own, although it reads what no gradient reaches.
TEST(Graph, KnowsWhereAGradientGoes) {
  const auto reached = graph_of(branched_model()).reached;
  EXPECT_EQ(reached, (std::vector<bool>{false, false, true, true, true, true, true, true, true}));
}

TEST(Graph, FollowsFeaturesByTheFirstInput) {
  const Model model = branched_model();
  const auto before = of_each_layer(model, [&](std::size_t i) { return features_before(model, i); });
  const auto after = of_each_layer(model, [&](std::size_t i) { return features_after(model, i); });

  EXPECT_EQ(before, (std::vector<std::int64_t>{3, 3, 3, 3, 3, 3, 3, 5, 5}));
  EXPECT_EQ(after, (std::vector<std::int64_t>{3, 3, 3, 3, 3, 5, 5, 5, 2}));
  EXPECT_EQ(features_before(model, model.layers.size()), 2);
  EXPECT_THROW(features_before(model, model.layers.size() + 1), std::out_of_range);
  EXPECT_THROW(features_after(model, model.layers.size()), std::out_of_range);
}

TEST(Graph, TellsAChainFromABranchedModel) {
  Case c = small_case();
  EXPECT_TRUE(is_chain(c.model));
  EXPECT_EQ(version_of(c), 1);
  c.model.layers[2].inputs = {"fc1"};  // past the ReLU
  EXPECT_FALSE(is_chain(c.model));
  EXPECT_EQ(version_of(c), 2);
  EXPECT_FALSE(is_chain(branched_model()));
  EXPECT_FALSE(is_chain(doubled_case().model));
}

std::vector<Case> branched_cases() {
  Case branched = small_case();
  branched.model = branched_model();
  branched.tensors.clear();
  fill_tensors(branched);
  return {branched, residual_case(), doubled_case(), half_ulps_case(Dtype::bf16, half_an_ulp(Dtype::bf16))};
}

TEST(GraphText, IsOfVersion2AndReadsBackAsItWasWritten) {
  for (const Case& c : branched_cases()) {
    const std::string text = write_case(c);
    EXPECT_NE(text.find("\"tally_case\": 2"), std::string::npos) << text;
    EXPECT_EQ(read_case(text), c);
    EXPECT_EQ(write_case(read_case(text)), text);
    EXPECT_EQ(case_of_token(token_of(c)), c);
  }
}

/// Order and repetition change the case, as they may change what its sums round to.
TEST(GraphText, KeepsTheOrderOfTheInputs) {
  const Case c = half_ulps_case(Dtype::fp32, half_an_ulp(Dtype::fp32));
  Case turned = c;
  turned.model.layers[3].inputs = {"a", "b", "c"};

  EXPECT_EQ(read_case(write_case(c)).model.layers[3].inputs, (std::vector<std::string>{"b", "c", "a"}));
  EXPECT_NE(hash_of(turned), hash_of(c));
}

/// A case has one text: what its absence says as well is left out, and then there is nothing of version 2 in it.
TEST(GraphText, LeavesOutWhatAChainReadsAnyway) {
  Case plain = small_case();
  plain.model.layers[1].name = "act";
  Case spelled = plain;
  spelled.model.layers[0].inputs = {"input"};
  spelled.model.layers[1].inputs = {"fc1"};
  spelled.model.layers[2].inputs = {"act"};

  EXPECT_TRUE(is_chain(spelled.model));
  EXPECT_TRUE(validate(spelled).empty());
  EXPECT_EQ(write_case(spelled), write_case(plain));
  EXPECT_EQ(hash_of(spelled), hash_of(plain));
  EXPECT_NE(write_case(spelled).find("\"tally_case\": 1"), std::string::npos);
  EXPECT_EQ(write_case(spelled).find("\"inputs\""), std::string::npos);
}

TEST(GraphText, ReadsAChainThatSpellsItOutInEitherVersion) {
  const Case plain = read_case_file(tests::case_folder / "valid/resumed_sgd.json");
  std::string text = tests::text_of(tests::case_folder / "valid/resumed_sgd.json");
  const std::string name = "\"name\": \"fc\"", version = "\"tally_case\": 1";
  text.insert(text.find(name) + name.size(), ", \"inputs\": [\"input\"]");

  EXPECT_EQ(read_case(text), plain);
  text.replace(text.find(version), version.size(), "\"tally_case\": 2");
  EXPECT_EQ(read_case(text), plain);
  EXPECT_EQ(write_case(read_case(text)), write_case(plain));
}

std::set<std::string> paths_after(void (*change)(Model&)) {
  Case c = branched_cases().front();
  change(c.model);
  std::set<std::string> paths;
  for (const CaseError& error : validate(c)) paths.insert(error.path);
  return paths;
}

using Paths = std::set<std::string>;

/// Files with these errors are among tests/oracle/case/malformed; here they are made in memory.
TEST(GraphErrors, HaveThePathOfWhatIsWrong) {
  EXPECT_EQ(paths_after([](Model&) {}), Paths{});
  EXPECT_EQ(paths_after([](Model& m) { m.layers[4].inputs[1] = "nowhere"; }), Paths{"$.model.layers[4].inputs[1]"});
  EXPECT_EQ(paths_after([](Model& m) { m.layers[4].inputs[0] = "sum"; }), Paths{"$.model.layers[4].inputs[0]"});
  EXPECT_EQ(paths_after([](Model& m) { m.layers[6].inputs = {"c"}; }), Paths{"$.model.layers[6].inputs[0]"});
  EXPECT_EQ(paths_after([](Model& m) { m.layers[4].inputs = {"a"}; }), Paths{"$.model.layers[4].inputs"});
  EXPECT_EQ(paths_after([](Model& m) { m.layers[4].inputs.clear(); }), Paths{"$.model.layers[4].inputs"});
  EXPECT_EQ(paths_after([](Model& m) { m.layers[3].inputs = {"a", "a"}; }), Paths{"$.model.layers[3].inputs"});
  EXPECT_EQ(paths_after([](Model& m) { m.layers[6].options["out"] = std::int64_t{4}; }),
            Paths{"$.model.layers[7].inputs[1]"});
  EXPECT_EQ(paths_after([](Model& m) { m.layers[8].inputs = {"b"}; }), Paths{"$.model.layers[7]"});
  EXPECT_EQ(paths_after([](Model& m) {
              m.layers[3].name = "input";
              m.layers[4].inputs[1] = "a";
            }),
            Paths{"$.model.layers[1].inputs[0]"});
}

/// What a message says beside the path.
TEST(GraphErrors, SayWhatIsFoundAndWhatIsAllowed) {
  Case c = branched_cases().front();
  c.model.layers[6].options["out"] = std::int64_t{4};
  const std::vector<CaseError> errors = validate(c);

  ASSERT_EQ(errors.size(), 1u);
  EXPECT_EQ(errors[0].found, "4 features");
  EXPECT_EQ(errors[0].expected, "5, as its first input has");
}

TEST(GraphErrors, NameTheVersionThatHoldsTheList) {
  std::string text = write_case(residual_case());
  const std::string version = "\"tally_case\": 2";
  text.replace(text.find(version), version.size(), "\"tally_case\": 1");
  try {
    read_case(text);
    FAIL() << "it was read";
  } catch (const InvalidCase& invalid) {
    EXPECT_STREQ(invalid.what(), "$.tally_case: found 1, expected 2, as a layer names its inputs");
  }
}

}  // namespace
}  // namespace tally::graph_test
