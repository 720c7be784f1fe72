// Files that were cut off, edited by hand, come from a later version or are hostile: each gets one clear sentence.
#include <gtest/gtest.h>
#include <sys/stat.h>

#include <filesystem>
#include <functional>
#include <stdexcept>

#include "reports/gate/baseline.hpp"
#include "reports/gate/waivers.hpp"
#include "reports/history/history.hpp"
#include "tests/reports/samples/samples.hpp"

namespace tally::damaged_test {
namespace {

struct Reader {
  std::string name, whole;
  std::function<void(const std::string&)> read;
};

/// Of a few cases, so that every place of the text can be tried.
std::vector<Reader> readers() {
  Results few = samples::failing();
  few.cases.erase(few.cases.begin() + 2, few.cases.end());
  few.cases[0].status = Status::pass;
  few.laws.resize(1), few.training.resize(1), few.studies.clear();
  few.training[0].semantic_gap.resize(2), few.training[0].rounding_drift.resize(2);
  few.training[0].bound.resize(2), few.training[0].accumulated_minus_full.resize(2);
  return {{"results.json", to_json(few), [](const std::string& text) { results_of_json(text); }},
          {"baseline", to_json(baseline_of(few)), [](const std::string& text) { baseline_of_json(text); }},
          {"history", to_json_line(history_entry_of(few)), [](const std::string& text) { history_of_lines(text); }}};
}

/// What the reader says of a text; empty where it takes it.
std::string complaint(const Reader& reader, const std::string& text) {
  try {
    reader.read(text);
  } catch (const std::runtime_error& error) {
    const std::string message = error.what();
    EXPECT_TRUE(message.starts_with(reader.name)) << message;
    EXPECT_EQ(message.find('\n'), std::string::npos) << message;
    return message;
  }
  return "";
}

TEST(Damaged, AFileThatWasCutOffIsRefusedWhereverItEnds) {
  for (const Reader& reader : readers()) {
    ASSERT_EQ(complaint(reader, reader.whole), "");
    for (std::size_t size = 1; size + 1 < reader.whole.size(); ++size)
      ASSERT_NE(complaint(reader, reader.whole.substr(0, size)), "") << reader.name << " of " << size;
  }
}

TEST(Damaged, AByteThatWasChangedCrashesNothing) {
  for (const Reader& reader : readers()) {
    std::size_t refused = 0;
    for (std::size_t at = 0; at < reader.whole.size(); at += 5)
      for (const char byte : {'"', '\0', '9', '\xff'}) {
        std::string text = reader.whole;
        text[at] = byte;
        if (!complaint(reader, text).empty()) ++refused;
      }
    EXPECT_GT(refused, 0u) << reader.name;
  }
}

TEST(Damaged, BytesBehindAZeroAndValuesThatFillTheMemoryAreRefused) {
  for (const Reader& reader : readers()) {
    EXPECT_NE(complaint(reader, reader.whole + std::string("\0garbage", 8)), "") << reader.name;
    std::string many = "{\"schema\": [";
    for (int i = 0; i < 8'000'000; ++i) many += "1,";
    EXPECT_NE(complaint(reader, many + "1]}\n").find("found more than 8000000 values"), std::string::npos);
  }
}

TEST(Damaged, WhatIsNoFileIsNotWaitedFor) {
  const std::string pipe = testing::TempDir() + "stored-pipe";
  std::filesystem::remove(pipe);
  ASSERT_EQ(mkfifo(pipe.c_str(), 0600), 0);
  for (const std::string& place : {pipe, testing::TempDir(), std::string("/dev/zero"), std::string("/no/such/file")}) {
    EXPECT_THROW(read_baseline(place), std::runtime_error) << place;
    EXPECT_THROW(read_history(place), std::runtime_error) << place;
    EXPECT_THROW(read_waivers(place), std::runtime_error) << place;
  }
  std::filesystem::remove(pipe);
}

TEST(Damaged, ALaterVersionIsNamed) {
  for (const Reader& reader : readers()) {
    std::string text = reader.whole;
    const auto at = text.find("\"schema\": ") + 10;
    text.replace(at, 1, "77");
    EXPECT_NE(complaint(reader, text).find("$.schema: found 77, expected "), std::string::npos);
  }
}

TEST(Damaged, AnUnknownKeyIsRefusedWithItsPlace) {
  for (const Reader& reader : readers()) {
    std::string text = reader.whole;
    text.replace(text.find("\"schema\""), 8, "\"later\": [1, {\"a\": null}], \"schema\"");
    EXPECT_NE(complaint(reader, text).find("no such key"), std::string::npos);
  }
}

TEST(Damaged, DeepNestingAndHugeNumbersAreRefused) {
  for (const Reader& reader : readers()) {
    EXPECT_NE(complaint(reader, std::string(1'000'000, '[') + "\n"), "");
    EXPECT_NE(complaint(reader, std::string(100'000, '[') + std::string(100'000, ']') + "\n"), "");
    EXPECT_NE(complaint(reader, "{\"schema\": 1e999999}\n"), "");
    EXPECT_NE(complaint(reader, "{\"schema\": 18446744073709551616}\n"), "");
    EXPECT_NE(complaint(reader, "\xef\xbb\xbf\n"), "");
  }
}

}  // namespace
}  // namespace tally::damaged_test
