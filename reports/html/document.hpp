// What every page starts with: head, policy, style sheet; and the radio buttons of its bar.
#pragma once

#include <string>
#include <utility>
#include <vector>

#include "reports/text/markup.hpp"

namespace tally {

/// The head of a page that asks for nothing; it runs only the script given, which its policy names by hash.
void page_head(Markup& page, const std::string& title, const std::string& script = "");

/// At the end of the body, the script that page_head() was told of.
void page_script(Markup& page, const std::string& script);

/// One choice, the first at the start; the style sheet acts on `<name>-<value>:checked`.
void radios(Markup& page, const char* legend, const char* name,
            const std::vector<std::pair<std::string, std::string>>& choices);

/// System, light or dark.
void theme_radios(Markup& page);

}  // namespace tally
