// junit.xml: a suite for each law and precision, a test case for each case, the full text of a failure in its body,
// where every reader of the format shows it.
#include <cmath>

#include "reports/census/census.hpp"
#include "reports/record/record.hpp"
#include "reports/report.hpp"
#include "reports/text/markup.hpp"
#include "reports/text/text.hpp"
#include "reports/text/words.hpp"

namespace tally {
namespace {

/// One test case of a suite, whatever kind of record it comes from.
struct Entry {
  std::string class_name, name, body, message, kind;
  Status status = Status::pass;
};
struct Suite {
  std::string name;
  std::vector<Entry> entries;
};

std::string test_name_of(const CaseRecord& c) {
  const std::string tag = tag_of(c);
  return c.title + (tag.empty() ? "" : " [" + tag + "]") + " [c-" + c.id + "]";
}

std::vector<Suite> case_suites(const Results& results) {
  std::vector<Suite> suites;
  for (const CaseGroup& group : groups_of(results)) {
    Suite& suite = suites.emplace_back(Suite{group.law + "." + group.precision, {}});
    for (const CaseRecord& c : results.cases)
      if (c.law == group.law && c.precision == group.precision)
        suite.entries.push_back({group.law + "." + group.precision, test_name_of(c),
                                 failure_text(c, results.environment), c.message, failure_word(c.failure), c.status});
  }
  return suites;
}

Suite control_suite(const Results& results) {
  Suite suite{"controls", {}};
  for (const LawRecord& law : results.laws) {
    const bool ran = law.cases > law.not_run + law.vacuous;
    const Status status = control_is_missing(law) ? Status::fail : ran ? Status::pass : Status::not_run;
    const std::string message = status == Status::fail ? "what must differ does not: " + law.control : law.message;
    suite.entries.push_back({"controls", law.name, law.statement + "\n" + message, message, "control", status});
  }
  return suite;
}

Suite fault_suite(const Results& results) {
  Suite suite{"faults", {}};
  for (const FaultRecord& f : results.faults) {
    const Status status = f.caught ? Status::pass : Status::fail;
    suite.entries.push_back({"faults", f.name, "planted in " + f.stage + ": " + f.wrong + "\n" + f.message,
                             "the seeded fault was not caught", "missed", status});
  }
  return suite;
}

Suite training_suite(const Results& results) {
  Suite suite{"training", {}};
  for (const TrainingRecord& t : results.training)
    suite.entries.push_back({"training." + t.dataset, t.model + ", " + t.precision + ", " + t.cut, t.message, t.message,
                             "training", t.status});
  return suite;
}

/// `nothing ran` is a test case too: an empty file would look like success.
Suite verdict_suite(const Results& results) {
  const Status status = verdict_of(results);
  const std::string sentence = verdict_sentence(results);
  return {"campaign", {{"campaign", results.campaign, sentence, sentence, std::string(word_of(status)), status}}};
}

void write(Markup& xml, const Entry& entry) {
  const auto element =
      xml.open("testcase", {{"classname", one_line(entry.class_name)}, {"name", one_line(entry.name)}});
  if (entry.status == Status::pass) return;
  const bool skipped = entry.status == Status::vacuous || entry.status == Status::not_run;
  const char* name = skipped ? "skipped" : entry.status == Status::error ? "error" : "failure";
  const std::string word = shown_word_of(entry.status);
  const std::string message = one_line(entry.message.empty() ? word
                                       : skipped             ? word + ": " + entry.message
                                                             : entry.message);
  if (skipped) return xml.empty(name, {{"message", message}});
  xml.element(name, {{"type", entry.kind}, {"message", message}}, entry.body);
}

void write(Markup& xml, const Suite& suite) {
  std::size_t failures = 0, errors = 0, skipped = 0;
  for (const Entry& e : suite.entries) {
    failures += e.status == Status::fail;
    errors += e.status == Status::error;
    skipped += e.status == Status::vacuous || e.status == Status::not_run;
  }
  const auto element = xml.open("testsuite", {{"name", one_line(suite.name)},
                                              {"tests", std::to_string(suite.entries.size())},
                                              {"failures", std::to_string(failures)},
                                              {"errors", std::to_string(errors)},
                                              {"skipped", std::to_string(skipped)}});
  for (const Entry& e : suite.entries) {
    xml.newline();
    write(xml, e);
  }
  xml.newline();
}

}  // namespace

std::string junit_xml(const Results& results) {
  std::vector<Suite> suites = {verdict_suite(results)};
  for (Suite& suite : case_suites(results)) suites.push_back(std::move(suite));
  for (Suite suite : {control_suite(results), fault_suite(results), training_suite(results)})
    if (!suite.entries.empty()) suites.push_back(std::move(suite));
  std::string out = "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n";
  {
    Markup xml(out);
    const auto root = xml.open("testsuites", {{"name", "tally"}});
    for (const Suite& suite : suites) {
      xml.newline();
      write(xml, suite);
    }
    xml.newline();
  }
  return out + '\n';
}

}  // namespace tally
