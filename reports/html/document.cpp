#include "reports/html/document.hpp"

#include "reports/html/pieces.hpp"
#include "reports/text/sha256.hpp"

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

}  // namespace tally
