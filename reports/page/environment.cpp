#include "reports/html/table.hpp"
#include "reports/page/sections.hpp"
#include "reports/text/numbers.hpp"

namespace tally {
namespace {

void facts(Markup& page, const Results& results) {
  const Environment& e = results.environment;
  Table table(page, "What this run was made with", {"Part", "Value"});
  const auto fact = [&table](const char* name, const std::string& value) {
    auto row = table.row();
    row.head(name);
    row.cell(value.empty() ? "\u2013" : value);
  };
  fact("Tally", e.tally_version);
  fact("Executor", e.executor);
  fact("Device", e.device);
  fact("Compiler", e.compiler);
  fact("Flags", e.flags);
  fact("CUDA", e.cuda);
  fact("BLAS", e.blas);
  if (!e.fault.empty())
    fact("Bug planted on purpose", e.fault + (e.magnitude == 1 ? "" : " at " + shortest(e.magnitude)));
  for (const std::string& kernel : e.kernels) fact("In place of a shipped kernel", kernel);
  fact("Campaign", results.campaign);
  fact("Seed", std::to_string(results.seed));
  fact("Effort", shortest(results.effort));
}

}  // namespace

void environment_section(Markup& page, const Results& results) {
  const auto section = page.open("section", {{"aria-labelledby", "environment"}});
  page.element("h2", {{"id", "environment"}}, "Environment");
  facts(page, results);
}

void ledger_section(Markup& page, const Results& results) {
  if (results.environment.ledger.empty()) return;
  const auto section = page.open("section", {{"aria-labelledby", "ledger"}});
  page.element("h2", {{"id", "ledger"}}, "Ledger");
  page.element("p", {}, "What the bounds take for granted, and what was found to hold here.");
  Table table(page, "Assumptions of the bounds", {"Assumption", "Here"});
  for (const auto& [assumption, holds] : results.environment.ledger) {
    auto row = table.row();
    row.head(assumption);
    row.cell(holds);
  }
}

}  // namespace tally
