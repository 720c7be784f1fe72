// `tally explain`: one case of a run, a law, a fault or a suspect, in words.
#include <filesystem>
#include <iostream>

#include "properties/diagnosis/restatement.hpp"
#include "properties/diagnosis/suspect.hpp"
#include "properties/faults/fault.hpp"
#include "properties/laws/law.hpp"
#include "reports/command_line/command.hpp"
#include "reports/command_line/defaults.hpp"
#include "reports/command_line/exit_codes.hpp"
#include "reports/command_line/stored.hpp"
#include "reports/command_line/suspect_list.hpp"
#include "reports/record/record.hpp"
#include "reports/text/nearest.hpp"
#include "reports/text/replay.hpp"
#include "reports/text/words.hpp"

namespace tally::command_line {
namespace {

struct ExplainOptions {
  std::string what;  // a case's id, or the name of a law, a fault or a suspect
  std::string results = defaults::results;
};

constexpr std::size_t names_offered = 3;

/// No results where the file is absent; a file that is no results.json is a UsageError.
Results results_in(const std::string& file) { return std::filesystem::exists(file) ? results_of(file) : Results{}; }

std::string joined(const std::vector<std::string>& words) {
  std::string text;
  for (const std::string& word : words) text += (text.empty() ? "" : ", ") + word;
  return text.empty() ? "none" : text;
}

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

void explain_case(const CaseRecord& c, const Environment& ran, const std::string& results_file) {
  const Law* law = find_law(c.law);
  std::cout << mark_and_word(c.status) << "  case " << c.id << ": " << c.title << "\n"
            << "law " << c.law << (law ? ": " + law->statement : "") << "\n";
  if (!c.message.empty()) std::cout << c.law << " at " << c.message << "\n";
  if (!c.first_stage.empty()) std::cout << "first stage that fails: " << c.first_stage << "\n";
  for (const TensorCheck& check : c.worst) std::cout << element(check);
  std::cout << suspect_list(c.suspects) << replay_line(c, ran, results_file);
}

void explain_law(const Law& law) {
  std::cout << "law " << law.name << " [" << law.family << "]: " << law.statement << "\n"
            << "control: " << law.control << "\n"
            << "faults that break it: " << joined(faults_of(law.name)) << "\n"
            << "run it: ./tally verify --law " << law.name << "\n";
}

void explain_fault(const Fault& fault) {
  std::vector<std::string> standing;
  for (const Suspect* suspect : suspects()) {
    if (stands_for(*suspect, fault.name)) standing.push_back(suspect->name);
  }
  std::cout << "fault " << fault.name << ", planted in " << fault.stage << ": " << fault.right << "  ->  "
            << fault.wrong << "\n"
            << "shows with: " << fault.condition << "\n"
            << "modelled on: " << fault.source << "\n"
            << "knob: " << fault.knob << "\n"
            << "laws that catch it: " << joined(fault.laws) << "\n"
            << "suspect: " << joined(standing) << "\n"
            << "run it: ./tally faults " << fault.name << "\n";
}

void explain_suspect(const Suspect& suspect) {
  std::cout << "suspect " << suspect.name << ": " << suspect.sentence << "\n"
            << "formula: " << suspect.formula << "\n"
            << "may enter at: " << (suspect.stages.empty() ? "any stage" : joined(suspect.stages)) << "\n"
            << "stands for the faults: " << joined(suspect.faults) << "\n";
}

void explain_restatement(const Restatement& restatement) {
  std::cout << "restatement " << restatement.name << ": " << restatement.sentence << "\n"
            << "formula: " << restatement.formula << "\n"
            << "named where a capture fails as its case states it, and passes inside all its bounds with this\n";
}

/// Explains every law, fault, suspect and restatement of that name; false when there is none.
bool explain_name(const std::string& name) {
  const Law* law = find_law(name);
  const Fault* fault = find_fault(name);
  const Suspect* suspect = find_suspect(name);
  const Restatement* restatement = find_restatement(name);
  if (law) explain_law(*law);
  if (fault) explain_fault(*fault);
  if (suspect) explain_suspect(*suspect);
  if (restatement) explain_restatement(*restatement);
  return law || fault || suspect || restatement;
}

std::vector<std::string> known(const Results& results) {
  std::vector<std::string> names;
  for (const CaseRecord& c : results.cases) names.push_back(c.id);
  for (const Law* law : laws()) names.push_back(law->name);
  for (const Fault* fault : tally::faults()) names.push_back(fault->name);
  for (const Suspect* suspect : suspects()) names.push_back(suspect->name);
  for (const Restatement* restatement : restatements()) names.push_back(restatement->name);
  return names;
}

int explain(const ExplainOptions& options) {
  if (explain_name(options.what)) return pass;
  const Results results = results_in(options.results);
  const std::string id =
      options.what.starts_with("c-") ? options.what.substr(2) : options.what;  // as failures print it
  for (const CaseRecord& c : results.cases) {
    if (c.id != id) continue;
    explain_case(c, results.environment, options.results);
    return pass;
  }
  const std::string where =
      std::filesystem::exists(options.results) ? " in " + options.results : "; there is no " + options.results;
  throw UsageError("nothing is named '" + options.what + "'" + where + "; the nearest names are " +
                   joined(nearest_names(options.what, known(results), names_offered)));
}

void add_options(CLI::App& command, ExplainOptions& options) {
  command.add_option("what", options.what, "the id of a case, or the name of a law, a fault or a suspect")->required();
  command.add_option("--results", options.results, "results.json that holds the case")->capture_default_str();
}

const RegisterCommand registered{{
    .place = 160,
    .name = "explain",
    .help = "say in words what a case, a law, a fault or a suspect is about",
    .bind = with_options(add_options, explain),
}};

}  // namespace
}  // namespace tally::command_line
