#include "reports/command_line/check/capture_room.hpp"

#include <algorithm>
#include <fstream>
#include <limits>
#include <string>

#include "oracle/case/optimizer_state.hpp"
#include "reports/command_line/exit_codes.hpp"

namespace tally::command_line {
namespace {

constexpr std::uint64_t bytes_of_expected = sizeof(long double) + sizeof(double);

std::string in_gib(std::uint64_t bytes) {
  constexpr std::uint64_t gib = std::uint64_t{1} << 30;
  const std::uint64_t tenths = (bytes * 10 + gib - 1) / gib;
  return std::to_string(tenths / 10) + "." + std::to_string(tenths % 10) + " GiB";
}

std::uint64_t parameters_in(const Case& c) {
  std::uint64_t all = 0;
  for (const std::string& p : parameters_of(c.model)) all += c.tensors.at(p).elements();
  return all;
}

}  // namespace

std::uint64_t bytes_of_all_lenses(const Case& c) {
  const std::uint64_t tensors = 6 + state_of(c.recipe.optimizer).size();
  std::int64_t rows = 0, features = c.model.input;
  for (const auto& window : c.windows) rows = std::max(rows, *std::max_element(window.begin(), window.end()));
  for (std::size_t i = 0; i < c.model.layers.size(); ++i) features += features_after(c.model, i);
  const auto activations = static_cast<std::uint64_t>(rows) * static_cast<std::uint64_t>(features);
  return bytes_of_expected * (parameters_in(c) * tensors + activations);
}

std::uint64_t free_memory() {
  std::ifstream file("/proc/meminfo");
  for (std::string word; file >> word;) {
    std::uint64_t kibibytes = 0;
    if (word == "MemAvailable:" && file >> kibibytes) return kibibytes << 10;
  }
  return std::numeric_limits<std::uint64_t>::max();
}

void require_room(const Case& c, std::uint64_t available) {
  const std::uint64_t needed = bytes_of_all_lenses(c);
  if (needed <= available) return;
  throw UsageError("memory: " + in_gib(available) + " are free; expected " + in_gib(needed) +
                   " for all lenses over a model of " + std::to_string(parameters_in(c)) +
                   " parameters; run again with --lens local, which holds some multiples of the largest tensor");
}

}  // namespace tally::command_line
