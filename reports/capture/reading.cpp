#include "reports/capture/sections.hpp"
#include "reports/html/formula.hpp"

namespace tally {

namespace {

void words(Markup& page) {
  const auto list = page.open("dl");
  const auto term = [&page](const char* name, const char* meaning) {
    page.element("dt", {}, name);
    page.element("dd", {}, meaning);
  };
  term("bound",
       "The largest error that correct arithmetic can make, as the claims say how it computes. Derived, never tuned.");
  term("by itself",
       "A stage against the exact function of its own input bits. The first stage that fails is the place.");
  term("end to end", "From the initial bits of the case, value and bound carried through every stage.");
  term("semantic gap", "What the recipe itself changes against the full batch, in exact arithmetic.");
  term("rounding drift", "What the run's arithmetic adds to the exact accumulated answer.");
  term("vacuous", "The bound is wider than the signal, so the check shows nothing. It never counts as a pass.");
  term("exit codes",
       "0 pass, 1 failed, 2 wrong usage or unreadable input, 4 taps are missing or everything is vacuous.");
}

}  // namespace

void capture_reading_section(Markup& page, const CaptureRecord& capture) {
  const auto section = page.open("section", {{"aria-labelledby", "reading"}});
  page.element("h2", {{"id", "reading"}}, "How to read this page");
  ratio_formula(page);
  words(page);
  page.element("p", {{"class", "muted"}}, "The case's hash is " + capture.case_hash + ".");
}

}  // namespace tally
