#include "properties/operations/recording.hpp"

#include <gtest/gtest.h>

#include <cstring>
#include <filesystem>

#include "oracle/operations/rule.hpp"
#include "properties/operations/judged_recording.hpp"

namespace tally::recording_test {
namespace {

const std::string header = R"({"tally": "operations", "version": 1, "torch": "2.0", "profile": "none", "share": 1.0})";
const std::string end_line = R"({"end": true, "seen": 1, "recorded": 1})";

/// A folder of its own with these lines, and these floats as bits.
class RecordingTest : public testing::Test {
 protected:
  void SetUp() override {
    const testing::TestInfo& test = *testing::UnitTest::GetInstance()->current_test_info();
    folder_ = std::filesystem::path(testing::TempDir()) / (std::string("recording_") + test.name());
    std::filesystem::remove_all(folder_);
    std::filesystem::create_directories(folder_);
  }
  void TearDown() override { std::filesystem::remove_all(folder_); }

  void write(const std::vector<std::string>& lines, const std::vector<float>& bits = {1, 2, 3, 4}) const {
    std::ofstream text(folder_ / "operations.jsonl", std::ios::binary);
    for (std::size_t i = 0; i < lines.size(); ++i) text << lines[i] << (i + 1 < lines.size() || whole_ ? "\n" : "");
    std::ofstream(folder_ / "bits.bin", std::ios::binary)
        .write(reinterpret_cast<const char*>(bits.data()), static_cast<std::streamsize>(bits.size() * sizeof(float)));
  }
  std::string folder() const { return folder_.string(); }

  /// What the reader says of lines behind the header; "" where it reads them all.
  std::string said_of(std::vector<std::string> lines) const {
    lines.insert(lines.begin(), header);
    write(lines);
    try {
      Recording recording(folder());
      while (recording.next()) {
      }
    } catch (const std::runtime_error& problem) {
      return problem.what();
    }
    return "";
  }

  static std::string block(int id, int at, int bytes) {
    return R"({"block": )" + std::to_string(id) + R"(, "at": )" + std::to_string(at) + R"(, "bytes": )" +
           std::to_string(bytes) + "}";
  }
  static std::string tensor(const std::string& sizes, const std::string& strides, const std::string& offset = "0",
                            const std::string& format = "float32") {
    return R"({"b": 0, "d": ")" + format + R"(", "o": )" + offset + R"(, "s": )" + sizes + R"(, "r": )" + strides + "}";
  }
  static std::string call(const std::string& op, const std::string& arguments, const std::string& out) {
    return R"({"op": ")" + op + R"(", "i": 0, "args": {)" + arguments + R"(}, "out": [)" + out +
           R"(], "where": "a.py:3"})";
  }
  static std::string negated(const std::string& x, const std::string& y) {
    return call("aten.neg.default", R"("self": )" + x, y);
  }

