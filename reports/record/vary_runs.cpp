#include <algorithm>
#include <array>
#include <numeric>
#include <stdexcept>

#include "reports/record/json.hpp"
#include "reports/record/vary.hpp"

namespace tally {

/// A number, or null for what is not finite.
struct VaryFigure {
  double value = std::numeric_limits<double>::quiet_NaN();
};

/// A value that may be null, and then stays as it is.
template <class T>
struct OrNull {
  T& value;
};

void read_json(const nlohmann::json& value, const JsonPath& place, VaryFigure& out) {
  if (value.is_null()) return;
  if (!value.is_number()) refuse(place, value, "a number, or null where it is not finite");
  out.value = value.get<double>();
}

template <class T>
void read_json(const nlohmann::json& value, const JsonPath& place, OrNull<T>& out) {
  if (!value.is_null()) read_json(value, place, out.value);
}

namespace {

constexpr std::int64_t most_rows = 100'000;
constexpr int most_windows = 10'000;

template <class T>
void may_lack(JsonReader& reader, const char* key, T& out) {
  OrNull<T> slot{out};
  reader.later(key, slot);
}

double figure(JsonReader& reader, const char* key) {
  VaryFigure out;
  reader(key, out);
  return out.value;
}

/// Null is NaN, so that comparisons fail; below 0 is no size.
double size(JsonReader& reader, const nlohmann::json& value, const JsonPath& place, const char* key) {
  const double read = figure(reader, key);
  if (read < 0) refuse(JsonPath(place, key), value.at(key), "a number of at least 0, or null where it is not finite");
  return read;
}

std::vector<double> figures(JsonReader& reader, const char* key) {
  std::vector<VaryFigure> read;
  reader(key, read);
  std::vector<double> out;
  for (const VaryFigure each : read) out.push_back(each.value);
  return out;
}

void demand(bool holds, const nlohmann::json& value, const JsonPath& place, const char* key,
            const std::string& expected) {
  if (!holds) refuse(JsonPath(place, key), value.at(key), expected);
}

void read_ranks(JsonReader& reader, const nlohmann::json& value, const JsonPath& place, Partition& out) {
  may_lack(reader, "ranks", out.ranks);
  const auto count = static_cast<int>(out.size());
  demand(out.ranks == 1 || (out.ranks > 1 && out.ranks <= count && count % out.ranks == 0), value, place, "ranks",
         "a number of ranks that have as many micro-batches each");
}

}  // namespace

void read_json(const nlohmann::json& value, const JsonPath& place, VaryTensor& out) {
  JsonReader reader(value, place);
  reader("name", out.name);
  out.scale = size(reader, value, place, "scale");
  out.max = size(reader, value, place, "max");
  may_lack(reader, "stepped", out.stepped);
}

void read_json(const nlohmann::json& value, const JsonPath& place, VaryError& out) {
  JsonReader reader(value, place);
  reader("type", out.type), reader("text", out.text);
  may_lack(reader, "file", out.file), may_lack(reader, "line", out.line);
}

void read_json(const nlohmann::json& value, const JsonPath& place, VaryPlace& out) {
  JsonReader reader(value, place);
  may_lack(reader, "file", out.file), may_lack(reader, "line", out.line), may_lack(reader, "text", out.text);
}

void read_json(const nlohmann::json& value, const JsonPath& place, VaryTerm& out) {
  JsonReader reader(value, place);
  reader("name", out.name);
  out.weight = figure(reader, "weight");
}

void read_json(const nlohmann::json& value, const JsonPath& place, VaryOption& out) {
  JsonReader reader(value, place);
  reader("name", out.name);
  out.value = figure(reader, "value");
}

void read_json(const nlohmann::json& value, const JsonPath& place, VaryLeftOver& out) {
  JsonReader reader(value, place);
  reader("window", out.window), reader("rows", out.rows), reader("lost", out.lost);
}

void read_json(const nlohmann::json& value, const JsonPath& place, VaryEarly& out) {
  JsonReader reader(value, place);
  reader("window", out.window), reader("behind", out.behind), reader("of", out.of);
}

void read_json(const nlohmann::json& value, const JsonPath& place, VaryRepeated& out) {
  JsonReader reader(value, place);
  reader("window", out.window), reader("times", out.times), reader("rows", out.rows);
}

void read_json(const nlohmann::json& value, const JsonPath& place, VaryRun& out) {
  JsonReader reader(value, place);
  OrNull<std::vector<std::int64_t>> sizes{out.how.sizes};
  reader("sizes", sizes), reader("precision", out.how.precision);
  demand(value.at("sizes").is_null() || !out.how.sizes.empty(), value, place, "sizes",
         "the rows of each micro-batch, or null for the whole window");
  read_ranks(reader, value, place, out.how.sizes);
  may_lack(reader, "moved", out.how.moved), may_lack(reader, "moved_by", out.how.moved_by);
  may_lack(reader, "again", out.how.again), may_lack(reader, "frozen", out.how.frozen);
  if (value.contains("error") && !value.at("error").is_null()) reader("error", out.error.emplace());
  if (out.error) {
    may_lack(reader, "tensors", out.tensors);
  } else {
    reader("tensors", out.tensors);
    demand(!out.tensors.empty(), value, place, "tensors", "at least one tensor that the run left, or an error");
  }
  may_lack(reader, "steps", out.steps), may_lack(reader, "micro_batches", out.micro_batches);
  may_lack(reader, "rows_hash", out.rows_hash), may_lack(reader, "items", out.items);
  may_lack(reader, "places", out.places);
  may_lack(reader, "options", out.options), may_lack(reader, "uncleared", out.uncleared);
  may_lack(reader, "ranks_apart", out.ranks_apart);
  if (value.contains("stepped_early") && !value.at("stepped_early").is_null())
    reader("stepped_early", out.stepped_early.emplace());
  if (value.contains("repeated") && !value.at("repeated").is_null()) reader("repeated", out.repeated.emplace());
  may_lack(reader, "left_over", out.left_over), may_lack(reader, "trained", out.trained);
}

void read_json(const nlohmann::json& value, const JsonPath& place, VaryPart& out) {
  JsonReader reader(value, place);
  reader("name", out.name);
  may_lack(reader, "place", out.place), may_lack(reader, "no_row", out.no_row);
  out.found = figures(reader, "found"), out.meant = figures(reader, "meant");
  out.rest = size(reader, value, place, "rest"), out.meant_rest = size(reader, value, place, "meant_rest");
}

void read_json(const nlohmann::json& value, const JsonPath& place, VaryWeights& out) {
  JsonReader reader(value, place);
  reader("sizes", static_cast<std::vector<std::int64_t>&>(out.how.sizes));
  read_ranks(reader, value, place, out.how.sizes);
  may_lack(reader, "frozen", out.how.frozen), may_lack(reader, "window", out.how.window);
  out.names_window = value.contains("window");
  may_lack(reader, "dealt", out.dealt);
  demand(std::ranges::all_of(out.dealt, [](std::int64_t n) { return n >= 1 && n <= most_rows; }), value, place, "dealt",
         "micro-batches of at least one row");
  out.found = figures(reader, "found");
  if (!out.found.empty()) {
    out.meant = figures(reader, "meant");
    for (const auto& [key, list] : {std::pair{"found", &out.found}, std::pair{"meant", &out.meant}})
      demand(list->size() == out.rows().size(), value, place, key,
             "a weight for each of " + std::to_string(out.rows().size()) + " micro-batches");
    out.rest = size(reader, value, place, "rest"), out.meant_rest = size(reader, value, place, "meant_rest");
  }
  may_lack(reader, "parts", out.parts);
  for (const VaryPart& part : out.parts)
    demand(part.found.size() == out.rows().size() && part.meant.size() == out.rows().size(), value, place, "parts",
           "a weight for each of " + std::to_string(out.rows().size()) + " micro-batches in each of them");
  may_lack(reader, "terms", out.terms);
  if (!out.terms.empty()) out.terms_rest = size(reader, value, place, "terms_rest");
  may_lack(reader, "place", out.place);
}

namespace {

void require_sizes(const std::vector<std::int64_t>& sizes, std::int64_t rows, const JsonPath& list, std::size_t i,
                   const nlohmann::json& values) {
  const bool all_there = std::ranges::all_of(sizes, [](std::int64_t n) { return n >= 1 && n <= most_rows; });
  if (all_there && std::accumulate(sizes.begin(), sizes.end(), std::int64_t{0}) == rows) return;
  const JsonPath entry(list, i);
  refuse(JsonPath(entry, "sizes"), values[i].at("sizes"),
         "micro-batches of at least one row that add up to " + std::to_string(rows));
}

void read_loop(const nlohmann::json& value, const JsonPath& place, VaryRuns& out) {
  JsonReader reader(value, place);
  reader("name", out.loop.text);
  may_lack(reader, "file", out.loop.file), may_lack(reader, "line", out.loop.line);
  may_lack(reader, "kind", out.kind), may_lack(reader, "torch", out.torch);
}

bool are_precisions(const std::vector<std::string>& words) {
  constexpr std::array known{"float64", "float32", "float16", "bfloat16"};  // each lower than those before it
  if (words.empty() || words.size() > 2) return false;
  const auto high = std::ranges::find(known, words.front());
  return high != known.end() && (words.size() == 1 || std::find(high + 1, known.end(), words.back()) != known.end());
}

VaryRuns read(const nlohmann::json& value) {
  const JsonPath place("$");
  JsonReader reader(value, place);
  VaryRuns out;
  int version = 0;
  reader("tally_vary", version);
  demand(version == 1, value, place, "tally_vary", "1, the form that this Tally reads");
  if (!value.contains("loop")) refuse(place, value, "the key \"loop\" in it");
  read_loop(value.at("loop"), JsonPath(place, "loop"), out);
  reader("rows", out.rows), reader("windows", out.windows), reader("seed", out.seed);
  demand(out.rows >= 2 && out.rows <= most_rows, value, place, "rows",
         "a whole number from 2 to " + std::to_string(most_rows) + ": rows that can be dealt in more than one way");
  demand(out.windows >= 1 && out.windows <= most_windows, value, place, "windows",
         "a whole number from 1 to " + std::to_string(most_windows));
  reader("precisions", out.precisions);
  demand(are_precisions(out.precisions), value, place, "precisions",
         "one of float64, float32, float16 and bfloat16, or a high one of them and a lower one");
  may_lack(reader, "equal_only", out.equal_only), may_lack(reader, "sizes_told", out.sizes_told);
  may_lack(reader, "nproc", out.nproc);
  demand(std::ranges::all_of(out.nproc, [](int ranks) { return ranks >= 1 && ranks <= most_rows; }), value, place,
         "nproc", "numbers of ranks of at least 1");
  may_lack(reader, "runs", out.runs), may_lack(reader, "weights", out.weights);
  may_lack(reader, "notes", out.notes), may_lack(reader, "layers", out.layers);
  const JsonPath runs(place, "runs"), weights(place, "weights");
  for (std::size_t i = 0; i < out.runs.size(); ++i)
    if (!out.runs[i].how.sizes.empty()) require_sizes(out.runs[i].how.sizes, out.rows, runs, i, value.at("runs"));
  for (std::size_t i = 0; i < out.weights.size(); ++i)
    require_sizes(out.weights[i].how.sizes, out.rows, weights, i, value.at("weights"));
  return out;
}

}  // namespace

VaryRuns vary_runs_of(std::string_view text, const std::string& name) {
  try {
    return read(parse_json(text));
  } catch (const std::runtime_error& problem) {
    throw std::runtime_error(name + ": " + problem.what());
  }
}

}  // namespace tally
