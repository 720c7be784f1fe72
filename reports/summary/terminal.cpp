#include <algorithm>
#include <map>

#include "reports/census/census.hpp"
#include "reports/census/conclusions.hpp"
#include "reports/census/unusual.hpp"
#include "reports/record/record_kinds.hpp"
#include "reports/record/triggers.hpp"
#include "reports/report.hpp"
#include "reports/text/text.hpp"
#include "reports/text/words.hpp"

namespace tally {
namespace {

using Rows = std::vector<std::vector<std::string>>;

/// "6", or "12: all of fp32, bf16" where a law says nothing in a precision.
std::string vacuous_words(const Results& results, const LawRecord& law) {
  std::map<std::string, bool> silent;
  for (const CaseRecord& c : results.cases)
    if (c.law == law.name) {
      bool& all = silent.try_emplace(c.precision, true).first->second;
      all = all && c.status == Status::vacuous;
    }
  std::string named;
  for (const auto& [precision, all] : silent)
    if (all) named += (named.empty() ? ": all of " : ", ") + precision;
  return grouped(law.vacuous) + named;
}

std::string law_table(const Results& results) {
  if (results.laws.empty()) return "";
  Rows rows = {{"Verdict", "Law", ">Cases", ">Failed", ">Vacuous", ">Not run", ">Checks", ">Worst r", "Control"}};
  for (const LawRecord& law : results.laws) {
    const bool missing = control_is_missing(law);
    const bool ran = law.cases > law.not_run + law.vacuous;
    rows.push_back({mark_and_word(missing ? Status::fail : law.status), law.name, grouped(law.cases),
                    grouped(law.failed), vacuous_words(results, law), grouped(law.not_run), grouped(law.checks),
                    significant(law.worst_ratio),
                    missing                       ? "DOES NOT DIFFER"
                    : !ran || law.control.empty() ? "\u2013"
                                                  : "differs"});
  }
  return "\nLaws\n" + columns(rows);
}

std::string looks_like(const FaultRecord& f) {
  if (f.suspects.empty()) return "\u2013";
  return (f.right_suspect ? "" : "\u2717 ") + f.suspects.front().name + ", " + percent(f.suspects.front().share);
}

/// How often the diagnosis is right, over all faults tried.
std::string diagnosis_shares(const Results& results) {
  const auto of = [&](auto right) {
    const auto count = static_cast<std::size_t>(std::count_if(results.faults.begin(), results.faults.end(), right));
    const double share = static_cast<double>(count) / static_cast<double>(results.faults.size());
    return grouped(count) + " of " + grouped(results.faults.size()) + " (" + percent(share) + ")";
  };
  return "right first stage: " + of([](const FaultRecord& f) { return f.caught && f.right_stage; }) +
         "\nright suspect on top: " + of([](const FaultRecord& f) { return f.caught && f.right_suspect; }) + "\n";
}

std::string fault_table(const Results& results) {
  if (results.faults.empty()) return "";
  Rows rows = {{"Verdict", "Seeded fault", "Planted in", "Found in", "By law", "Looks like", "Smallest caught"}};
  for (const FaultRecord& f : results.faults)
    rows.push_back({f.caught ? "\u2713 caught" : "\u2717 MISSED", f.name, f.stage, f.caught ? f.found_stage : "\u2013",
                    f.law, looks_like(f), smallest_caught_word(f)});
  return "\nSeeded faults\n" + columns(rows) + diagnosis_shares(results);
}

std::string training_table(const Results& results) {
  if (results.training.empty()) return "";
  Rows rows = {{"Verdict", "Training", ">Windows", ">Semantic gap", ">Rounding drift", ">Accumulated", ">Full batch",
                ">Worst r"}};
  const auto last = [](const std::vector<double>& v) { return v.empty() ? "" : significant(v.back()); };
  for (const TrainingRecord& t : results.training)
    rows.push_back({mark_and_word(t.status), t.dataset + ", " + t.model + ", " + t.precision + ", " + t.cut,
                    std::to_string(t.windows), last(t.semantic_gap), last(t.rounding_drift),
                    percent(t.accuracy_accumulated), percent(t.accuracy_full), significant(t.worst_local_ratio)});
  return "\nTraining\n" + columns(rows);
}

std::string nearest_of(const CaseRecord& c, const Usual& usual) {
  const OperationRecord* o = most_unusual(c, usual);
  if (o == nullptr) return c.first_stage.empty() ? "\u2013" : c.first_stage;
  const std::string words = usual.text(o->operation, o->standing.format, o->standing.excess);
  return o->operation + (o->variant.empty() ? "" : "/" + o->variant) + " " + significant(o->standing.excess) +
         (words.empty() ? "" : ", " + words);
}

/// The failing ones, then those that few clean ones are as near to a limit as.
std::string worst_table(const Results& results) {
  constexpr std::size_t most = 8;
  if (results.cases.empty()) return "";
  Rows rows = {
      {"Verdict", "Law", "Precision", ">K", ">Worst r", "Share of its bound used beyond the last rounding", "Case"}};
  const Usual usual(results);
  const auto cases = by_unusualness(results, usual);
  for (std::size_t i = 0; i < std::min(most, cases.size()); ++i) {
    const CaseRecord& c = *cases[i];
    rows.push_back({mark_and_word(c.status), c.law, c.precision, std::to_string(c.micro_batches),
                    significant(ratio_of(c)), nearest_of(c, usual), c.title});
  }
  return "\nCases nearest to a limit\n" + columns(rows);
}

std::string failures(const Results& results) {
  constexpr std::size_t most = 8;
  std::string out;
  std::size_t failed = 0;
  for (const CaseRecord* c : by_severity(results)) {
    if (c->status != Status::fail) break;
    if (++failed > most) continue;
    out += "\n" + failure_text(*c, results.environment, 1);
  }
  if (failed > most) out += "\nAnd " + counted(failed - most, "failing case") + " more: see report.html.\n";
  return out;
}

std::string clean_cases(const Results& results) {
  const std::string sentence = clean_sentence(results);
  return sentence.empty() ? "" : "  " + sentence + "\n";
}

std::string cause(const Results& results) {
  const std::string sentence = likely_cause_sentence(results);
  return sentence.empty() ? "" : "  " + one_line(sentence) + "\n";
}

std::string statistical_lens(const Results& results) {
  const std::string sentence = spread_sentence(results);
  return sentence.empty() ? "" : "  statistical lens: " + one_line(sentence) + "\n";
}

std::string certified(const Results& results) {
  const std::string sentence = certified_sentence(results.certified);
  std::string text = sentence.empty() ? "" : "  " + one_line(sentence) + "\n";
  for (const std::string& what : results.certified.disagreements) text += "  \u2717 " + one_line(what) + "\n";
  return text;
}

/// What few cases show, by name; launch paths by their number, as the page names them.
std::string few_words(const Results& results) {
  std::string text;
  std::size_t paths = 0;
  for (const TriggerRecord& trigger : results.triggers) {
    if (!is_seen_by_few(trigger)) continue;
    paths += trigger.kind == trigger_kind::path;
    if (trigger.kind != trigger_kind::path)
      text += "  few cases: " + one_line(trigger.group + ", " + trigger.name) + " (" + grouped(trigger.seen) + ")\n";
  }
  return paths == 0 ? text : text + "  few cases: " + grouped(paths) + " launch paths; the page says which\n";
}

std::string pairs_line(const PairsRecord& pairs) {
  constexpr std::size_t shown = 3;
  std::string text = pairs_sentence(pairs);
  if (text.empty()) return text;
  for (std::size_t i = 0; i < std::min(shown, pairs.unseen.size()); ++i)
    text += (i == 0 ? "; not yet " : ", ") + one_line(pairs.unseen[i]);
  return "  " + text + (pairs.unseen.size() > shown ? ", …; the page says which\n" : "\n");
}

/// How many were reached and, where all were asked for, the ones that were not. A run that was interrupted may reach any.
std::string terminal_triggers(const Results& results) {
  if (results.triggers.empty() || results.partial) return "";
  std::string text = "  " + one_line(trigger_sentence(results.triggers)) + "\n" + pairs_line(results.pairs);
  if (results.triggers_required) text += few_words(results);
  if (!triggers_are_missing(results)) return text;
  for (const TriggerRecord& trigger : results.triggers)
    if (is_unreached(trigger)) text += "  \u2717 not reached: " + one_line(trigger.group + ", " + trigger.name) + "\n";
  return text;
}

std::string where_it_is(const Results& results) {
  std::string text =
      "  host executor: " + counted(results.ran_on_host, "tensor check") + "; GPU: " + grouped(results.ran_on_device);
  if (results.ran_on_device == 0) text += " (not run)";
  return text + (results.device_message.empty() ? "" : "; " + one_line(results.device_message)) + "\n";
}

}  // namespace

std::string terminal_summary(const Results& results) {
  return verdict_sentence(results) + "\n" + where_it_is(results) + cause(results) + clean_cases(results) +
         statistical_lens(results) + certified(results) + terminal_triggers(results) + law_table(results) +
         fault_table(results) + training_table(results) + worst_table(results) + failures(results);
}

}  // namespace tally
