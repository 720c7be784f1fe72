#include <gtest/gtest.h>
#include <sys/stat.h>

#include <filesystem>
#include <set>
#include <sstream>

#include "case_files.hpp"
#include "oracle/case/file/findings.hpp"
#include "oracle/case/io.hpp"

namespace tally::read_case_test {
namespace {

using tests::case_folder;
using tests::json_files;
using tests::text_of;

std::multiset<std::string> paths_of(const std::vector<CaseError>& errors) {
  std::multiset<std::string> paths;
  for (const CaseError& error : errors) paths.insert(error.path);
  return paths;
}

/// `malformed_paths.txt`: a file's name, then the paths of all its errors.
std::map<std::string, std::multiset<std::string>> expected_paths() {
  std::map<std::string, std::multiset<std::string>> expected;
  std::istringstream lines(text_of(case_folder / "malformed_paths.txt"));
  for (std::string line; std::getline(lines, line);) {
    std::istringstream words(line);
    std::string file;
    words >> file;
    for (std::string path; words >> path;) expected[file].insert(path);
  }
  return expected;
}

TEST(Token, OfAnotherVersionIsATokenThatIsRefused) {
  EXPECT_TRUE(is_token("tly1:abc"));
  EXPECT_TRUE(is_token("tly27:abc"));
  for (const char* file : {"case.json", "tly.json", "tly:abc", "tly1", "tly1.json", "folder/tly1:abc"})
    EXPECT_FALSE(is_token(file)) << file;
  EXPECT_THROW(case_of_token("tly27:abc"), InvalidCase);
}

TEST(ReadCase, ReadsEveryValidFileAndWritesItBack) {
  const auto files = json_files(case_folder / "valid");

  EXPECT_GE(files.size(), 9u);
  for (const auto& file : files) {
    SCOPED_TRACE(file);
    const Case c = read_case_file(file);
    const std::string canonical = write_case(c);
    EXPECT_EQ(read_case(canonical), c);
    EXPECT_EQ(write_case(read_case(canonical)), canonical);
  }
}

TEST(ReadCase, NamesThePathOfEveryErrorOfEveryMalformedFile) {
  const auto expected = expected_paths();
  const auto files = json_files(case_folder / "malformed");

  EXPECT_EQ(files.size(), expected.size());
  for (const auto& file : files) {
    SCOPED_TRACE(file);
    try {
      read_case_file(file);
      ADD_FAILURE() << "it was read";
    } catch (const InvalidCase& invalid) {
      const auto wanted = expected.find(file.stem());
      ASSERT_NE(wanted, expected.end());
      EXPECT_EQ(paths_of(invalid.errors()), wanted->second) << invalid.what();
      for (const CaseError& error : invalid.errors()) EXPECT_FALSE(error.found.empty() || error.expected.empty());
    }
  }
}

TEST(ReadCase, ReportsErrorsOfAllSectionsAtOnce) {
  std::string text = text_of(case_folder / "valid/resumed_sgd.json");
  const auto replace = [&](const std::string& from, const std::string& to) {
    text.replace(text.find(from), from.size(), to);
  };
  replace("\"momentum\": 0.9", "\"momentum\": 1.5");
  replace("\"every\": 3", "\"every\": \"3\"");
  replace("\"tf32\": false", "\"tf33\": false");
  replace("\"kind\": \"cross_entropy\"", "\"kind\": \"cross_entropy\", \"label_smoothing\": 2");
  replace("\"precision\"", "\"normalization\": \"sum\", \"precision\"");

  try {
    read_case(text);
    FAIL() << "it was read";
  } catch (const InvalidCase& invalid) {
    const std::multiset<std::string> wanted{
        "$.model.loss.label_smoothing", "$.precision.tf32", "$.precision.tf33", "$.recipe.learning_rate.every",
        "$.recipe.optimizer.momentum",  "$.normalization"};
    EXPECT_EQ(paths_of(invalid.errors()), wanted) << invalid.what();
  }
}

TEST(ReadCase, SaysWhatItFoundAndWhatItAllows) {
  try {
    read_case_file(case_folder / "malformed/norm_three.json");
    FAIL() << "it was read";
  } catch (const InvalidCase& invalid) {
    EXPECT_STREQ(invalid.what(), "$.recipe.clip.norm: found 3, expected one of 1, 2, \"inf\"");
  }
}

TEST(ReadCase, KeepsEveryDigitOfARecipeNumber) {
  std::string text = text_of(case_folder / "valid/resumed_sgd.json");
  const std::string digits = "0.100000000000000000000000000000000000000000001";
  text.replace(text.find("\"base\": 0.5"), 11, "\"base\": " + digits);

  EXPECT_EQ(read_case(text).recipe.learning_rate.number("base").text, digits);
}

TEST(ReadCase, KeepsTheSignOfZeroHoweverItIsWritten) {
  for (const std::string zero : {"-0", "-0.0", "\"-0x0p+0\"", "-0e5"}) {
    SCOPED_TRACE(zero);
    std::string text = text_of(case_folder / "valid/resumed_sgd.json");
    const auto data = text.find("\"data\": [", text.find("\"x\"")) + 9;
    text.replace(data, text.find(',', data) - data, zero);

    EXPECT_EQ(read_case(text).tensors.at("x").bits(0), 0x80000000u);
  }
}

TEST(ReadCase, FillsInDefaults) {
  const Case c = read_case_file(case_folder / "valid/narrow_everywhere.json");

  EXPECT_EQ(c.model.layers[0].text("approximate"), "none");
  EXPECT_TRUE(c.model.layers[1].flag("bias"));
  EXPECT_EQ(c.model.loss.integer("ignore_index"), -100);
  EXPECT_EQ(c.recipe.optimizer.number("momentum").text, "0");
  EXPECT_EQ(c.execution, Execution{});
}

TEST(ReadCase, ReadsHowASubjectIsToRun) {
  const Case c = read_case_file(case_folder / "valid/execution_chosen.json");

  EXPECT_EQ(c.execution, (Execution{.order = 7, .schedule = 3, .kernels = {{"batch_norm.statistics", "welford"}}}));
  EXPECT_EQ(read_case(write_case(c)), c);
  EXPECT_EQ(case_of_token(token_of(c)), c);
}

TEST(ReadCase, ReadsAScheduleWrittenDownAsAList) {
  const Case c = read_case_file(case_folder / "valid/schedule_listed.json");

  EXPECT_EQ(c.execution.schedule, 0);
  EXPECT_EQ(c.execution.preemptions, (std::vector<Preemption>{{3, 40, 1}, {3, 41, 2}}));
  EXPECT_EQ(read_case(write_case(c)), c);
  EXPECT_EQ(case_of_token(token_of(c)), c);
}

TEST(ReadCase, WritesNothingOfAnExecutionThatChoosesNothing) {
  const Case c = read_case_file(case_folder / "valid/narrow_everywhere.json");

  EXPECT_NE(write_case(c).find("\"execution\": {\n    \"recompute\": false\n  }"), std::string::npos) << write_case(c);
}

TEST(ReadCase, ReportsAMissingFileAndAFolder) {
  for (const auto& path : {case_folder / "valid/absent.json", case_folder}) {
    try {
      read_case_file(path);
      ADD_FAILURE() << "it was read";
    } catch (const InvalidCase& invalid) {
      EXPECT_EQ(invalid.errors().front().path, "$");
    }
  }
}

TEST(ReadCase, SaysOneLineHoweverManyErrorsThereAre) {
  try {
    read_case("{\"a\": 1, \"b\": 2}");
    FAIL() << "it was read";
  } catch (const InvalidCase& invalid) {
    const std::string line = invalid.what();
    EXPECT_EQ(line.find('\n'), std::string::npos) << line;
    EXPECT_TRUE(line.ends_with(" (and " + std::to_string(invalid.errors().size() - 1) + " more)")) << line;
  }
}

TEST(ReadCase, RefusesBytesBehindAZeroAndAPipe) {
  const std::string text = text_of(case_folder / "valid/resumed_sgd.json");
  EXPECT_THROW(read_case(text + std::string("\0garbage", 8)), InvalidCase);
  const auto pipe = std::filesystem::path(testing::TempDir()) / "case-pipe.json";
  std::filesystem::remove(pipe);
  ASSERT_EQ(mkfifo(pipe.c_str(), 0600), 0);
  EXPECT_THROW(read_case_file(pipe), InvalidCase);  // and does not wait for a writer
  std::filesystem::remove(pipe);
}

TEST(ReadCase, BoundsLayersMicroBatchesValuesAndDigits) {
  const std::string text = text_of(case_folder / "valid/resumed_sgd.json");
  const auto with = [&](const std::string& key, const std::string& before) {
    std::string changed = text;
    return changed.insert(changed.find('[', changed.find(key)) + 1, before);
  };
  const auto many = [](const std::string& item, std::size_t count) {
    std::string list;
    for (std::size_t i = 0; i < count; ++i) list += item;
    return list;
  };
  const std::pair<std::string, std::string> wrong[] = {
      {"$.model.layers", with("\"layers\"", many("{\"kind\": \"relu\"}, ", most_layers))},
      {"$.windows", with("\"windows\"", many("[1], ", most_micro_batches))},
      {"$", with("\"windows\"", many("1,", most_values))},
      {"$.windows[0]", with("\"windows\"", std::string(longest_number + 1, '1') + ",")}};
  for (const auto& [path, changed] : wrong) {
    try {
      read_case(changed);
      ADD_FAILURE() << "it was read: " << path;
    } catch (const InvalidCase& invalid) {
      EXPECT_EQ(invalid.errors().front().path, path);
    }
  }
}

TEST(ReadCase, RefusesDeepNestingWithoutRecursion) {
  EXPECT_THROW(read_case(std::string(1'000'000, '[')), InvalidCase);
  EXPECT_THROW(read_case("{\"model\": " + std::string(100'000, '[') + std::string(100'000, ']') + "}"), InvalidCase);
}

TEST(ReadCase, BoundsTheNumberOfErrors) {
  std::string text = "{";
  for (int i = 0; i < 100'000; ++i) text += (i == 0 ? "\"k" : ",\"k") + std::to_string(i) + "\": 1e999";
  try {
    read_case(text + "}");
    FAIL() << "it was read";
  } catch (const InvalidCase& invalid) {
    EXPECT_EQ(invalid.errors().size(), 1000u);
  }
}

}  // namespace
}  // namespace tally::read_case_test
