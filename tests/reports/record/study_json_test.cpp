#include <gtest/gtest.h>

#include <stdexcept>

#include "tests/reports/samples/samples.hpp"

namespace tally::study_json_test {
namespace {

std::string complaint(const Study& study) {
  try {
    study_of_json(to_json(study));
    return "";
  } catch (const std::runtime_error& error) {
    return error.what();
  }
}

TEST(StudyJson, ComesBackAsItWasWritten) {
  const std::string json = to_json(samples::study());

  EXPECT_EQ(to_json(study_of_json(json)), json);
  EXPECT_EQ(to_json(study_of_json(to_json(Study{}))), to_json(Study{}));
}

TEST(StudyJson, RefusesAColumnThatIsShorterThanItsTable) {
  Study study = samples::study();
  study.tables[0].columns[1].numbers.pop_back();

  EXPECT_EQ(complaint(study), "study: $.tables[0].columns[1]: found 1 row, expected 2 rows as in columns[0]");
}

TEST(StudyJson, RefusesAColumnOfWordsAndNumbers) {
  Study study = samples::study();
  study.tables[0].columns[1].words = {"a", "b"};

  EXPECT_EQ(complaint(study), "study: $.tables[0].columns[1]: found words and numbers, expected one of them empty");
}

TEST(StudyJson, RefusesPointsThatAreNoPairs) {
  Study study = samples::study();
  study.plots[1].series[0].y.push_back(1);

  EXPECT_EQ(complaint(study), "study: $.plots[1].series[0].y: found 5, expected 4 numbers, as many as x");
}

TEST(StudyJson, RefusesIntervalsWithOneEndOrForSomePoints) {
  Study one_end = samples::study(), some_points = samples::study();
  one_end.plots[0].series[2].high.clear();
  for (auto* ends : {&some_points.plots[0].series[2].low, &some_points.plots[0].series[2].high}) ends->pop_back();

  EXPECT_EQ(complaint(one_end), "study: $.plots[0].series[2].low: found 11, expected 0 as in high");
  EXPECT_EQ(complaint(some_points),
            "study: $.plots[0].series[2].low: found 10, expected none or 11 numbers, as many as x");
}

TEST(StudyJson, RefusesAnotherSchemaAndAnUnknownKey) {
  EXPECT_THROW(study_of_json("{\"schema\": 2}"), std::runtime_error);
  std::string json = to_json(Study{});
  json.insert(1, "\"colour\": 1,");
  EXPECT_THROW(study_of_json(json), std::runtime_error);
}

}  // namespace
}  // namespace tally::study_json_test
