#include <gtest/gtest.h>

#include <cmath>
#include <nlohmann/json.hpp>
#include <stdexcept>

#include "reports/record/vary.hpp"
#include "tests/reports/samples/varied.hpp"

namespace tally::vary_runs_test {
namespace {

using nlohmann::json;

json document() {
  return json::parse(R"json({
    "tally_vary": 1, "loop": {"name": "step", "file": "train.py", "line": 12, "kind": "function", "torch": "2.0"}, "nproc": [2, 4],
    "rows": 8, "windows": 2, "seed": 7, "precisions": ["float64", "float32"], "anybody's": {},
    "runs": [
      {"sizes": null, "precision": "float64", "moved": 1, "moved_by": "float64", "again": false, "frozen": ["batch_norm"],
       "tensors": [{"name": "w", "scale": 0.5, "max": null, "rms": 0.25, "stepped": true}], "steps": [1, 1], "micro_batches": [3, 3],
       "rows_hash": "abc", "ranks_apart": "rank 1 stands", "items": [[10, 7, 3], [9, 4, 7]], "error": null, "trained": false,
       "options": [[[{"name": "lr", "value": 0.1}, {"name": "eps", "value": null}]], []], "uncleared": [1],
       "left_over": [{"window": 1, "rows": 4, "lost": true}]},
      {"sizes": [3, 5], "precision": "float32", "error": {"type": "ValueError", "text": "no", "file": null, "line": null}}],
    "weights": [{"sizes": [3, 5], "window": 1, "found": [0.5, 0.25], "meant": [0.125, 0.125], "rest": 0, "meant_rest": 0,
                 "terms": [{"name": "the parameters", "weight": 0.5}], "terms_rest": 0.125,
                 "place": {"file": "train.py", "line": 31, "text": "loss.backward()"}},
                {"sizes": [4, 4], "ranks": 2, "found": [], "meant": [], "rest": null, "place": null},
                {"sizes": [4, 4], "dealt": [4], "found": [0.125], "meant": [0.25], "rest": 0, "meant_rest": 0}],
    "notes": ["a note"], "layers": ["BatchNorm1d bn1"]})json");
}

std::string refusal(const json& changed) {
  try {
    vary_runs_of(changed.dump(), "vary.json");
  } catch (const std::runtime_error& problem) {
    return problem.what();
  }
  return "accepted";
}

TEST(VaryRuns, AreReadAsTheRecorderWritesThem) {
  const VaryRuns runs = vary_runs_of(document().dump(), "vary.json");

  EXPECT_EQ(runs.loop.text, "step");
  EXPECT_EQ(runs.nproc, (std::vector<int>{2, 4}));
  EXPECT_EQ(runs.seed, 7u);
  ASSERT_EQ(runs.runs.size(), 2u);
  EXPECT_EQ(runs.runs[0].how,
            HowRun({.precision = "float64", .moved = 1, .moved_by = "float64", .frozen = {"batch_norm"}}));
  EXPECT_TRUE(std::isnan(runs.runs[0].tensors[0].distance())) << "null is not finite";
  EXPECT_TRUE(runs.runs[0].tensors[0].stepped);
  EXPECT_EQ(runs.runs[0].ranks_apart, "rank 1 stands");
  EXPECT_FALSE(runs.runs[0].trained);
  EXPECT_EQ(runs.runs[0].items[1], (std::vector<double>{9, 4, 7}));
  ASSERT_TRUE(runs.runs[1].error);
  EXPECT_EQ(runs.runs[1].how.sizes, (Partition{3, 5}));
  EXPECT_EQ(runs.weights[1].how.sizes.ranks, 2);
  ASSERT_EQ(runs.runs[0].options.size(), 2u);
  EXPECT_EQ(runs.runs[0].options[0][0][0].name, "lr");
  EXPECT_EQ(runs.runs[0].options[0][0][0].value, 0.1);
  EXPECT_TRUE(std::isnan(runs.runs[0].options[0][0][1].value));
  EXPECT_EQ(runs.runs[0].uncleared, std::vector<int>{1});
  EXPECT_EQ(runs.runs[0].left_over[0].rows, 4);
  EXPECT_TRUE(runs.runs[0].left_over[0].lost);
  ASSERT_EQ(runs.weights.size(), 3u);
  EXPECT_EQ(runs.weights[2].rows(), std::vector<std::int64_t>{4});
  EXPECT_EQ(runs.weights[0].rows(), (std::vector<std::int64_t>{3, 5}));
  EXPECT_TRUE(runs.weights[0].names_window);
  EXPECT_EQ(runs.weights[0].terms[0].name, "the parameters");
  EXPECT_EQ(runs.weights[0].place.line, 31);
  EXPECT_FALSE(runs.weights[1].names_window);
  EXPECT_TRUE(runs.weights[1].found.empty());
}

TEST(VaryRuns, AreRefusedWithTheirPlace) {
  for (const char* key : {"tally_vary", "loop", "rows", "windows", "seed", "precisions"}) {
    json changed = document();
    changed.erase(key);
    EXPECT_TRUE(refusal(changed).starts_with("vary.json: $: found an object of ")) << key;
    EXPECT_TRUE(refusal(changed).ends_with(std::string("expected the key \"") + key + "\" in it")) << key;
  }
  const std::pair<const char*, const char*> wrong[] = {
      {R"([{"op": "replace", "path": "/runs/0/moved", "value": 0.5}])",
       "$.runs[0].moved: found 0.5, expected a whole number"},
      {R"([{"op": "replace", "path": "/runs/0/sizes", "value": "4, 4"}])",
       "$.runs[0].sizes: found \"4, 4\", expected a list"},
      {R"([{"op": "replace", "path": "/runs/1/sizes", "value": [9, -1]}])",
       "$.runs[1].sizes: found a list of 2, expected micro-batches"},
      {R"([{"op": "remove", "path": "/runs/0/tensors/0/scale"}])",
       "$.runs[0].tensors[0]: found an object of 4 keys, expected the key \"scale\""},
      {R"([{"op": "replace", "path": "/runs/0/tensors/0/max", "value": -1}])",
       "$.runs[0].tensors[0].max: found -1, expected a number of at least 0"},
      {R"([{"op": "replace", "path": "/runs/0/tensors/0/scale", "value": "nan"}])",
       "$.runs[0].tensors[0].scale: found \"nan\", expected a number, or null"},
      {R"([{"op": "replace", "path": "/runs/0/again", "value": 1}])",
       "$.runs[0].again: found 1, expected true or false"},
      {R"([{"op": "replace", "path": "/weights/0/meant", "value": [1]}])",
       "$.weights[0].meant: found a list of 1, expected a weight for each of 2"},
      {R"([{"op": "replace", "path": "/weights/2/dealt", "value": [4, 0]}])",
       "$.weights[2].dealt: found a list of 2, expected micro-batches of at least one row"},
      {R"([{"op": "replace", "path": "/runs/0/options/0/0/0/value", "value": "x"}])",
       "$.runs[0].options[0][0][0].value: found \"x\", expected a number, or null"},
      {R"([{"op": "replace", "path": "/weights/0/rest", "value": -0.5}])",
       "$.weights[0].rest: found -0.5, expected a number of at least 0"},
      {R"([{"op": "replace", "path": "/rows", "value": 1000000000000}])",
       "$.rows: found 1000000000000, expected a whole number from 2 to"},
      {R"([{"op": "replace", "path": "/precisions", "value": ["float64", "float64"]}])",
       "$.precisions: found a list of 2"},
      {R"([{"op": "replace", "path": "/precisions", "value": ["float8"]}])", "$.precisions: found a list of 1"},
      {R"([{"op": "replace", "path": "/nproc/0", "value": 0}])",
       "$.nproc: found a list of 2, expected numbers of ranks"},
      {R"([{"op": "replace", "path": "/weights/1/ranks", "value": 3}])", "$.weights[1].ranks: found 3, expected"},
      {R"([{"op": "replace", "path": "/notes", "value": [1]}])", "$.notes[0]: found 1, expected text"}};
  for (const auto& [patch, said] : wrong) {
    const std::string found = refusal(document().patch(json::parse(patch)));
    EXPECT_TRUE(found.starts_with(std::string("vary.json: ") + said)) << found;
  }
  EXPECT_EQ(refusal(json::array()).substr(0, 30), "vary.json: $: found a list of ");
}

TEST(VaryReport, AsksInTheWordsOfTheRuns) {
  VaryReport report;
  report.verdict = "asks", report.precisions = {"float64", "float32"};
  report.asks.runs = {{.precision = "float64"},
                      {.sizes = {4, 4}, .precision = "float32", .moved = 1, .moved_by = "float64"}};
  report.asks.weights = {{{3, 3, 2}, {"batch_norm"}, 1}};
  const json written = json::parse(to_json(report));

  EXPECT_EQ(written["asks"], json::parse(R"([
    {"run": {"sizes": null, "precision": "float64", "moved": 0, "again": false, "frozen": []}},
    {"run": {"sizes": [4, 4], "precision": "float32", "moved": 1, "moved_by": "float64", "again": false, "frozen": []}},
    {"weights": {"sizes": [3, 3, 2], "frozen": ["batch_norm"], "window": 1}}])"));
}

TEST(VaryReport, SaysTheSentenceAndItsParts) {
  const json written = json::parse(to_json(samples::wrong_loop()));

  EXPECT_EQ(written["sentence"],
            "each micro-batch's loss is divided by its own 2 rows and by K = 2; divide by the window's 8: `loss.sum() "
            "/ 8`, or "
            "weigh each mean by its own rows / 8 (train.py:31 `loss.backward()`). Micro-batches of 6, 2 rows end 0.125 "
            "from the "
            "whole batch in float64 and 0.125 in float32");
  EXPECT_EQ(written["gaps"][3]["in_float64"], nullptr) << "not finite";
  EXPECT_EQ(written["drift"], 0x1p-23);
  EXPECT_EQ(written["by_tensor"][0]["in_float64"], nullptr) << "what is not finite is the largest";
}

}  // namespace
}  // namespace tally::vary_runs_test
