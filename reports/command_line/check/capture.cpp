// All that is said of a judged capture.
#include "reports/command_line/check/capture.hpp"

#include <algorithm>
#include <utility>

#include "kernels/trace/stage_group.hpp"
#include "oracle/case/file/json.hpp"
#include "oracle/case/io.hpp"
#include "oracle/case/ranks.hpp"
#include "properties/diagnosis/judged_capture.hpp"
#include "properties/diagnosis/sentences.hpp"
#include "properties/judge/lens.hpp"
#include "properties/judge/ranks/ranks_of_trace.hpp"
#include "properties/judge/two_runs.hpp"
#include "reports/command_line/output.hpp"
#include "reports/text/text.hpp"

namespace tally::command_line {
namespace {

constexpr std::size_t most_operations = 100, longest_word = 80;

void add(std::string& line, const std::string& part) { line += (line.empty() ? "" : ", ") + part; }

std::string of_all(const Claims& claims) {
  std::string line;
  add(line, "recipe constants in " + claims.constants);
  add(line, "divided by " + claims.divide);
  if (claims.factor != Claims{}.factor) add(line, "the factor in " + claims.factor);
  if (claims.flushes_subnormals) add(line, "products flush subnormals");
  if (claims.tensor_cores) add(line, "products on tensor cores");
  if (claims.tensor_core != Claims{}.tensor_core) add(line, "of the generation " + claims.tensor_core);
  if (claims.tf32_rounding != Claims{}.tf32_rounding) add(line, "TF32 operands: " + claims.tf32_rounding);
  return line;
}

std::string of_kernel(const KernelClaim& claim) {
  std::string line;
  if (!claim.variant.empty()) add(line, shortened(claim.variant, longest_word));
  add(line, claim.repeats == Repeats::bitwise ? "same bits each time" : "bits differ from run to run");
  if (!claim.algorithm.empty()) add(line, "algorithm " + shortened(claim.algorithm, longest_word));
  if (!claim.additions.empty())
    add(line, "additions in " + counted(claim.additions.size(), "step"));
  else
    add(line, claim.height == 0 ? "any order of additions" : "height " + std::to_string(claim.height));
  if (claim.global_float_atomics) add(line, "atomic additions");
  if (claim.splits != 1) add(line, claim.splits == 0 ? "any split" : counted(claim.splits, "part"));
  if (claim.function_ulp != 0) add(line, "functions within " + shortest(claim.function_ulp) + " ulp");
  if (claim.as_written) add(line, "arithmetic as written");
  return line;
}

}  // namespace

std::vector<std::string> claims_in_short(const Claims& claims) {
  std::vector<std::string> lines{"subject: " + shortened(claims.subject, longest_word), of_all(claims)};
  std::size_t told = 0;
  for (const auto& [operation, claim] : claims.kernels) {
    if (told++ == most_operations) {
      lines.push_back("and " + std::to_string(claims.kernels.size() - most_operations) + " more operations");
      break;
    }
    lines.push_back(shortened(operation, longest_word) + ": " + of_kernel(claim));
  }
  return lines;
}

namespace {

bool is_vacuous(const JudgedCapture& judged) { return !judged.dead.empty() && exit_code_of(judged.checks) == pass; }

std::string verdict_of(const JudgedCapture& judged) {
  const int code = exit_code_of(judged.checks);
  return is_vacuous(judged) ? "vacuous" : code == pass ? "pass" : code == failed ? "fail" : "not_judged";
}

/// A group stands where its first stage would.
auto place_of(const std::string& stage) { return place_of_stage(stage.substr(0, stage.find(".."))); }

std::vector<std::string> stages_of(const std::vector<TensorCheck>& checks) {
  std::vector<std::string> stages;
  for (const TensorCheck& check : checks)
    if (std::find(stages.begin(), stages.end(), check.stage) == stages.end()) stages.push_back(check.stage);
  std::stable_sort(stages.begin(), stages.end(),
                   [](const std::string& a, const std::string& b) { return place_of(a) < place_of(b); });
  return stages;
}

void take_gap(CaptureRecord& record, const Case& c, bool all_lenses) {
  if (!all_lenses && may_have_gap(c)) return;
  CaptureGap gap = gap_of_capture(c);
  record.semantic_gap = gap.gradient;
  record.gap_sentence = std::move(gap.sentence);
}

void take_failure(CaptureRecord& record, const Case& c, const Trace& trace, const JudgedCapture& judged,
                  const std::map<std::string, CodePlace>& places) {
  const TensorCheck* failure = first_failure(judged.checks);
  if (failure == nullptr) return;
  record.first_tap = failure->tap, record.first_stage = failure->stage;
  record.cause = cause_of(judged);
  record.remedies = remedies_of(c, judged);
  record.sentence = sentence_of(c, trace, judged);
  if (const auto call = faulty_call(judged, places)) {
    record.place = call->file + ":" + std::to_string(call->line);
    record.place_text = call->text;
  }
  if (const auto gap = loop_gap(c, trace, judged.checks)) {
    record.own_gap = gap->gradient;
    record.own_gap_window = gap->window;
  }
}

void take_drift(CaptureRecord& record) {
  const auto drift = first_gradient_drift(record.checks);
  if (!drift) return;
  record.rounding_drift = drift->rounding;
  record.drift_bound = drift->bound;
}

std::string lines(const std::string& before, const std::vector<std::string>& texts) {
  std::string text;
  for (const std::string& each : texts) text += before + each + "\n";
  return text;
}

std::string group_line(const std::vector<std::string>& groups) {
  std::string text;
  for (const std::string& group : groups)
    text += (text.empty() ? "judged as one group, as nothing between was recorded: " : ", ") + group;
  return text.empty() ? "" : text + "\n";
}

constexpr std::string_view unjudged = "not judged: ", assumed = "assumed: ";

/// What the recorder says that it left out, each by its first words: "the loss and its normalisation".
std::string left_out(const CaptureRecord& capture) {
  std::string text;
  for (std::string_view line : capture.not_judged) {
    if (!line.starts_with(unjudged) || line.starts_with("not judged: forward")) continue;
    line.remove_prefix(unjudged.size());
    for (const std::string_view end : {" (", ": ", " was ", " is ", " at "}) line = line.substr(0, line.find(end));
    text += (text.empty() ? "" : ", ") + std::string(line);
  }
  return text;
}

bool is_missing(const TensorCheck& check) { return check.status == Status::not_run; }

/// What is wrong; what to change; where; the first tensor that fails.
std::string failure_lines(const CaptureRecord& capture) {
  const auto line = [](const char* before, const std::string& text) {
    return text.empty() ? "" : before + text + "\n";
  };
  const std::string at = capture.place + (capture.place_text.empty() ? "" : ": " + capture.place_text);
  return line("fail: ", capture.cause) + line("  change: ", first_remedy_of(capture)) + line("  at ", at) +
         line("  first wrong: ", capture.sentence);
}

std::string gap_lines(const CaptureRecord& capture) {
  std::string text;
  if (!capture.gap_sentence.empty()) text = "semantic gap of the stated recipe: " + capture.gap_sentence + "\n";
  return capture.own_gap ? text + "the loop's own gap: " + own_gap_of(capture) + "\n" : text;
}

/// The remedies of the suspects behind the first, whose own remedy the verdict says.
std::string other_remedies(const CaptureRecord& capture) {
  std::string text;
  for (std::size_t i = 1; i < capture.remedies.size(); ++i)
    text += "  for " + capture.suspects[i].name + ": " + capture.remedies[i] + "\n";
  return text;
}

std::string verdict_line(const CaptureRecord& capture) {
  const bool some_not_shown = !not_shown(capture.checks).empty();
  if (capture.verdict == "pass") {
    const std::string left = left_out(capture);
    return (left.empty() ? some_not_shown ? "pass, but some tensors could not be judged" : "pass"
                         : "pass, but not judged: " + left + (some_not_shown ? ", some tensors" : "")) +
           "\n";
  }
  if (capture.verdict == "fail") return failure_lines(capture);
  if (capture.verdict == "vacuous") return "vacuous: " + capture.sentence + "\n";
  const bool needs_inputs = capture.lenses == "local" && std::ranges::any_of(capture.checks, is_missing);
  return needs_inputs ? "not judged: --lens local needs the inputs of every stage, and this capture lacks some; leave "
                        "the option out, or record at level=\"window\"\n"
                      : "not judged: recorded tensors are missing, or every bound is wider than its value\n";
}

}  // namespace

int exit_code_of(const JudgedCapture& judged) { return is_vacuous(judged) ? nothing_ran : exit_code_of(judged.checks); }

CaptureRecord capture_record(const Case& c, const Trace& trace, bool all_lenses, JudgedCapture judged,
                             std::vector<std::string> assumptions, const std::map<std::string, CodePlace>& places) {
  CaptureRecord record;
  record.verdict = verdict_of(judged);
  record.case_hash = trace.case_hash, record.case_name = c.name, record.case_title = title_of(c);
  record.recipe = "normalisation " + std::string(name_of(c.normalisation));
  record.lenses = all_lenses ? "all" : "local";
  for (std::size_t w = 0; w < c.windows.size(); ++w) record.windows.push_back(static_cast<int>(micro_steps_of(c, w)));
  record.ranks = rank_rows(c, judged.checks);
  record.stages = stages_of(judged.checks);
  take_failure(record, c, trace, judged, places);
  if (record.verdict == "vacuous") record.sentence = judged.dead;
  record.not_judged = not_judged(c, judged.checks, all_lenses);
  record.not_judged.insert(record.not_judged.end(), judged.notes.begin(), judged.notes.end());
  for (std::string& line : assumptions) {
    const bool of_the_rest = line.starts_with(unjudged);
    if (line.starts_with(assumed)) line.erase(0, assumed.size());
    (of_the_rest ? record.not_judged : record.assumptions).push_back(std::move(line));
  }
  record.claims = claims_in_short(trace.claims);
  record.groups = std::move(judged.groups);
  record.checks = std::move(judged.checks);
  record.suspects = std::move(judged.suspects);
  take_gap(record, c, all_lenses);
  take_drift(record);
  return record;
}

std::string capture_text(const CaptureRecord& capture, bool all_figures) {
  return capture.case_title + "\n" + stage_table(capture.checks, all_figures) + group_line(capture.groups) +
         lines("", capture.not_judged) + suspect_list(capture.suspects) + other_remedies(capture) +
         lines("assumed: ", capture.assumptions) + gap_lines(capture) + verdict_line(capture);
}

}  // namespace tally::command_line
