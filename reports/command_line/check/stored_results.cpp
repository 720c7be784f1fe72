#include "reports/command_line/check/stored_results.hpp"

#include "reports/command_line/exit_codes.hpp"
#include "reports/text/stored_text.hpp"

namespace tally::command_line {
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

}  // namespace tally::command_line
