#include "reports/command_line/check/explained.hpp"

#include <iostream>
#include <map>

#include "oracle/registered_files.hpp"
#include "properties/diagnosis/remedy.hpp"
#include "properties/diagnosis/restatement.hpp"
#include "properties/diagnosis/suspect.hpp"

namespace tally::command_line {
namespace {

std::map<int, Explained>& kinds() {
  static std::map<int, Explained> all;
  return all;
}

template <class Record>
std::vector<std::string> names_of(const std::vector<const Record*>& records) {
  std::vector<std::string> names;
  for (const Record* record : records) names.push_back(record->name);
  return names;
}

/// Its formula with what the letters in it mean, and what to change.
void print_formula(const std::string& name, const std::string& formula) {
  const bool counts = formula.find_first_of("SKN") != std::string::npos || formula.find("_k") != std::string::npos;
  std::cout << "formula: " << formula << "\n"
            << (counts
                    ? "letters: S the loss scale; N the window's items, n_k those of micro-batch k, K micro-batches; "
                      "A the accumulated gradient, s_k that of micro-batch k\n"
                    : "")
            << "what to change: " << remedy_of(name) << "\n";
}

bool explain_suspect(const std::string& name) {
  const Suspect* suspect = find_suspect(name);
  if (suspect == nullptr) return false;
  std::cout << "suspect " << suspect->name << ": " << suspect->sentence << "\n";
  print_formula(name, suspect->formula);
  std::cout << "may enter at: " << (suspect->stages.empty() ? "any stage" : listed_or_none(suspect->stages)) << "\n"
            << "stands for the faults: " << listed_or_none(suspect->faults) << "\n";
  return true;
}

bool explain_restatement(const std::string& name) {
  const Restatement* restatement = find_restatement(name);
  if (restatement == nullptr) return false;
  std::cout << "restatement " << restatement->name << ": " << restatement->sentence << "\n";
  print_formula(name, restatement->formula);
  std::cout << "named where a capture fails as its case states it, and passes inside all its bounds with this\n";
  return true;
}

const RegisterExplained registered_suspects({30, [] { return names_of(suspects()); }, explain_suspect});
const RegisterExplained registered_restatements({40, [] { return names_of(restatements()); }, explain_restatement});

}  // namespace

RegisterExplained::RegisterExplained(Explained kind, std::source_location at) {
  note_registered(at);
  kinds().emplace(kind.place, kind);
}

std::vector<Explained> explained_kinds() {
  std::vector<Explained> all;
  for (const auto& [place, kind] : kinds()) all.push_back(kind);
  return all;
}

std::string listed_or_none(const std::vector<std::string>& words) {
  std::string text;
  for (const std::string& word : words) text += (text.empty() ? "" : ", ") + word;
  return text.empty() ? "none" : text;
}

}  // namespace tally::command_line
