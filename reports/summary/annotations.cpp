#include "reports/summary/annotations.hpp"

#include <vector>

#include "reports/census/census.hpp"
#include "reports/text/numbers.hpp"
#include "reports/text/replay.hpp"
#include "reports/text/utf8.hpp"
#include "reports/text/words.hpp"

namespace tally {
namespace {

/// A message on one line, its '%' escaped; in a property ':' and ',' too, as they end it.
std::string escaped(const std::string& text, bool property) {
  std::string out;
  for (const char c : one_line(text)) {
    const bool ends = property && (c == ':' || c == ',');
    if (c == '%' || ends) {
      out += c == '%' ? "%25" : c == ':' ? "%3A" : "%2C";
    } else {
      out += c;
    }
  }
  return out;
}

std::string line_of(const std::string& title, const std::string& message) {
  return "::error title=" + escaped(title, true) + "::" + escaped(message, false) + "\n";
}

bool is_broken(Status status) { return status == Status::fail || status == Status::error; }

std::vector<std::string> lines_of(const Results& results) {
  std::vector<std::string> lines;
  for (const CaseRecord* c : by_severity(results)) {
    if (!is_broken(c->status)) continue;
    const std::string command = replay_command(*c, results.environment);
    lines.push_back(
        line_of(c->law + ", " + c->precision + ": " + c->title, c->message + (command.empty() ? "" : "; " + command)));
  }
  for (const FaultRecord& fault : results.faults)
    if (!fault.caught) lines.push_back(line_of("seeded fault " + fault.name, "got away: " + fault.message));
  for (const TrainingRecord& t : results.training)
    if (is_broken(t.status))
      lines.push_back(line_of(t.dataset + ", " + t.model + ", " + t.precision + ", " + t.cut, t.message));
  for (const LawRecord& law : results.laws)
    if (control_is_missing(law)) lines.push_back(line_of(law.name, "its control does not differ: it cannot fail"));
  return lines;
}

}  // namespace

std::string github_annotations(const Results& results, std::size_t most) {
  std::vector<std::string> lines = lines_of(results);
  if (lines.size() > most) {
    const std::size_t left = lines.size() - (most - 1);
    lines.resize(most - 1);
    lines.push_back(line_of("and " + grouped(left) + " more", "see summary.md and report.html"));
  }
  std::string out;
  for (const std::string& line : lines) out += line;
  return out;
}

}  // namespace tally
