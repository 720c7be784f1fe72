// What many commands take: case files, stored results, seed, effort, interruption.
#include "reports/command_line/check/run_words.hpp"

#include <csignal>
#include <cstdint>
#include <cstdlib>
#include <filesystem>
#include <random>
#include <stdexcept>

#include "oracle/case/io.hpp"
#include "oracle/case/tensors/regular_file.hpp"
#include "reports/command_line/output.hpp"
#include "reports/record/files.hpp"
#include "reports/text/stored_text.hpp"
#include "reports/text/text.hpp"

namespace tally::command_line {

Case case_in(const std::string& file) {
  if (begins_as_safetensors(file))
    throw UsageError(file + ": found a safetensors file, expected a case, which is JSON");
  try {
    return read_case_file(file);
  } catch (const InvalidCase& problem) {
    std::error_code unknown;
    if (!std::filesystem::is_regular_file(file, unknown)) throw;  // it names what is no file
    throw UsageError(file + ": " + problem.what());
  }
}

bool begins_as_safetensors(const std::string& file) {
  constexpr std::size_t length_bytes = 8;
  unsigned char first[length_bytes + 1];
  try {
    const RegularFile opened(file);
    opened.read(0, first, sizeof first);
    std::uint64_t header = 0;
    for (std::size_t i = length_bytes; i-- > 0;) header = header << 8 | first[i];
    return header <= opened.size() - length_bytes && first[length_bytes] == '{';
  } catch (const std::runtime_error&) {
    return false;
  }
}

namespace {

std::string text_of(const std::string& file, const char* expected) {
  try {
    return stored_text(file);
  } catch (const std::runtime_error& problem) {
    throw UsageError(std::string(problem.what()) + "; expected " + expected);
  }
}

/// What `read` returns; its complaint becomes a usage error that names the file.
template <class Read>
auto parsed(const std::string& file, Read read) {
  try {
    return read();
  } catch (const UsageError&) {
    throw;
  } catch (const std::runtime_error& problem) {
    throw UsageError(file + ": " + problem.what());
  }
}

}  // namespace

Results results_of(const std::string& file) {
  return parsed(file, [&] { return results_of_json(text_of(file, "the results.json of a run")); });
}

Study study_at(const std::string& file) {
  return parsed(file, [&] { return study_of_json(text_of(file, "the NAME.json of a study")); });
}

namespace {

std::atomic<bool> interrupted_flag{false};

void on_interrupt(int) { interrupted_flag = true; }

}  // namespace

double number_of(const std::string& text, const std::string& what, const std::string& expected) {
  char* end = nullptr;
  const double value = std::strtod(text.c_str(), &end);
  if (end == text.c_str() || *end != '\0' || !(value > 0))
    throw UsageError(what + ": '" + text + "'; expected " + expected);
  return value;
}

std::uint64_t seed_of(const std::string& text) {
  if (text == "random") return std::random_device{}();
  if (text.empty() || text.find_first_not_of("0123456789") != std::string::npos || text.size() > 18) {
    throw UsageError("--seed: '" + text + "'; expected a whole number or 'random'");
  }
  return std::stoull(text);
}

double effort_of(double given) {
  constexpr double most = 10000;
  const std::string expected = "a number above 0, at most 10000";
  const char* scaled = std::getenv("TALLY_EFFORT");
  const double effort = given != 0 ? given : scaled ? number_of(scaled, "TALLY_EFFORT", expected) : 1;
  if (effort > 0 && effort <= most) return effort;
  throw UsageError((given != 0 ? "--effort: '" + shortest(effort) : "TALLY_EFFORT: '" + std::string(scaled)) +
                   "'; expected " + expected);
}

void require_writable(const std::filesystem::path& folder) {
  std::error_code problem;
  std::filesystem::create_directories(folder, problem);
  if (problem) throw UsageError("--out: " + folder.string() + " cannot be made: " + problem.message());
  try {
    require_writable_folder(folder);
  } catch (const std::runtime_error& refused) {
    throw UsageError(std::string("--out: ") + refused.what());
  }
}

void require_replaceable(const std::filesystem::path& folder, const std::vector<std::string>& names) {
  for (const std::string& name : names)
    if (!may_be_replaced(folder / name))
      throw UsageError("--out: " + (folder / name).string() +
                       (std::filesystem::is_regular_file(folder / name) ? ": found a file that Tally did not write"
                                                                        : ": found no file") +
                       "; expected none, or that of an earlier run: name another "
                       "folder, or move the file");
}

const std::vector<std::string>& report_names() {
  static const std::vector<std::string> names{"results.json", "report.html", "junit.xml", "summary.md"};
  return names;
}

const std::atomic<bool>& interruption() {
  std::signal(SIGINT, on_interrupt);
  std::signal(SIGTERM, on_interrupt);
  std::signal(SIGHUP, on_interrupt);  // the terminal is gone
  return interrupted_flag;
}

}  // namespace tally::command_line
