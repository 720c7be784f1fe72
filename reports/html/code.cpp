#include "reports/html/pieces.hpp"

namespace tally {

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