  bool whole_ = true;  // the last line has its end
  std::filesystem::path folder_;
};

#define EXPECT_SAYS(text, part) EXPECT_NE((text).find(part), std::string::npos) << (text)

TEST_F(RecordingTest, IsReadAndJudgedToItsEnd) {
  write({header, block(0, 0, 16), negated(tensor("[2]", "[1]"), tensor("[2]", "[1]", "2")), end_line}, {1, 2, -1, -2});
  Recording recording(folder());

  const JudgedRecording judged = judge(recording, {}, 2);

  EXPECT_TRUE(judged.ended);
  EXPECT_EQ(judged.seen, 1);
  EXPECT_EQ(judged.all.operations, 1);
  EXPECT_EQ(judged.all.held, 1);
  EXPECT_EQ(judged.all.failed, 0);
  EXPECT_EQ(judged.all.elements, 2);
}

TEST_F(RecordingTest, NamesTheOperationThatFails) {
  write({header, block(0, 0, 16), negated(tensor("[2]", "[1]"), tensor("[2]", "[1]", "2")), end_line}, {1, 2, -1, 2});
  Recording recording(folder());

  const JudgedRecording judged = judge(recording, {}, 1);

  ASSERT_EQ(judged.failures.size(), 1u);
  EXPECT_EQ(judged.failures[0].place.where, "a.py:3");
  EXPECT_EQ(judged.failures[0].judged.results[0].elements_worst.at(0).place, (std::vector<std::int64_t>{1}));
  EXPECT_EQ(judged.failures[0].judged.results[0].elements_worst.at(0).expected, -2);
}

TEST_F(RecordingTest, ThatEndsWithinALineIsReadUpToThere) {
  whole_ = false;
  const std::string last = negated(tensor("[2]", "[1]"), tensor("[2]", "[1]", "2"));
  for (const std::size_t length : {1ul, last.size() / 2, last.size() - 1}) {
    write({header, block(0, 0, 16), last, last.substr(0, length)}, {1, 2, -1, -2});
    Recording recording(folder());
    EXPECT_TRUE(recording.next());
    EXPECT_FALSE(recording.next());
    EXPECT_FALSE(recording.next());
    EXPECT_FALSE(recording.ended());
  }
  whole_ = true;
  EXPECT_SAYS(said_of({last.substr(0, 20), end_line}), "line 2");
}

TEST_F(RecordingTest, IsRefusedWithItsPlaceAndWhatWasExpected) {
  const std::string blocks = block(0, 0, 16), whole = "[2]", ones = "[1]";
  EXPECT_SAYS(said_of({negated(tensor(whole, ones), "")}), "line 2: found block 0, which no line before it has");
  EXPECT_SAYS(said_of({block(0, 8, 16)}), "beyond the end of bits.bin");
  EXPECT_SAYS(said_of({R"({"block": 0, "at": 18446744073709551615, "bytes": 2})"}), "beyond the end of bits.bin");
  EXPECT_SAYS(said_of({blocks, negated(tensor("[5]", ones), "")}), "beyond the end of block 0");
  EXPECT_SAYS(said_of({blocks, negated(tensor(whole, "[4]"), "")}), "beyond the end of block 0");
  EXPECT_SAYS(said_of({blocks, negated(tensor(whole, ones, "-1"), "")}), "beyond the end of block 0");
  EXPECT_SAYS(said_of({blocks, negated(tensor(whole, "[-1]"), "")}), "beyond the end of block 0");
  EXPECT_SAYS(said_of({blocks, negated(tensor(whole, "[1, 1]"), "")}), "1 sizes and 2 strides");
  EXPECT_SAYS(said_of({blocks, negated(tensor("[-1]", ones), "")}), "a size below 0");
  EXPECT_SAYS(said_of({R"({"op": 3})"}), "no line of a recording");
  EXPECT_SAYS(said_of({"[1, 2]"}), "no line of a recording");
  EXPECT_SAYS(said_of({call("aten.neg.default", R"("self": {"what": 1})", "")}), "a value of an unknown kind");
  EXPECT_SAYS(said_of({call("aten.neg.default", R"("self": {"f": "0x1q"})", "")}), "the number \"0x1q\"");
  std::string deep = "1";
  for (int i = 0; i < 100000; ++i) deep = "[" + deep;
  EXPECT_SAYS(said_of({call("aten.neg.default", R"("self": )" + deep, "")}), "24 levels of lists");
}

/// No element of an empty tensor is read, but its sizes are added up.
TEST_F(RecordingTest, WithHostileSizesIsRefused) {
  for (const char* sizes : {"[4611686018427387904, 4]", "[4611686018427387904, 4611686018427387904, 0]",
                            "[2199023255552]", "[9223372036854775807]", "[18446744073709551615]"}) {
    const std::string strides = std::count(sizes, sizes + std::strlen(sizes), ',') == 0   ? "[0]"
                                : std::count(sizes, sizes + std::strlen(sizes), ',') == 1 ? "[0, 0]"
                                                                                          : "[0, 0, 0]";
    EXPECT_SAYS(said_of({block(0, 0, 16), negated(tensor(sizes, strides), "")}), "found a ") << sizes;
  }
  EXPECT_SAYS(said_of({block(0, 0, 16), negated(tensor("[2]", "[9223372036854775807]"), "")}), "beyond the end");
  EXPECT_SAYS(said_of({block(0, 0, 16), negated(tensor("[1]", "[1]", "9223372036854775807"), "")}), "beyond the end");
  std::string many = "[1";
  for (int i = 0; i < 64; ++i) many += ", 1";
  EXPECT_SAYS(said_of({block(0, 0, 16), negated(tensor(many + "]", many + "]"), "")}), "65 sizes");
}

TEST_F(RecordingTest, KeepsWhatItCannotReadAsUnrecorded) {
  write({header, block(0, 0, 16), negated(tensor("[2]", "[1]", "0", "complex64"), tensor("[2]", "[1]")),
         negated(R"({"u": "sparse float32 [2]"})", tensor("[2]", "[1]"))});
  Recording recording(folder());

  const JudgedRecording judged = judge(recording, {}, 1);

  EXPECT_EQ(judged.all.not_judged, 2);
  EXPECT_FALSE(judged.ended);
  EXPECT_EQ(judged.not_judged.count("neg: self is not recorded: the format complex64"), 1u);
}

TEST_F(RecordingTest, WithAViewBackwardsIsReadAsItStands) {
  write({header, block(0, 0, 16), negated(tensor("[2]", "[-1]", "1"), tensor("[2]", "[1]", "2")), end_line},
        {1, 2, -2, -1});
  Recording recording(folder());

  EXPECT_EQ(judge(recording, {}, 1).all.failed, 0);
}

TEST_F(RecordingTest, ThatIsNoneIsRefused) {
  const auto said = [&] {
    try {
      Recording recording(folder());
    } catch (const std::runtime_error& problem) {
      return std::string(problem.what());
    }
    return std::string();
  };
  EXPECT_SAYS(said(), "expected a folder with operations.jsonl and bits.bin");
  write({R"({"tally": "operations", "version": 2})"});
  EXPECT_SAYS(said(), "found version 2, expected version 1");
  write({R"({"tally": "operations", "version": "1"})"});
  EXPECT_SAYS(said(), "line 1");
  write({R"({"tally": "case"})"});
  EXPECT_SAYS(said(), "another kind of file");
  write({"no json"});
  EXPECT_SAYS(said(), "no JSON");
  write({});
  EXPECT_SAYS(said(), "found nothing");
  write({R"({"tally": "operations", "version": 1, "claims": {"sqrt": 1}})"});
  EXPECT_SAYS(said(), "operation/format/claim");
  std::filesystem::remove(folder_ / "bits.bin");
  EXPECT_SAYS(said(), "bits.bin");
}

TEST_F(RecordingTest, SaysThatLinesWereLost) {
  write({header, R"({"end": true, "seen": 3, "recorded": 3})"}, {});
  Recording recording(folder());

  const JudgedRecording judged = judge(recording, {}, 1);

  ASSERT_EQ(judged.unseen.size(), 1u);
  EXPECT_NE(judged.unseen[0].find("ends with 3 operations, and has 0"), std::string::npos);
}

TEST_F(RecordingTest, WithoutBitsHoldsEmptyTensors) {
  write({header, block(0, 0, 0), negated(tensor("[0]", "[1]"), tensor("[0]", "[1]")), end_line}, {});
  Recording recording(folder());

  const JudgedRecording judged = judge(recording, {}, 1);

  EXPECT_EQ(judged.all.nothing, 1);
  EXPECT_EQ(judged.all.elements, 0);
}

TEST(ProfileClaims, AreReadOrRefused) {
  EXPECT_EQ(claims_of_profile(R"({"claims": {"sqrt/float32/ulps": {"value": 1, "evidence": "probe"}}})")
                .at("sqrt/float32/ulps"),
            1);
  for (const char* wrong : {"", "[", R"({"claims": {"sqrt": 1}})", R"({"claims": {"a/b/c": -1}})",
                            R"({"claims": {"a/b/c": "1"}})", R"({"claims": {"a/b/c": {}}})"})
    EXPECT_THROW(claims_of_profile(wrong), std::runtime_error) << wrong;
}

}  // namespace
}  // namespace tally::recording_test
