#include <gtest/gtest.h>

#include <bit>
#include <cmath>
#include <limits>
#include <nlohmann/json.hpp>
#include <stdexcept>

#include "tests/reports/samples/samples.hpp"

namespace tally::json_test {
namespace {

/// What the reader says about a damaged file; empty if it accepts it.
std::string complaint(const std::string& json) {
  try {
    results_of_json(json);
    return "";
  } catch (const std::runtime_error& error) {
    return error.what();
  }
}

std::string replaced(std::string text, const std::string& from, const std::string& to) {
  const auto at = text.find(from);
  EXPECT_NE(at, std::string::npos) << from;
  return text.replace(at, from.size(), to);
}

TEST(Json, ComesBackAsItWasWritten) {
  for (const auto& [name, results] : samples::all()) {
    if (name == "hostile") continue;  // bytes that are no UTF-8 are replaced
    const std::string json = to_json(results);
    EXPECT_EQ(to_json(results_of_json(json)), json) << name;
  }
}

TEST(Json, WhatIsNoTextIsReplacedOnceAndStaysSo) {
  const std::string json = to_json(samples::hostile());
  EXPECT_NE(json.find("\uFFFD"), std::string::npos);
  EXPECT_EQ(to_json(results_of_json(json)), json);
}

TEST(Json, NumbersKeepTheirBits) {
  using Limits = std::numeric_limits<double>;
  for (const double value :
       {0.0, -0.0, 0.1, 5.0, 1e17, 123456789012345678.0, 1e300, Limits::denorm_min(), Limits::min(), Limits::max(),
        Limits::infinity(), -Limits::infinity(), std::nextafter(1.0, 2.0)}) {
    Results results;
    results.effort = value;
    const double back = results_of_json(to_json(results)).effort;
    EXPECT_EQ(std::bit_cast<std::uint64_t>(back), std::bit_cast<std::uint64_t>(value)) << value;
  }
  Results results;
  results.effort = std::nan("7");
  EXPECT_TRUE(std::isnan(results_of_json(to_json(results)).effort));
  results.seed = std::numeric_limits<std::uint64_t>::max();
  EXPECT_EQ(results_of_json(to_json(results)).seed, results.seed);
}

TEST(Json, EveryShorterFileIsRefused) {
  Results results;
  results.cases.resize(1);
  const std::string json = to_json(results);
  for (std::size_t length = 0; length + 1 < json.size(); ++length)  // without the last newline it is whole
    EXPECT_TRUE(complaint(json.substr(0, length)).starts_with("results.json: not JSON: ")) << length;
}

TEST(Json, ADamagedValueIsNamedWithItsPlace) {
  const std::string json = to_json(samples::passing());
  EXPECT_EQ(complaint(replaced(json, "\"seed\": 1,", "\"seed\": -1,")),
            "results.json: $.cases[1].seed: found -1, expected a whole number from 0 to 18446744073709551615");
  EXPECT_EQ(complaint(replaced(json, "\"status\": \"pass\"", "\"status\": \"green\"")),
            "results.json: $.cases[0].status: found \"green\", expected pass | fail | vacuous | not_run | error");
  EXPECT_EQ(complaint(replaced(json, "\"effort\": 1", "\"effort\": \"1\"")),
            "results.json: $.effort: found \"1\", expected a number, \"inf\", \"-inf\" or \"nan\"");
  EXPECT_EQ(
      complaint(replaced(json, "\"micro_batches\": 1,", "\"micro_batches\": 1.5,")),
      "results.json: $.cases[0].micro_batches: found 1.5, expected a whole number from -2147483648 to 2147483647");
  EXPECT_EQ(complaint(replaced(json, "\"laws\": [", "\"laws\": 3, \"more\": [")),
            "results.json: $.laws: found 3, expected a list");
}

TEST(Json, MissingUnknownAndDoubledKeysAreRefused) {
  const std::string json = to_json(Results{});
  EXPECT_EQ(complaint(replaced(json, " \"partial\": false,\n", "")),
            "results.json: $: found an object of 19 keys, expected the key \"partial\" in it");
  EXPECT_EQ(complaint(replaced(json, "\"partial\": false", "\"partial\": false, \"partail\": true")),
            "results.json: $.\"partail\": found true, expected no such key");
  EXPECT_EQ(complaint(replaced(json, "\"partial\": false", "\"partial\": true, \"partial\": false")),
            "results.json: key \"partial\" stands twice in one object; expected it once");
}

TEST(Json, OlderFilesWithoutTermsOfTheBoundAreRead) {
  Results results;
  results.cases.resize(1);
  results.cases[0].worst.resize(1);
  results.cases[0].worst[0].terms.storage = 0.5;
  const std::string json = to_json(results);
  EXPECT_EQ(results_of_json(json).cases[0].worst[0].terms.storage, 0.5);
  auto older = nlohmann::json::parse(json);
  ASSERT_EQ(older["cases"][0]["worst"][0].erase("terms"), 1u);
  EXPECT_EQ(results_of_json(older.dump()).cases[0].worst[0].terms.storage, 0);
  auto damaged = nlohmann::json::parse(json);
  damaged["cases"][0]["worst"][0]["terms"].erase("storage");
  EXPECT_NE(complaint(damaged.dump()), "");
}

TEST(Json, AnotherSchemaIsRefusedBeforeAnythingElse) {
  EXPECT_EQ(complaint("{\"schema\": 2, \"new\": []}"),
            "results.json: $.schema: found 2, expected 1, the schema that this Tally reads");
  EXPECT_EQ(complaint("[]"), "results.json: $: found a list of 0, expected an object");
  EXPECT_EQ(complaint("{}"), "results.json: $: found an object of 0 keys, expected the key \"schema\" in it");
}

TEST(Json, DeepNestingIsRefusedWithoutACrash) {
  const std::string deep(200000, '[');
  EXPECT_NE(complaint(deep), "");
  EXPECT_NE(complaint("{\"schema\": 1, \"laws\": " + deep + std::string(200000, ']') + "}"), "");
}

}  // namespace
}  // namespace tally::json_test
