// What this part brings to `tally explain` and `tally doctor`.
#include "reports/command_line/check/answers.hpp"

#include <fstream>
#include <iostream>

#include "properties/diagnosis/bug.hpp"
#include "properties/diagnosis/sentences.hpp"
#include "properties/diagnosis/vary/causes.hpp"
#include "properties/faults/fault_names.hpp"
#include "reports/command_line/part.hpp"

namespace tally::command_line {
namespace {

std::vector<std::string> names_of_bugs() {
  std::vector<std::string> names;
  for (const Bug* bug : bugs()) names.push_back(bug->name);
  return names;
}

/// Its sentence, its formula with what the letters in it mean, and what to change.
void print_bug(const std::string& as, const Bug& bug) {
  const std::string& formula = bug.formula;
  const bool counts = formula.find_first_of("SKN") != std::string::npos || formula.find("_k") != std::string::npos;
  std::cout << as << " " << bug.name << ": " << bug.sentence << "\n"
            << "formula: " << formula << "\n"
            << (counts
                    ? "letters: S the loss scale; N the window's items, n_k those of micro-batch k, K micro-batches; "
                      "A the accumulated gradient, s_k that of micro-batch k\n"
                    : "")
            << "what to change: " << remedy_of(bug.name) << "\n";
}

bool explain_bug(const std::string& name) {
  const Bug* bug = find_bug(name);
  if (bug == nullptr) return false;
  if (bug->is_suspect()) {
    print_bug("suspect", *bug);
    std::cout << "may enter at: " << (bug->stages.empty() ? "any stage" : listed_or_none(bug->stages)) << "\n"
              << "stands for the faults: " << listed_or_none(faults_planting(bug->name)) << "\n";
  }
  if (bug->restated != nullptr) {
    print_bug("restatement", *bug);
    std::cout << "named where a capture fails as its case states it, but passes inside all its bounds with this\n";
  }
  return true;
}

std::vector<std::string> causes_of_vary() {
  std::vector<std::string> all;
  for (const VaryCause& cause : vary_causes()) all.push_back(cause.name);
  return all;
}

bool explain_cause_of_vary(const std::string& name) {
  for (const VaryCause& cause : vary_causes()) {
    if (cause.name != name) continue;
    std::cout << "cause " << cause.name << " of tally vary: " << filled_in(cause.what, {}) << "\n"
              << "change: " << filled_in(cause.change, {}) << "\n";
    if (!cause.factor.empty()) std::cout << "a row of micro-batch k weighs too much by " << cause.factor << "\n";
    return true;
  }
  return false;
}

const Register<PartRecord> registered{{
    .part = Part::check,
    .explained = {{30, names_of_bugs, explain_bug}, {50, causes_of_vary, explain_cause_of_vary}},
}};

}  // namespace

std::string listed_or_none(const std::vector<std::string>& words) {
  std::string text;
  for (const std::string& word : words) text += (text.empty() ? "" : ", ") + word;
  return text.empty() ? "none" : text;
}

namespace {

namespace fs = std::filesystem;

/// The nearest folder above that CMake configured; empty where there is none.
fs::path build_of(const fs::path& program) {
  for (fs::path folder = program.parent_path(); folder.has_relative_path(); folder = folder.parent_path())
    if (fs::exists(folder / "CMakeCache.txt")) return folder;
  return {};
}

/// Whether Debian's package of that name says that it put the program there.
bool is_of_package(const fs::path& program, const fs::path& root) {
  std::ifstream files(root / "var/lib/dpkg/info/tally.list");
  for (std::string line; std::getline(files, line);)
    if (line == program.string()) return true;
  return false;
}

}  // namespace

std::string installation_of(const fs::path& program, const fs::path& root) {
  const fs::path folder = program.parent_path(), prefix = folder.parent_path();
  if (fs::exists(folder / "__init__.py")) return "wheel, in " + folder.string();
  if (const fs::path build = build_of(program); !build.empty()) return "build, in " + build.string();
  if (is_of_package(program, root)) return "Debian package, in " + prefix.string();
  if (fs::exists(prefix / "share/tally/digits.csv")) return "cmake --install, in " + prefix.string();
  return "copy, in " + folder.string();
}

}  // namespace tally::command_line
