// `tally explain`: one case of a run, a law, a fault or a suspect, in words.
#include <algorithm>
#include <filesystem>
#include <iostream>

#include "properties/diagnosis/sentences.hpp"
#include "properties/faults/fault_names.hpp"
#include "reports/command_line/check/answers.hpp"
#include "reports/command_line/check/capture.hpp"
#include "reports/command_line/check/run_words.hpp"
#include "reports/command_line/command.hpp"
#include "reports/command_line/output.hpp"
#include "reports/command_line/part.hpp"
#include "reports/record/record.hpp"
#include "reports/text/text.hpp"
#include "reports/text/words.hpp"

namespace tally::command_line::explain_command {
namespace {

struct ExplainOptions {
  std::string what;  // a case's id, or the name of a law, a fault or a suspect
  std::string results = defaults::results;
};

constexpr std::size_t names_offered = 3;

/// No results where the file is absent; a file that is no results.json is a UsageError.
Results results_in(const std::string& file) { return std::filesystem::exists(file) ? results_of(file) : Results{}; }

std::string element(const TensorCheck& check) {
  if (!check.message.empty()) return "  " + check.tap + ", " + check.lens + ": " + check.message + "\n";
  char text[256];
  std::snprintf(text, sizeof text, "expected %.9g, got %.9g, error %.3g, bound %.3g, r = %.3g", check.expected,
                check.got, check.error, check.bound, check.worst_ratio);
  const std::string terms = text_of(check.terms);
  return "  " + check.tap + " by the " + check.lens + " lens: " + text + "\n" +
         (terms.empty() ? "" : "    the bound is " + terms + "\n");
}

/// A kept case's path is relative to the folder of its results.
std::string replay_line(CaseRecord c, const Environment& ran, const std::string& results_file) {
  const bool kept = !c.token.empty() && !c.token.starts_with("tly1:");
  if (kept) c.token = (std::filesystem::path(results_file).parent_path() / c.token).string();
  const std::string command = replay_command(c, ran);
  return command.empty() ? "" : "replay: " + command + "\n";
}

std::string statement_of(const std::string& law, const Results& results) {
  for (const LawRecord& record : results.laws)
    if (record.name == law) return ": " + record.statement;
  return "";
}

void explain_case(const CaseRecord& c, const Results& results, const std::string& results_file) {
  std::cout << mark_and_word(c.status) << "  case " << c.id << ": " << c.title << "\n"
            << "law " << c.law << statement_of(c.law, results) << "\n";
  if (!c.message.empty()) std::cout << c.law << " at " << c.message << "\n";
  if (!c.first_stage.empty()) std::cout << "first stage that fails: " << c.first_stage << "\n";
  for (const TensorCheck& check : c.worst) std::cout << element(check);
  std::cout << suspect_list(c.suspects);
  if (!c.suspects.empty()) std::cout << "what to change: " << remedy_of(c.suspects.front().name) << "\n";
  std::cout << replay_line(c, results.environment, results_file);
}

/// The kinds of all parts, by place.
std::vector<Explained> explained_kinds() {
  std::vector<Explained> all;
  for (const PartRecord* each : all_records<PartRecord>())
    all.insert(all.end(), each->explained.begin(), each->explained.end());
  std::ranges::sort(all, {}, &Explained::place);
  return all;
}

/// Explains what is of that name in every kind; false when there is none.
bool explain_name(const std::string& name) {
  bool found = false;
  for (const Explained& kind : explained_kinds()) found = kind.explain(name) || found;
  return found;
}

/// What a larger part explains is named by this one.
void require_explained_here(const std::string& name) {
  if (is_fault(name) && part() < Part::lab) throw BeyondThisPart(Part::lab, "the fault " + name);
  if (!faults_of(name).empty() && part() < Part::verify) throw BeyondThisPart(Part::verify, "the law " + name);
}

std::vector<std::string> known(const Results& results) {
  std::vector<std::string> names = broken_laws();
  for (const FaultName& fault : fault_names()) names.push_back(fault.name);
  for (const CaseRecord& c : results.cases) names.push_back(c.id);
  for (const Explained& kind : explained_kinds()) std::ranges::move(kind.names(), std::back_inserter(names));
  return names;
}

int explain(const ExplainOptions& options) {
  if (explain_name(options.what)) return pass;
  const Results results = results_in(options.results);
  const std::string id =
      options.what.starts_with("c-") ? options.what.substr(2) : options.what;  // as failures print it
  for (const CaseRecord& c : results.cases) {
    if (c.id != id) continue;
    explain_case(c, results, options.results);
    return pass;
  }
  require_explained_here(options.what);
  const std::string where =
      std::filesystem::exists(options.results) ? " in " + options.results : "; there is no " + options.results;
  const std::vector<std::string> near = near_names(options.what, known(results), names_offered);
  throw UsageError("nothing is named '" + options.what + "'" + where +
                   (near.empty() ? ", and nothing similar; verdicts print names after `looks like`"
                                 : "; the nearest names are " + listed_or_none(near)));
}

void add_options(CLI::App& command, ExplainOptions& options) {
  command.add_option("what", options.what, "the id of a case, or the name of a law, a fault or a suspect")->required();
  command.add_option("--results", options.results, "results.json that holds the case")->capture_default_str();
}

const RegisterCommand registered{{
    .place = 160,
    .name = "explain",
    .help = "explain a case, a law, a fault or a suspect in words",
    .bind = with_options(add_options, explain),
}};

}  // namespace
}  // namespace tally::command_line::explain_command
