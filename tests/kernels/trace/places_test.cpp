#include <gtest/gtest.h>

#include <fstream>

#include "kernels/trace/recorder_notes.hpp"
#include "oracle/case/file/safetensors.hpp"

namespace tally::places_test {
namespace {

std::map<std::string, CodePlace> read(const std::map<std::string, std::string>& metadata) {
  TensorFile content;
  content.metadata = metadata;
  content.tensors["x"] = Tensor(Dtype::fp32, {2});
  const std::string test = testing::UnitTest::GetInstance()->current_test_info()->name();  // they run side by side
  const auto file = std::filesystem::path(testing::TempDir()) / ("places_" + test + ".safetensors");
  std::ofstream(file, std::ios::binary) << write_safetensors(content);
  return places_of(file);
}

std::string refused(const std::string& entry) {
  try {
    read({{"places", entry}});
  } catch (const std::runtime_error& problem) {
    return problem.what();
  }
  return "";
}

TEST(Places, AreReadByTheKindOfCall) {
  EXPECT_TRUE(read({}).empty());
  EXPECT_TRUE(read({{"places", ""}}).empty());
  const auto places = read({{"places", R"({"loss": {"file": "train.py", "line": 14, "text": "loss = f(x) / 2"},
                                           "step": {"file": "train.py", "line": 20, "column": 3}, "lunch": "noon"})"}});
  ASSERT_EQ(places.size(), 2u);
  EXPECT_EQ(places.at("loss").file, "train.py");
  EXPECT_EQ(places.at("loss").line, 14);
  EXPECT_EQ(places.at("loss").text, "loss = f(x) / 2");
  EXPECT_EQ(places.at("step").text, "");
}

TEST(Places, AreRefusedWithWhatWasFound) {
  EXPECT_NE(refused("[1").find(": metadata places: found "), std::string::npos) << refused("[1");
  EXPECT_NE(refused("[1]").find(": metadata places: found [1]; expected an object"), std::string::npos);
  for (const char* wrong :
       {R"("train.py")", R"({"file": "a"})", R"({"file": "a", "line": 0})", R"({"file": 1, "line": 1})",
        R"({"file": "a", "line": 1.5})", R"({"file": "a", "line": 1, "text": 2})"}) {
    const std::string said = refused(R"({"clip": )" + std::string(wrong) + "}");
    EXPECT_NE(said.find(": metadata places.clip: found "), std::string::npos) << wrong << ": " << said;
  }
}

TEST(Places, AreBounded) {
  const std::string entry = R"({"loss": {"file": "a", "line": 1, "text": ")" + std::string(100'000, 'x') + R"("}})";
  EXPECT_EQ(read({{"places", entry}}).at("loss").text.size(), 203u);
}

}  // namespace
}  // namespace tally::places_test
