#include <algorithm>

#include "reports/capture/capture_report.hpp"
#include "reports/capture/sections.hpp"
#include "reports/html/document.hpp"
#include "reports/html/pieces.hpp"
#include "reports/text/numbers.hpp"
#include "reports/text/words.hpp"

namespace tally {
namespace {

Status status_of(const CaptureRecord& capture) {
  return capture.verdict == "pass" ? Status::pass : capture.verdict == "fail" ? Status::fail : Status::not_run;
}

std::size_t checks_of(const CaptureRecord& capture, Status status) {
  return static_cast<std::size_t>(std::count_if(capture.checks.begin(), capture.checks.end(),
                                                [status](const TensorCheck& check) { return check.status == status; }));
}

void headline(Markup& page, const CaptureRecord& capture) {
  const std::string text = headline_of(capture);
  const auto space = text.find("  ");
  const auto h1 = page.open("h1");
  page.element("span", {{"class", "word"}}, std::string(mark_of(status_of(capture))) + " " + text.substr(0, space));
  page.text(" " + text.substr(space + 2));
}

void counts(Markup& page, const CaptureRecord& capture) {
  const auto list = page.open("ul", {{"class", "chips"}});
  for (const Status status : {Status::pass, Status::fail, Status::vacuous, Status::not_run}) {
    const std::size_t n = checks_of(capture, status) + (status == Status::fail ? checks_of(capture, Status::error) : 0);
    const auto item = page.open("li");
    page.element("span", {{"class", n > 0 ? "s " + class_of(status) : "muted"}},
                 mark_and_word(status) + " " + grouped(n));
  }
  page.element("li", {}, "of " + counted(capture.checks.size(), "tensor check"));
}

/// Whether forward and backward are the capture's own.
bool has_given_gradients(const CaptureRecord& capture) {
  return std::ranges::any_of(capture.not_judged,
                             [](const std::string& what) { return what.starts_with("forward and backward: given"); });
}

/// "2 of 59 tensor checks are outside their bounds, first at stage loss".
std::string outside_of(const CaptureRecord& capture) {
  const std::size_t failed = failed_checks(capture);
  return grouped(failed) + " of " + counted(capture.checks.size(), "tensor check") + (failed == 1 ? " is" : " are") +
         " outside their bounds, first at stage " + capture.first_stage;
}

/// What to change, where, and what fails first.
void failure(Markup& page, const CaptureRecord& capture) {
  if (failed_checks(capture) == 0) return;
  if (const std::string remedy = first_remedy_of(capture); !remedy.empty()) {
    const auto p = page.open("p", {{"class", "bad"}});
    page.text("What to change: ");
    with_code(page, remedy);
  }
  if (!capture.place.empty()) {
    const auto p = page.open("p");
    page.text("At " + capture.place + (capture.place_text.empty() ? "" : ": "));
    if (!capture.place_text.empty()) page.element("code", {{"class", "long"}}, capture.place_text);
  }
  page.element("p", {}, outside_of(capture) + ".");
  if (!capture.first_tap.empty() && !capture.sentence.empty())
    page.element("p", {}, "First wrong: " + capture.sentence + ".");
}

/// What the recipe itself changes; of a capture that fails that is not what the loop does, which stands beside it.
void gap(Markup& page, const CaptureRecord& capture) {
  const std::string recipe = "Semantic gap of the recipe that was stated (" + capture.recipe + "): ";
  if (!capture.gap_sentence.empty())
    page.element("p", {{"class", "warn"}}, recipe + capture.gap_sentence + ".");
  else if (capture.semantic_gap)
    page.element("p", {},
                 recipe + "none, in exact arithmetic it gives the full batch's gradient" +
                     std::string(has_given_gradients(capture) ? ", of a model that treats every row by itself." : "."));
  if (failed_checks(capture) > 0) page.element("p", {}, "The loop's own gap: " + own_gap_of(capture) + ".");
}

void drift(Markup& page, const CaptureRecord& capture) {
  gap(page, capture);
  if (failed_checks(capture) == 0 && capture.rounding_drift)
    page.element("p", {},
                 "Rounding drift of the first window's gradient: " + significant(*capture.rounding_drift) +
                     " of its norm, bound " + significant(capture.drift_bound.value_or(0)) + ".");
}

void navigation(Markup& page, const CaptureRecord& capture) {
  const auto nav = page.open("nav", {{"aria-label", "Sections"}});
  const auto list = page.open("ul");
  const auto link = [&page](const char* id, const char* text) {
    const auto item = page.open("li");
    page.element("a", {{"href", std::string("#") + id}}, text);
  };
  link("grid", "Stages and micro-batches");
  if (!capture.ranks.empty()) link("ranks", "Ranks");
  if (failed_checks(capture) > 0) link("failing", "Outside their bounds");
  if (!capture.suspects.empty()) link("suspects", "What it looks like");
  link("stages", "Stages");
  link("open", "Not judged");
  if (!capture.assumptions.empty()) link("assumed", "Assumed");
  link("claims", "Claims");
  link("reading", "How to read");
}

}  // namespace

std::size_t failed_checks(const CaptureRecord& capture) {
  return checks_of(capture, Status::fail) + checks_of(capture, Status::error);
}

std::string headline_of(const CaptureRecord& capture) {
  const std::string all = counted(capture.checks.size(), "tensor check");
  const std::size_t failed = failed_checks(capture), vacuous = checks_of(capture, Status::vacuous);
  if (failed > 0) return "FAIL  " + (capture.cause.empty() ? outside_of(capture) : capture.cause);
  if (capture.verdict == "pass")
    return "PASS  " + counted(capture.checks.size() - vacuous, "tensor check") + " inside their bounds" +
           (vacuous > 0 ? ", " + grouped(vacuous) + " vacuous" : "");
  const std::size_t missing = checks_of(capture, Status::not_run);
  if (missing > 0) return "NOT JUDGED  the taps for " + grouped(missing) + " of " + all + " are missing";
  if (capture.verdict == "vacuous") return "VACUOUS  " + capture.sentence;
  return "NOT JUDGED  every bound is wider than its signal: nothing was shown";
}

void capture_header(Markup& page, const CaptureRecord& capture) {
  const auto header = page.open("header");
  page.element("p", {{"class", "eyebrow"}},
               "Tally \u00B7 a capture against its exact answer" +
                   (capture.case_name.empty() ? "" : " \u00B7 case " + capture.case_name));
  {
    const auto box = page.open("div", {{"class", "verdict " + class_of(status_of(capture))}});
    headline(page, capture);
    failure(page, capture);
    page.element(
        "p", {},
        capture.case_title + (capture.lenses == "local" ? "; by --lens local: each stage by what it read alone" : ""));
    counts(page, capture);
    drift(page, capture);
  }
  navigation(page, capture);
  const auto bar = page.open("div", {{"class", "bar"}, {"role", "group"}, {"aria-label", "View"}});
  theme_radios(page);
}

}  // namespace tally
