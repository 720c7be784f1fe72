// summary.md: what a job summary shows. Verdict, matrix, and as many failures as fit, worst first; beside it
// annotations of a commit.
#include "reports/summary/summary.hpp"

#include <algorithm>
#include <map>
#include <vector>

#include "reports/census/census.hpp"
#include "reports/census/conclusions.hpp"
#include "reports/census/unusual.hpp"
#include "reports/record/record_kinds.hpp"
#include "reports/record/triggers.hpp"
#include "reports/report.hpp"
#include "reports/text/text.hpp"
#include "reports/text/words.hpp"

namespace tally {

std::string markdown(std::string_view text) {
  constexpr std::string_view special = "\\`*_{}[]()#|!~@:";  // @ and : stop mentions and links
  std::string out;
  for (const char c : one_line(text)) {
    if (c == '<') {
      out += "&lt;";
    } else if (c == '>') {
      out += "&gt;";
    } else if (c == '&') {
      out += "&amp;";
    } else {
      if (special.find(c) != special.npos) out += '\\';
      out += c;
    }
  }
  return out;
}

std::string code_block(std::string_view text) {
  const std::string line = one_line(text);
  std::size_t longest = 2, run = 0;
  for (const char c : line) longest = std::max(longest, run = c == '`' ? run + 1 : 0);
  const std::string fence(longest + 1, '`');
  return fence + "\n" + line + "\n" + fence + "\n\n";
}

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
    if (!fault.caught) lines.push_back(line_of("seeded fault " + fault.name, "not caught: " + fault.message));
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

namespace {

/// By the case that stands first: a failing one, or the nearest to a limit for its kind.
std::string used_in(const CaseGroup& group, const std::vector<const CaseRecord*>& cases, const Usual& usual) {
  for (const CaseRecord* c : cases)
    if (c->law == group.law && c->precision == group.precision && was_judged(c->status))
      return significant(used_of(*c, usual));
  return shown_word_of(group.status());
}

std::string cell_of(const CaseGroup& group, const std::vector<const CaseRecord*>& cases, const Usual& usual) {
  return std::string(mark_of(group.status())) + " " + used_in(group, cases, usual) + " (" + grouped(group.total) + ")";
}

std::string matrix(const Results& results) {
  std::map<std::string, std::map<std::string, std::string>> cells;
  std::vector<std::string> precisions;
  const Usual usual(results);
  const auto cases = by_unusualness(results, usual);
  for (const CaseGroup& group : groups_of(results)) cells[group.law][group.precision] = cell_of(group, cases, usual);
  for (const std::string& p : precisions_of(results))
    for (const auto& [law, row] : cells)
      if (row.contains(p)) {
        precisions.push_back(p);
        break;
      }
  if (cells.empty()) return "";
  std::string head = "| Law |", rule = "|---|", body;
  for (const std::string& p : precisions) head += " " + markdown(p) + " |", rule += "---:|";
  for (auto& [law, row] : cells) {
    body += "| " + markdown(law) + " |";
    for (const std::string& p : precisions) body += " " + row[p] + " |";
    body += "\n";
  }
  return "Largest share of a bound used beyond its last rounding, by law and precision, limit 1 (number of "
         "cases):\n\n" +
         head + "\n" + rule + "\n" + body + "\n";
}

std::string where(const Results& results) {
  std::string text = "Ran on the host executor: " + counted(results.ran_on_host, "tensor check") +
                     "; on a GPU: " + grouped(results.ran_on_device);
  if (results.ran_on_device == 0) text += ", **not run**";
  if (!results.device_message.empty()) text += " (" + markdown(results.device_message) + ")";
  return text + ".\n\n";
}

std::string failure(const CaseRecord& c, const Environment& ran) {
  std::string text = "### " + std::string(mark_of(c.status)) + " " + markdown(c.law) + ", " + markdown(c.precision) +
                     ": " + markdown(c.title) + "\n\n" + markdown(c.message) + "\n\n";
  if (!c.first_stage.empty()) text += "First stage: " + markdown(c.first_stage) + ", ";
  text += "r = " + significant(ratio_of(c)) + "\n\n";
  if (const std::string command = replay_command(c, ran); !command.empty()) text += code_block(command);
  return text;
}

std::string other_failures(const Results& results) {
  std::string text;
  for (const FaultRecord& f : results.faults)
    if (!f.caught)
      text += "- \u2717 seeded fault " + markdown(f.name) + " was not caught. " + markdown(f.message) + "\n";
  for (const TriggerRecord& t : results.triggers)
    if (triggers_are_missing(results) && is_unreached(t))
      text += "- \u2717 trigger " + markdown(t.name) + " was not reached\n";
  for (const LawRecord& law : results.laws)
    if (control_is_missing(law))
      text += "- \u2717 law " + markdown(law.name) + " cannot fail: the control does not differ\n";
  for (const TrainingRecord& t : results.training)
    if (t.status == Status::fail)
      text += "- \u2717 training " + markdown(t.dataset + ", " + t.model + ", " + t.precision + ", " + t.cut) +
              " failed. " + markdown(t.message) + "\n";
  for (const std::string& what : results.certified.disagreements)
    text += "- \u2717 the oracle is wrong: " + markdown(what) + "\n";
  return text.empty() ? "" : text + "\n";
}

std::string triggers(const Results& results) {
  if (results.triggers.empty()) return "";
  std::string text = "### Triggers\n\n" + markdown(trigger_sentence(results.triggers)) + ".\n\n" +
                     markdown(pairs_sentence(results.pairs)) +
                     "\n\n| Group | Trigger | Kind | Times seen |\n|---|---|---|---:|\n";
  for (const TriggerRecord& t : results.triggers) {
    if (is_made_from_the_program(t)) continue;  // the page has tables of them
    const std::string seen = t.kind == trigger_kind::later ? "later: " + markdown(t.description)
                             : is_unreached(t)             ? std::string(triggers_are_missing(results) ? "**0**" : "0")
                                                           : grouped(t.seen);
    text += "| " + markdown(t.group) + " | " + markdown(t.name) + " | " + markdown(t.kind) + " | " + seen + " |\n";
  }
  return text + "\n";
}

/// Adds whole parts while they and the line that says what was left out fit.
class Fitted {
 public:
  Fitted(std::string& out, std::size_t limit) : out_(out), limit_(limit) {}
  void add(const std::string& part) {
    constexpr std::size_t room = 100;
    if (left_out_ == 0 && out_.size() + part.size() + room <= limit_) {
      out_ += part;
    } else {
      ++left_out_;
    }
  }
  void finish() {
    if (left_out_ > 0) out_ += "And " + grouped(left_out_) + " more: see report.html and results.json.\n";
  }

 private:
  std::string& out_;
  std::size_t limit_, left_out_ = 0;
};

}  // namespace

std::string summary_markdown(const Results& results, std::size_t limit) {
  constexpr std::size_t most_failures = 20;
  std::string out;
  Fitted fitted(out, limit);
  fitted.add("## " + std::string(mark_of(verdict_of(results))) + " " + markdown(verdict_sentence(results)) + "\n\n");
  if (const CaseRecord* c = telling_failure(results)) fitted.add(markdown(failure_sentence(*c)) + ".\n\n");
  fitted.add(where(results));
  fitted.add(matrix(results));
  fitted.add(other_failures(results));
  std::size_t shown = 0, failed = 0;
  for (const CaseRecord* c : by_severity(results)) {
    if (c->status != Status::fail) break;
    if (++failed > most_failures) continue;
    fitted.add(failure(*c, results.environment));
    ++shown;
  }
  if (failed > shown) fitted.add(counted(failed - shown, "failing case") + " not shown here.\n");
  fitted.add(triggers(results));
  fitted.finish();
  return out;
}

}  // namespace tally
