#include <gtest/gtest.h>

#include "case_files.hpp"
#include "oracle/case/file/parts.hpp"
#include "oracle/case/io.hpp"

namespace tally::token_test {
namespace {

Case drawn_case() {
  Case c = read_case_file(tests::case_folder / "valid/adam_fp16_dynamic_scale.json");
  draw(c.tensors.at("x"), {1, 17, "normal"});
  draw(c.tensors.at("fc1.weight"), {1, 18, "he:3"});
  draw(c.tensors.at("item_weight"), {1, 19, "counts:4"});
  return c;
}

std::string token_of_text(const std::string& json) { return "tly1:" + to_base32(compress(json)); }

TEST(Base32, AgreesWithTheStandardsExamples) {
  const std::pair<const char*, const char*> examples[] = {{"", ""},
                                                          {"f", "my"},
                                                          {"fo", "mzxq"},
                                                          {"foo", "mzxw6"},
                                                          {"foob", "mzxw6yq"},
                                                          {"fooba", "mzxw6ytb"},
                                                          {"foobar", "mzxw6ytboi"}};
  for (const auto& [bytes, text] : examples) {
    EXPECT_EQ(to_base32(bytes), text);
    EXPECT_EQ(from_base32(text), bytes);
  }
}

TEST(Base32, RefusesOtherText) {
  for (const char* text : {"M", "my======", "m", "mz", "mzx", "0", "mzxw6yr"})
    EXPECT_EQ(from_base32(text), std::nullopt) << text;
}

TEST(Compression, RefusesDamageAndTooMuch) {
  const std::string text(100'000, 'a');
  const std::string stream = compress(text);

  EXPECT_EQ(decompress(stream, text.size()), text);
  EXPECT_EQ(decompress(stream, text.size() - 1), std::nullopt);
  EXPECT_EQ(decompress(stream.substr(0, stream.size() - 1), text.size()), std::nullopt);
  EXPECT_EQ(decompress(stream + "x", text.size()), std::nullopt);
  EXPECT_EQ(decompress("", text.size()), std::nullopt);
}

TEST(Token, GivesTheCaseBack) {
  for (const auto& file : tests::json_files(tests::case_folder / "valid")) {
    const Case c = read_case_file(file);
    const Case back = case_of_token(token_of(c));
    EXPECT_EQ(back, c) << file;
    EXPECT_EQ(hash_of(back), hash_of(c)) << file;
  }
}

TEST(Token, CarriesDrawingsInsteadOfData) {
  const Case c = drawn_case();
  const Case back = case_of_token(token_of(c));

  EXPECT_EQ(back, c);
  ASSERT_TRUE(back.tensors.at("x").drawing);
  EXPECT_EQ(*back.tensors.at("x").drawing, *c.tensors.at("x").drawing);
  EXPECT_FALSE(back.tensors.at("target").drawing);
}

TEST(Token, SendsDataWhereTheDrawingNoLongerMakesIt) {
  Case c = drawn_case();
  c.tensors.at("x").set(0, 0.5);
  const Case back = case_of_token(token_of(c));

  EXPECT_EQ(back, c);
  EXPECT_FALSE(back.tensors.at("x").drawing);
}

TEST(Token, NamesItselfInErrors) {
  const std::string good = token_of(drawn_case());
  for (const std::string& token : {std::string(), std::string("tly2:aa"), good + "a", good.substr(0, good.size() - 9),
                                   std::string("tly1:"), good.substr(5)}) {
    try {
      case_of_token(token);
      ADD_FAILURE() << token;
    } catch (const InvalidCase& invalid) {
      EXPECT_EQ(invalid.errors().at(0).path, "token");
    }
  }
}

TEST(Token, NamesThePlaceInsideIt) {
  std::string text = tests::text_of(tests::case_folder / "malformed/norm_three.json");
  try {
    case_of_token(token_of_text(text));
    FAIL() << "it was read";
  } catch (const InvalidCase& invalid) {
    EXPECT_EQ(invalid.errors().at(0).path, "token.recipe.clip.norm");
  }
}

TEST(Token, RefusesHugeAndUnknownDrawings) {
  const std::string text = tests::text_of(tests::case_folder / "valid/resumed_sgd.json");
  const auto with_x = [&](const std::string& x) {
    std::string changed = text;
    const auto begin = changed.find('{', changed.find("\"x\""));
    return changed.replace(begin, changed.find('}', begin) + 1 - begin, x);
  };
  EXPECT_EQ(
      case_of_token(token_of_text(with_x(
                        R"({"drawing": [1, 18446744073709551615, "uniform"], "dtype": "fp32", "shape": [3, 2]})")))
          .tensors.at("x")
          .drawing->seed,
      ~std::uint64_t{0});
  for (const char* x : {R"({"drawing": [1, 1, "uniform"], "dtype": "fp32", "shape": [1000000, 1000000]})",
                        R"({"drawing": [2, 1, "uniform"], "dtype": "fp32", "shape": [3, 2]})",
                        R"({"drawing": [1, -1, "uniform"], "dtype": "fp32", "shape": [3, 2]})",
                        R"({"drawing": [1, 1, "cauchy"], "dtype": "fp32", "shape": [3, 2]})",
                        R"({"drawing": [1, 1, "uniform"], "data": [], "dtype": "fp32", "shape": [3, 2]})",
                        R"({"drawing": "uniform", "dtype": "fp32", "shape": [3, 2]})"})
    EXPECT_THROW(case_of_token(token_of_text(with_x(x))), InvalidCase) << x;
}

/// Two tensors that are each allowed, together too large: nothing may be drawn, which would take minutes.
TEST(Token, RefusesTooManyDrawnElementsBeforeDrawing) {
  const std::string large = R"({"drawing": [1, 1, "normal"], "dtype": "fp32", "shape": [268435456]})";
  std::string text = tests::text_of(tests::case_folder / "valid/resumed_sgd.json");
  text.replace(text.find("\"tensors\": {") + 12, 0, "\"a\": " + large + ", \"b\": " + large + ",");

  try {
    case_of_token(token_of_text(text));
    FAIL() << "it was read";
  } catch (const InvalidCase& invalid) {
    EXPECT_EQ(invalid.errors().at(0).path, "token.tensors");
  }
}

/// A few letters for activations that would fill the memory, none of which is drawn.
TEST(Token, RefusesActivationsThatAFewLettersMakeHuge) {
  const std::int64_t rows = 4096;
  std::string targets = "0";
  for (std::int64_t i = 1; i < rows; ++i) targets += ",0";
  const std::string text = R"({"tally_case": 1, "model": {"input": 1, "layers": [
      {"kind": "linear", "name": "fc", "out": 2048, "bias": false}], "loss": {"kind": "cross_entropy"}},
    "windows": [[4096]],
    "precision": {"storage": "fp32", "compute": "fp32", "accumulate": "fp32", "master": "fp32", "tf32": false},
    "recipe": {"optimizer": {"kind": "sgd"}, "learning_rate": {"kind": "constant", "base": 1},
      "weight_decay": {"kind": "none"}, "clip": {"kind": "none"}, "loss_scale": {"kind": "none"}},
    "tensors": {"x": {"drawing": [1, 1, "normal"], "dtype": "fp32", "shape": [4096, 1]},
      "fc.weight": {"drawing": [1, 2, "normal"], "dtype": "fp32", "shape": [2048, 1]},
      "target": {"dtype": "i64", "shape": [4096], "data": [)" +
                           targets + "]}}}";

  try {
    case_of_token(token_of_text(text));
    FAIL() << "it was read";
  } catch (const InvalidCase& invalid) {
    EXPECT_EQ(invalid.errors().at(0).path, "token.windows") << invalid.what();
  }
}

TEST(Sha256, AgreesWithTheStandardsExample) {
  EXPECT_EQ(sha256("abc"), "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad");
  EXPECT_EQ(sha256(""), "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855");
}

}  // namespace
}  // namespace tally::token_test
