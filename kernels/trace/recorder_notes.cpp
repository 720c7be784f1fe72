// What a recorder says beside its taps, in a trace's optional metadata.
#include "kernels/trace/recorder_notes.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdlib>
#include <nlohmann/json.hpp>
#include <optional>
#include <sstream>
#include <stdexcept>
#include <string>
#include <string_view>

#include "oracle/case/contract.hpp"
#include "oracle/case/file/json.hpp"
#include "oracle/case/file/safetensors.hpp"
#include "oracle/case/kept_tensors.hpp"
#include "oracle/case/ranks.hpp"

namespace tally {
namespace {

std::vector<std::string> lines_of(const std::filesystem::path& trace_file, const std::string& key) {
  constexpr std::size_t longest = 400;
  const auto metadata = safetensors_metadata(trace_file);
  const auto entry = metadata.find(key);
  if (entry == metadata.end()) return {};
  std::vector<std::string> all;
  std::size_t more = 0;
  std::istringstream lines(entry->second);
  for (std::string line; std::getline(lines, line);) {
    if (line.empty()) continue;
    if (all.size() < most_assumptions) {
      all.push_back(shortened(line, longest));
    } else {
      ++more;
    }
  }
  if (more > 0) all.push_back("and " + std::to_string(more) + " more");
  return all;
}

}  // namespace

std::vector<std::string> assumptions_of(const std::filesystem::path& trace_file) {
  return lines_of(trace_file, "assumptions");
}

std::vector<std::string> seen_causes_of(const std::filesystem::path& trace_file) {
  return lines_of(trace_file, "seen");
}

namespace {

constexpr std::array<std::string_view, 5> kinds{"loss", "backward", "unscale", "clip", "step"};

bool is_place(const nlohmann::json& value) {
  return value.is_object() && value.contains("file") && value["file"].is_string() && value.contains("line") &&
         value["line"].is_number_integer() && value["line"] >= 1 &&
         (!value.contains("text") || value["text"].is_string());
}

}  // namespace

std::map<std::string, CodePlace> places_of(const std::filesystem::path& trace_file) {
  const auto metadata = safetensors_metadata(trace_file);
  const auto entry = metadata.find("places");
  if (entry == metadata.end() || entry->second.empty()) return {};
  const auto reject = [&](const std::string& key, const std::string& found, const std::string& expected) {
    throw std::runtime_error(trace_file.string() + ": metadata places" + key + ": found " + found + "; expected " +
                             expected + ", or no such entry");
  };
  if (const std::string wrong = wrong_with_json(entry->second); !wrong.empty())
    reject("", wrong, "an object of places by the kind of call");
  const nlohmann::json all = nlohmann::json::parse(entry->second);
  if (!all.is_object()) reject("", named(shortened(entry->second)), "an object of places by the kind of call");
  std::map<std::string, CodePlace> places;
  for (const std::string_view kind : kinds) {
    const auto found = all.find(kind);
    if (found == all.end()) continue;
    if (!is_place(*found))
      reject("." + std::string(kind), named(shortened(found->dump())),
             "an object with file (text), line (from 1 on) and text");
    places[std::string(kind)] = {shortened((*found)["file"].get<std::string>(), 400),
                                 (*found)["line"].get<std::int64_t>(), shortened(found->value("text", ""))};
  }
  return places;
}

namespace {

/// All of a word, as a number; nullopt otherwise.
std::optional<double> number_of(const std::string& word) {
  char* end = nullptr;
  const double value = std::strtod(word.c_str(), &end);
  return word.empty() || *end != '\0' ? std::nullopt : std::optional(value);
}

/// nullopt where the line is not of the form.
std::optional<SquaresOfWindow> sum_of(const std::string& line) {
  std::istringstream words(line);
  std::string window, elements, sum, more;
  words >> window >> elements >> sum;
  if (!window.starts_with('w') || words >> more) return std::nullopt;
  const auto w = number_of(window.substr(1)), n = number_of(elements), s = number_of(sum);
  const bool whole =
      w && n && *w >= 0 && *w < 1e9 && *n > 0 && *n <= 0x1p53 && *w == std::floor(*w) && *n == std::floor(*n);
  if (!whole || !s || *s < 0) return std::nullopt;
  return SquaresOfWindow{static_cast<int>(*w), *n, *s};
}

}  // namespace

std::vector<SquaresOfWindow> sums_of_squares_of(const std::filesystem::path& trace_file, const Case& c) {
  const auto metadata = safetensors_metadata(trace_file);
  const auto entry = metadata.find("sums_of_squares");
  if (entry == metadata.end() || entry->second.empty()) return {};
  const auto reject = [&](const std::string& found, const std::string& expected) {
    throw std::runtime_error(trace_file.string() + ": metadata sums_of_squares: found " + found + "; expected " +
                             expected);
  };
  if (!is_opaque(c.model)) reject("it beside a model of known layers", "an opaque model, or no such entry");
  if (in_ranks(c)) reject("it beside ranks", "no such entry, and every element of every rank");
  if (reads_whole_tensors(c.recipe.optimizer))
    reject("it beside the optimizer " + c.recipe.optimizer.kind + ", whose step reads whole tensors",
           "no such entry, and every element");
  if (clips_by_norm(c.recipe.clip) && c.recipe.clip.text("norm") != "2")
    reject("it beside a clip by the norm " + c.recipe.clip.text("norm"), "the 2-norm, or no such entry");
  double held = 0;
  for (const std::string& p : parameters_of(c.model)) held += static_cast<double>(c.tensors.at(p).elements());
  std::vector<SquaresOfWindow> sums;
  std::istringstream lines(entry->second);
  for (std::string line; std::getline(lines, line);) {
    if (line.empty()) continue;
    const auto next = sum_of(line);
    const std::string found = "'" + named(shortened(line)) + "'";
    if (!next) reject(found, "w<window> <elements> <sum>");
    if (next->window >= static_cast<int>(c.windows.size()))
      reject(found, "a window below " + std::to_string(c.windows.size()));
    if (next->elements < held) reject(found, "at least the elements that the case has");
    if (std::ranges::any_of(sums, [&](const SquaresOfWindow& one) { return one.window == next->window; }))
      reject(found, "each window once");
    sums.push_back(*next);
  }
  if (sums.size() != c.windows.size())
    reject(std::to_string(sums.size()) + " lines", "one for each of " + std::to_string(c.windows.size()) + " windows");
  return sums;
}

}  // namespace tally
