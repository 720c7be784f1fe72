#include "reports/operations/repeat_script.hpp"

#include <gtest/gtest.h>

#include "reports/record/files.hpp"
#include "tests/reports/samples/operations.hpp"

namespace tally::repeat_script_test {
namespace {

bool has(const std::string& text, const std::string& part) { return text.find(part) != std::string::npos; }

std::string script_of(const JudgedOperation& operation) {
  return repeat_script(operation, samples::right_operations().header, "bits.bin");
}

std::string with(std::string line, const std::string& from, const std::string& to) {
  const auto at = line.find(from);
  EXPECT_NE(at, std::string::npos) << from;
  return line.replace(at, from.size(), to);
}

TEST(RepeatScript, WritesEveryKindOfArgumentAsCode) {
  const std::string script = script_of(samples::wrong_product());
  for (const char* part : {"torch.set_num_threads(2)\n", "self = read(torch.float32, 72, [3], [1])\n",
                           "    \"mat1\": read(torch.bfloat16, 136, [2, 4], [1, 2]),\n",
                           "    \"mat2\": None,\n    \"beta\": 1,\n    \"alpha\": float.fromhex(\"0x1.8p+0\"),\n",
                           "    \"dtype\": torch.float32,\n    \"sizes\": [1, -2],\n",
                           "    \"memory_format\": torch.contiguous_format,\n    \"device\": torch.device(\"cpu\"),\n",
                           "    \"layout\": torch.strided,\n    \"text\": \"a\\\"b\\u00e9\",\n    \"flag\": True,\n",
                           "    \"lists\": [[True, None]],\n",
                           "result = torch.ops.aten.addmm.default(self, **given)\nfound = result[1, 2].item()\n",
                           "recorded, expected, allowed = 1.5, 1.25, 0.0208333333\n", "\"wrong again\""})
    EXPECT_TRUE(has(script, part)) << part << "\n" << script;
  EXPECT_FALSE(has(script, "cuda"));
  EXPECT_EQ(repeat_name(samples::wrong_product().place), "repeat_operation_16.py");
}

TEST(RepeatScript, FindsTheElementInWhicheverResultHasIt) {
  JudgedOperation operation = samples::wrong_product();
  const std::string tensor = R"({"b": 3, "d": "float32", "o": 6, "s": [2, 3], "r": [3, 1]})",
                    other = R"({"b": 4, "d": "float32", "o": 6, "s": [2, 3], "r": [3, 1]})",
                    turned = R"({"b": 3, "d": "float32", "o": 6, "s": [3, 2], "r": [1, 3]})";
  const std::string line = operation.line;
  const auto element_with = [&](const std::string& out, const std::string& wrote) {
    operation.line = with(with(line, tensor, out), "\"wrote\": {}", "\"wrote\": {" + wrote + "}");
    const std::string script = script_of(operation);
    const auto from = script.find("\nfound = ") + 9;
    return script.substr(from, script.find(".item()") - from);
  };
  EXPECT_EQ(element_with(other + ", " + tensor, ""), "result[1][1, 2]");
  EXPECT_EQ(element_with("[" + other + ", " + tensor + "]", ""), "result[1][1, 2]");
  EXPECT_EQ(element_with(turned, ""), "result[2, 1]");
  operation.judged.results.front().at = 10;
  EXPECT_EQ(element_with(turned, ""), "result[1, 1]");
  operation.judged.results.front().at = 11;
  EXPECT_EQ(element_with("null", "\"self\": " + tensor), "self[1, 2]");
  EXPECT_EQ(element_with("null", "\"out\": [" + other + ", " + tensor + "]"), "given[\"out\"][1][1, 2]");
  EXPECT_EQ(element_with(R"({"b": 3, "d": "float32", "o": 11, "s": [], "r": []})", ""), "result[()]");
  operation.line = with(line, tensor, other);
  EXPECT_EQ(script_of(operation), "");
}

TEST(RepeatScript, IsNoneWhereAnArgumentIsNoneOfItsOwn) {
  const std::string line = samples::wrong_product().line;
  const auto script_with = [&](const std::string& value) {
    JudgedOperation operation = samples::wrong_product();
    operation.line = with(line, "\"mat2\": null", "\"mat2\": " + value);
    return script_of(operation);
  };
  EXPECT_EQ(script_with(R"({"u": "sparse_coo float32 [3, 4]"})"), "");
  EXPECT_EQ(script_with(R"({"other": "Generator"})"), "");
  EXPECT_EQ(script_with(R"x({"dtype": "float32, __import__('os')"})x"), "");
  EXPECT_EQ(script_with(R"({"b": 99, "d": "float32", "o": 0, "s": [], "r": []})"), "");
  EXPECT_TRUE(has(script_with(R"x({"other": "(1+2j)"})x"), "\"mat2\": complex(\"(1+2j)\"),"));
  EXPECT_TRUE(has(script_with("[1, 2.5, 3.0]"), "\"mat2\": [1, 2.5, 3.0],"));
  JudgedOperation hostile = samples::wrong_product();
  hostile.place.operation += "(); import os";
  EXPECT_EQ(script_of(hostile), "");
  hostile = samples::wrong_product();
  hostile.place.where = "a.py:1 in f\nimport os\r";
  EXPECT_FALSE(has(script_of(hostile), "\nimport os\r"));
  hostile.line += "}";
  EXPECT_EQ(script_of(hostile), "");
}

TEST(RepeatScript, SaysWhatOnlyAllElementsShow) {
  const std::string script = script_of(samples::imprecise_product());
  EXPECT_TRUE(has(script, "the errors of all elements together are 25 times what roundings leave"));
  EXPECT_FALSE(has(script, "wrong again"));
}

}  // namespace
}  // namespace tally::repeat_script_test
