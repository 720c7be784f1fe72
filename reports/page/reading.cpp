#include "reports/html/formula.hpp"
#include "reports/page/sections.hpp"
#include "reports/text/words.hpp"

namespace tally {
namespace {

struct Term {
  const char* name;
  const char* meaning;
};

constexpr Term terms[] = {
    {"r", "error / bound of an element; the limit is 1. 0 where the error is 0, infinite where only the bound is 0."},
    {"excess",
     "What is used of a bound beyond its last rounding: (error - u) / (bound - u), u half an ulp as stored; the limit "
     "is 1. "
     "A bound of one rounding is always reached, so r alone would tell nothing."},
    {"bound", "The largest error that correct arithmetic of the declared formats can make. Derived, never tuned."},
    {"K", "The number of micro-batches in a window."},
    {"window", "One accumulation cycle, which ends in one optimizer step."},
    {"local lens",
     "Each stage against the exact function of its own input bits. The first stage that fails is the place."},
    {"end-to-end lens", "The whole window from its initial bits, value and bound carried through every stage."},
    {"semantic gap", "What the recipe changes against the full batch in exact arithmetic. 0 for an equivalent recipe."},
    {"rounding drift", "What the subject's arithmetic adds to the exact accumulated answer."},
    {"tap", "A tensor that the subject shows, with its exact bits."},
};

constexpr Term verdicts[] = {
    {"pass", "Every informative check is inside its bound."},
    {"fail", "A check is outside its bound, not finite where the answer is, or different where equality is promised."},
    {"vacuous", "The bound is wider than the signal, so the check shows nothing. It never counts as a pass."},
    {"not_run", "Nothing was judged; the reason stands beside it. It never counts as a pass."},
    {"error", "The case could not be run or judged."},
};

constexpr Term exit_codes[] = {
    {"0", "pass"},
    {"1", "a law, a seeded fault or the gate failed"},
    {"2", "wrong usage or unreadable input"},
    {"3", "the environment or Tally itself failed"},
    {"4", "nothing ran, or all of it was vacuous"},
    {"5", "the gate found nothing but new cases that nobody has blessed"},
    {"77", "the device asked for is absent"},
    {"130", "interrupted; what was found is kept and marked as incomplete"},
};

template <std::size_t n>
void list(Markup& page, const char* title, const Term (&entries)[n], bool marks = false) {
  page.element("h3", {}, title);
  const auto dl = page.open("dl");
  Status status = Status::pass;
  for (const Term& entry : entries) {
    page.element("dt", {}, marks ? mark_and_word(status) : entry.name);
    page.element("dd", {}, entry.meaning);
    status = static_cast<Status>(static_cast<int>(status) + 1);
  }
}

}  // namespace

void reading_section(Markup& page, const Results&) {
  const auto section = page.open("section", {{"aria-labelledby", "reading"}});
  page.element("h2", {{"id", "reading"}}, "How to read this page");
  ratio_formula(page);
  list(page, "Words", terms);
  list(page, "Verdicts", verdicts, true);
  list(page, "Exit codes", exit_codes);
  page.element("p", {{"class", "muted"}},
               "Every number of this page, in full precision, is in results.json beside it.");
}

}  // namespace tally
