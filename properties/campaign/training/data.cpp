// The UCI handwritten digits, compiled into the program as plain CSV.
#include "properties/campaign/training/data.hpp"

#include <charconv>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <stdexcept>
#include <string>
#include <vector>

#include "kernels/plugin/plugin.hpp"

namespace tally {
namespace {

constexpr std::size_t rows = 1797, columns = 65;

/// Where it is chosen, where it was built, beside an installed program, or where that of a user's kernels found it.
std::string file_name() {
  if (const char* chosen = std::getenv("TALLY_DIGITS")) return chosen;
  namespace fs = std::filesystem;
  std::error_code absent;
  std::vector<fs::path> places{fs::read_symlink("/proc/self/exe", absent).parent_path() / "../share/tally/digits.csv"};
  for (const Plugin& plugin : plugins()) places.push_back(fs::path(plugin.data) / "digits.csv");
  if (!fs::exists(TALLY_DIGITS_FILE, absent))
    for (const fs::path& place : places)
      if (fs::exists(place, absent)) return place.string();
  return TALLY_DIGITS_FILE;
}

Digits read_digits() {
  const std::string name = file_name();
  std::ifstream file(name);
  if (!file)
    throw std::runtime_error(name + ": cannot be read; expected the digits data (TALLY_DIGITS names another place)");
  Digits digits;
  std::string line;
  while (std::getline(file, line)) {
    std::size_t column = 0;
    for (const char *at = line.data(), *end = at + line.size(); at < end; ++column) {
      unsigned value = 0;
      const auto read = std::from_chars(at, end, value);
      if (read.ec != std::errc{} || value > 16)
        throw std::runtime_error(name + ": '" + line + "' is not a row of digits");
      (column < 64 ? digits.pixels : digits.labels).push_back(static_cast<std::uint8_t>(value));
      at = read.ptr + 1;
    }
    if (column != columns)
      throw std::runtime_error(name + ": a row has " + std::to_string(column) + " numbers, expected 65");
  }
  if (digits.labels.size() != rows) {
    throw std::runtime_error(name + ": " + std::to_string(digits.labels.size()) + " rows, expected 1797");
  }
  return digits;
}

}  // namespace

const Digits& digits_data() {
  static const Digits digits = read_digits();
  return digits;
}

}  // namespace tally
