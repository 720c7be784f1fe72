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
  term("tensor",
       "Named by its place: w0/m1/loss/d.y is of window 0, micro-batch 1, stage loss. in. stands before what the stage "
       "read, d. before a gradient, buffer. before an accumulated one (.grad). loss/in.factor is what each item's loss "
       "is multiplied by, loss/d.y the gradient of the model's output.");
  term("by itself, local lens",
       "A stage against the exact function of its own input bits. The first stage that fails is the place.");
  term("group lens, unscale..optimizer",
       "Stages between which nothing was recorded, judged as one: from what the first read to what the last left.");
  term("end to end, end_to_end lens",
       "From the initial bits of the case, value and bound carried through every stage.");
  term("semantic gap", "What the recipe that was stated changes against the full batch, in exact arithmetic.");
  term("the loop's own gap",
       "How far the gradient that the loop came to is from that of the stated recipe, in the window that fails first.");
  term("rounding drift", "What the run's arithmetic adds to the exact accumulated answer.");
  term("vacuous", "The bound is wider than the signal, so the check shows nothing. It never counts as a pass.");
  term("exit codes",
       "0 pass, 1 failed, 2 wrong usage or unreadable input, 3 the machine lacks something (memory, disk) or Tally "
       "itself failed, 4 tensors are missing or everything is vacuous, 130 interrupted. Other commands return 5 only "
       "for unblessed new cases, 77 where a device is absent.");
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
