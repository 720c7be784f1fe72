#include "reports/html/formula.hpp"

namespace tally {
namespace {

void formula(Markup& page, const char* text, const char* presentation) {
  const auto p =
      page.open("p", {{"class", "formula"}, {"tabindex", "0"}, {"role", "group"}, {"aria-label", "Formula"}});
  const auto math = page.open("math", {{"display", "block"}, {"alttext", text}, {"aria-label", text}});
  page.trusted(presentation);
}

}  // namespace

void ratio_formula(Markup& page) {
  formula(
      page, "r = |got - v| / e, limit 1",
      "<mrow><mi>r</mi><mo>=</mo><mfrac><mrow><mo>|</mo><mi mathvariant=\"normal\">got</mi><mo>\u2212</mo><mi>v</mi>"
      "<mo>|</mo></mrow><mi>e</mi></mfrac><mo>\u2264</mo><mn>1</mn></mrow>");
}

void drift_formula(Markup& page) {
  formula(
      page, "A - F = (A - a) + (a - f) - (F - f)",
      "<mrow><mi>A</mi><mo>\u2212</mo><mi>F</mi><mo>=</mo><munder><mrow><mo>(</mo><mi>A</mi><mo>\u2212</mo><mi>a</mi>"
      "<mo>)</mo></mrow><mtext>rounding drift</mtext></munder><mo>+</mo><munder><mrow><mo>(</mo><mi>a</mi>"
      "<mo>\u2212</mo><mi>f</mi><mo>)</mo></mrow><mtext>semantic gap</mtext></munder><mo>\u2212</mo><munder><mrow>"
      "<mo>(</mo><mi>F</mi><mo>\u2212</mo><mi>f</mi><mo>)</mo></mrow><mtext>full batch\u2019s own</mtext></munder>"
      "</mrow>");
  page.element("p", {{"class", "muted"}},
               "A and F: the subject's accumulated and full-batch gradients. a and f: the exact ones.");
}

}  // namespace tally
