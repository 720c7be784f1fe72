#include "reports/page/sections.hpp"
#include "reports/text/sha256.hpp"

namespace tally {

void footer_section(Markup& page, const Results& results) {
  const auto footer = page.open("footer");
  page.element("p", {},
               "Made by Tally " + results.environment.tally_version + " from results.json, schema " +
                   std::to_string(results.schema) + ", SHA-256 ");
  page.element("code", {}, hex(sha256_digest(to_json(results))));
}

}  // namespace tally
