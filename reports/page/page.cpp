// report.html, from its header to its footer: one file, no request, whole without its script, the same bytes for the
// same results.
#include <algorithm>

#include "reports/census/census.hpp"
#include "reports/census/conclusions.hpp"
#include "reports/gate/gate.hpp"
#include "reports/html/document.hpp"
#include "reports/html/plot.hpp"
#include "reports/page/sections.hpp"
#include "reports/report.hpp"
#include "reports/text/stored_text.hpp"
#include "reports/text/text.hpp"
#include "reports/text/words.hpp"

namespace tally {
namespace {

void sections(Markup& page, const Results& results, const ReportContext& context, const Ranking& ranking) {
  const auto main = page.open("main", {{"id", "main"}});
  overview_section(page, results, ranking);
  failures_section(page, results);
  baseline_section(page, results, context);
  history_section(page, results, context);
  kernels_section(page, results, ranking);
  worst_cases_section(page, results, ranking);
  drift_section(page, results);
  laws_section(page, results, ranking);
  fault_coverage_section(page, results);
  triggers_section(page, results);
  rules_section(page, results);
  evidence_section(page, results);
  gate_section(page, results);
  training_section(page, results);
  ledger_section(page, results);
  environment_section(page, results);
  reading_section(page, results);
}

void body(Markup& page, const Results& results, const ReportContext& context) {
  const auto open = page.open("body");
  page.element("a", {{"class", "skip"}, {"href", "#main"}}, "Skip to the results");
  const Ranking ranking(results);
  header_section(page, results, context, ranking);
  sections(page, results, context, ranking);
  footer_section(page, results);
  page_script(page, script());
}

}  // namespace

std::string report_html(const Results& results, const ReportContext& context) {
  std::string out = "<!DOCTYPE html>\n";
  {
    Markup page(out);
    const auto html = page.open("html", {{"lang", "en"}});
    page_head(page, "Tally: " + verdict_sentence(results), script());
    page.newline();
    body(page, results, context);
  }
  return out + '\n';
}

namespace {

constexpr Status statuses[] = {Status::pass, Status::fail, Status::error, Status::vacuous, Status::not_run};

void headline(Markup& page, const Results& results) {
  const std::string sentence = verdict_sentence(results);
  const auto space = sentence.find("  ");
  const auto h1 = page.open("h1");
  page.element("span", {{"class", "word"}},
               std::string(mark_of(verdict_of(results))) + " " + sentence.substr(0, space));
  page.text(" " + sentence.substr(space + 2));
}

void linked(Markup& page, const Ranking& ranking, const CaseRecord& c) {
  if (const std::string link = ranking.link_to(c); !link.empty()) {
    page.element("a", {{"href", link}}, c.title);
  } else {
    page.text(c.title);
  }
  page.text(", " + c.precision + ", law " + c.law);
}

/// What fails and why, of the case that tells most.
void first_failure(Markup& page, const Results& results, const Ranking& ranking) {
  const CaseRecord* c = telling_failure(results);
  if (c == nullptr) return;
  page.element("p", {{"class", "bad"}}, failure_sentence(*c) + ".");
  const auto p = page.open("p");
  page.text("In ");
  linked(page, ranking, *c);
  page.text(".");
}

/// The passing case nearest to a limit in a way that few clean ones are.
void most_unusual_line(Markup& page, const Ranking& ranking) {
  const Usual& usual = ranking.usual();
  const auto& cases = ranking.cases();
  const auto first = std::find_if(cases.begin(), cases.end(), [](const auto* c) { return c->status == Status::pass; });
  const OperationRecord* o = first == cases.end() ? nullptr : most_unusual(**first, usual);
  if (o == nullptr) return;
  const std::string words = usual.text(o->operation, o->standing.format, o->standing.excess);
  const auto p = page.open("p");
  page.text("Nearest to a limit for its kind: " + o->operation + (o->variant.empty() ? "" : "/" + o->variant) +
            " uses " + significant(o->standing.excess) + " of its bound beyond the last rounding" +
            (words.empty() ? "" : " (as much: " + words + ")") + " in ");
  linked(page, ranking, **first);
  page.text(".");
}

/// What there is to decide about the change: the gate's last line.
void decision(Markup& page, const Results& results, const ReportContext& context) {
  if (!context.baseline) return;
  std::string text = gate_text(gate(results, *context.baseline));
  while (text.ends_with('\n')) text.pop_back();
  const auto p = page.open("p");
  page.element("strong", {}, "Against the baseline: " + text.substr(text.rfind('\n') + 1));
  page.text(" ");
  page.element("a", {{"href", "#baseline"}}, "what changed");
}

void counts(Markup& page, const Census& census) {
  const auto list = page.open("ul", {{"class", "chips"}});
  for (const Status status : statuses) {
    const auto item = page.open("li");
    const std::uint64_t n = census.cases_of(status);
    page.element("span", {{"class", n > 0 ? "s " + class_of(status) : "muted"}},
                 mark_and_word(status) + " " + grouped(n));
  }
  page.element("li", {}, "of " + counted(census.total, "case"));
}

void status_bar(Markup& page, const Census& census) {
  if (census.total == 0) return;
  const Ink inks[] = {ink::good, ink::limit, ink::limit, ink::series[1], ink::grid};
  constexpr int width = 600, height = 10;
  std::string description;
  for (const Status status : statuses)
    description += std::string(shown_word_of(status)) + " " + grouped(census.cases_of(status)) + "; ";
  Svg svg(page, "status-bar", "Cases by verdict", description, width, height);
  double x = 0;
  for (std::size_t i = 0; i < std::size(statuses); ++i) {
    const double part = width * static_cast<double>(census.cases_of(statuses[i])) / static_cast<double>(census.total);
    if (part > 0) svg.rectangle({x, 0}, part, height, inks[i], "1");
    x += part;
  }
}

void where_it_ran(Markup& page, const Results& results) {
  const Environment& e = results.environment;
  {
    const auto p = page.open("p");
    page.text("Ran on the host executor: " + counted(results.ran_on_host, "tensor check") + ". On a GPU: ");
    if (results.ran_on_device > 0) {
      page.text(grouped(results.ran_on_device) + (e.device.empty() ? "" : " on " + e.device) + ".");
    } else {
      page.element("span", {{"class", "warn"}},
                   "\u2013 not run" + (results.device_message.empty() ? std::string(": 0 checks ran on a device.")
                                                                      : ": " + results.device_message));
    }
  }
  if (const std::string cause = likely_cause_sentence(results); !cause.empty()) page.element("p", {}, cause + ".");
  if (const std::string clean = clean_sentence(results); !clean.empty()) page.element("p", {}, clean + ".");
  if (const std::string spread = spread_sentence(results); !spread.empty())
    page.element("p", {}, "Statistical lens: " + spread + ".");
  if (const std::string certified = certified_sentence(results.certified); !certified.empty())
    page.element("p", {}, "The oracle itself: " + certified + ".");
  for (const std::string& what : results.certified.disagreements)
    page.element("p", {{"class", "warn"}}, "\u203C " + what);
  if (results.partial)
    page.element("p", {{"class", "warn"}},
                 "\u203C Incomplete: " +
                     (results.partial_reason.empty() ? std::string("the run did not end") : results.partial_reason));
}

void reproduce(Markup& page, const Results& results) {
  if (results.cases.empty()) return;
  std::string command = "./tally verify" + subject_options(results.environment);
  command += " --seed " + std::to_string(results.seed);
  if (results.options.find("--cases ") == std::string::npos) command += " --effort " + shortest(results.effort);
  if (!results.options.empty()) command += " " + results.options;
  std::string precisions;
  for (const std::string& p : precisions_of(results)) precisions += (precisions.empty() ? "" : ",") + p;
  const auto p = page.open("p");
  page.text("Draws these cases again: ");
  page.element("code", {{"class", "copy"}}, command + " --precision " + precisions);
}

/// Shown by the script, which it needs.
void text_filter(Markup& page) {
  const auto label = page.open("label", {{"class", "scripted"}, {"hidden", "hidden"}});
  page.text("Filter ");
  page.empty("input", {{"type", "search"}, {"id", "filter"}, {"autocomplete", "off"}});
  page.element("output", {{"id", "filtered"}, {"for", "filter"}}, "");
}

void navigation(Markup& page, const Results& results, const ReportContext& context) {
  const auto nav = page.open("nav", {{"aria-label", "Sections"}});
  const auto list = page.open("ul");
  const auto link = [&page](const char* id, const char* text) {
    const auto item = page.open("li");
    page.element("a", {{"href", std::string("#") + id}}, text);
  };
  link("overview", "Overview");
  if (has_failures(results)) link("failures", "Failures");
  if (context.baseline) link("baseline", "Baseline");
  if (!context.history.empty()) link("history", "History");
  if (has_kernels(results)) link("kernels", "Kernels");
  if (!results.cases.empty()) link("worst", "Nearest cases");
  if (has_drift(results)) link("drift", "Drift");
  if (!results.laws.empty()) link("laws", "Laws");
  if (!results.faults.empty() || !results.laws.empty()) link("fault-coverage", "Fault coverage");
  if (has_study(results, "bench", "rules")) link("rules", "Rules");
  if (has_study(results, "bench", "tolerances")) link("evidence", "Evidence");
  if (has_study(results, "bench", "coverage")) link("reached", "Branches and loops");
  if (has_study(results, "bench", "excess")) link("excess", "Usual excess");
  if (has_study(results, "bench", "gate")) link("gate", "Trust in the gate");
  if (!results.training.empty()) link("training", "Training");
  if (!results.environment.ledger.empty()) link("ledger", "Ledger");
  link("environment", "Environment");
  link("reading", "How to read");
}

}  // namespace

void header_section(Markup& page, const Results& results, const ReportContext& context, const Ranking& ranking) {
  const Census census = census_of(results);
  const auto header = page.open("header");
  page.element("p", {{"class", "eyebrow"}},
               "Tally \u00B7 gradient accumulation against its exact answer \u00B7 campaign " + results.campaign +
                   ", seed " + std::to_string(results.seed));
  {
    const auto box = page.open("div", {{"class", "verdict " + class_of(verdict_of(results))}});
    headline(page, results);
    first_failure(page, results, ranking);
    decision(page, results, context);
    counts(page, census);
    status_bar(page, census);
    if (!has_failures(results)) most_unusual_line(page, ranking);
    where_it_ran(page, results);
    reproduce(page, results);
  }
  navigation(page, results, context);
  const auto bar = page.open("div", {{"class", "bar"}, {"role", "group"}, {"aria-label", "View"}});
  radios(page, "Rows", "rows", {{"all", "all"}, {"failing", "failing only"}, {"notable", "not passing"}});
  precision_radios(page, results);
  theme_radios(page);
  text_filter(page);
}

void footer_section(Markup& page, const Results& results) {
  const auto footer = page.open("footer");
  page.element("p", {},
               "Made by Tally " + results.environment.tally_version + " from results.json, schema " +
                   std::to_string(results.schema) + ", SHA-256 ");
  page.element("code", {}, hex(sha256_digest(to_json(results))));
}

}  // namespace tally
