// What every page has: head, what of it is shown, formulas, anchors, code.
#include "reports/html/document.hpp"

#include <algorithm>

#include "reports/census/census.hpp"
#include "reports/text/stored_text.hpp"
#include "reports/text/text.hpp"

namespace tally {

void page_head(Markup& page, const std::string& title, const std::string& script) {
  const std::string style = style_sheet();
  const std::string allowed = script.empty() ? "" : "; script-src 'sha256-" + base64(sha256_digest(script)) + "'";
  const auto open = page.open("head");
  page.empty("meta", {{"charset", "utf-8"}});
  page.empty("meta", {{"http-equiv", "Content-Security-Policy"},
                      {"content", "default-src 'none'; style-src 'sha256-" + base64(sha256_digest(style)) + "'" +
                                      allowed + "; img-src data:; base-uri 'none'; form-action 'none'"}});
  page.empty("meta", {{"name", "viewport"}, {"content", "width=device-width, initial-scale=1"}});
  page.element("title", {}, title);
  page.empty("link", {{"rel", "icon"}, {"href", "data:,"}});
  page.newline();
  const auto element = page.open("style");
  page.trusted(style);
}

void page_script(Markup& page, const std::string& script) {
  const auto element = page.open("script");
  page.trusted(script);
}

void radios(Markup& page, const char* legend, const char* name,
            const std::vector<std::pair<std::string, std::string>>& choices) {
  const auto set = page.open("fieldset");
  page.element("legend", {}, legend);
  for (const auto& [value, text] : choices) {
    const auto label = page.open("label");
    page.empty("input", {{"type", "radio"},
                         {"name", name},
                         {"id", std::string(name) + "-" + value},
                         {"checked", &value == &choices.front().first ? "checked" : ""}});
    page.text(" " + text);
  }
}

void theme_radios(Markup& page) {
  radios(page, "Theme", "theme", {{"system", "system"}, {"light", "light"}, {"dark", "dark"}});
}

namespace {

bool is_storage(const std::string& precision) {
  return std::find(storage_precisions.begin(), storage_precisions.end(), precision) != storage_precisions.end();
}

std::string rule_of(const std::string& precision) {
  return "header:has(#precision-" + precision + ":checked)~main [data-p]:not([data-p=" + precision +
         "]){display:none}\n";
}

}  // namespace

bool can_be_chosen(const std::string& precision) { return is_storage(precision) || precision == "fp64"; }

void precision_radios(Markup& page, const Results& results) {
  std::vector<std::pair<std::string, std::string>> choices{{"all", "all"}};
  for (const std::string& precision : precisions_of(results))
    if (can_be_chosen(precision)) choices.emplace_back(precision, precision);
  if (choices.size() > 2) radios(page, "Precision", "precision", choices);
}

std::string precision_rules() {
  std::string rules;
  for (const char* precision : storage_precisions) rules += rule_of(precision);
  return rules + rule_of("fp64");
}

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

std::string anchor(std::string_view prefix, std::string_view text) {
  std::string out(prefix);
  const std::string shown = visible(text);  // the same link before and after a trip through results.json
  for (std::string_view rest = shown; !rest.empty();) {
    const char32_t c = take_code_point(rest);
    const bool plain = (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '-';
    out += plain ? static_cast<char>(c) : '_';
  }
  return out;
}

std::string anchor_of(const CaseRecord& c) { return anchor("c-", c.id); }

void with_code(Markup& page, std::string_view text) {
  for (bool code = false; !text.empty(); code = !code) {
    const std::size_t end = text.find('`');
    const std::string_view part = text.substr(0, end);
    if (code)
      page.element("code", {}, part);
    else
      page.text(part);
    text.remove_prefix(end == std::string_view::npos ? text.size() : end + 1);
  }
}

}  // namespace tally
