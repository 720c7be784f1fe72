#include "oracle/case/read_windows.hpp"

#include <algorithm>

#include "oracle/case/read_object.hpp"

namespace tally {
namespace {

constexpr const char* expected = "a list of micro-batch sizes, or of such lists, one a rank";

bool is_nested(const Json& json) {
  return json.is(Json::Kind::array) && std::ranges::any_of(json.items, [](const Json& window) {
           return window.is(Json::Kind::array) && !window.items.empty() && window.items[0].is(Json::Kind::array);
         });
}

void read_sizes(const Json& json, const std::string& path, std::vector<std::int64_t>& sizes, Findings& findings) {
  if (!json.is(Json::Kind::array)) findings.add_broken(path, shown(json), expected);
  for (std::size_t k = 0; json.is(Json::Kind::array) && k < json.items.size(); ++k)
    sizes.push_back(read_integer(&json.items[k], element_path(path, k), findings).value_or(1));
}

}  // namespace

void read_windows(const Json* json, Case& c, Findings& findings) {
  if (json == nullptr) return;
  if (!json->is(Json::Kind::array)) findings.add_broken("$.windows", shown(*json), "a list of windows");
  const bool nested = is_nested(*json);
  for (std::size_t w = 0; json->is(Json::Kind::array) && w < json->items.size(); ++w) {
    const Json& window = json->items[w];
    const std::string path = element_path("$.windows", w);
    std::vector<std::int64_t>& sizes = c.windows.emplace_back();
    if (!nested) {
      read_sizes(window, path, sizes, findings);
      continue;
    }
    std::vector<std::int64_t>& counts = c.dealt.emplace_back();
    if (!window.is(Json::Kind::array)) findings.add_broken(path, shown(window), "a list of sizes for each rank");
    for (std::size_t r = 0; window.is(Json::Kind::array) && r < window.items.size(); ++r) {
      const std::size_t before = sizes.size();
      read_sizes(window.items[r], element_path(path, r), sizes, findings);
      counts.push_back(static_cast<std::int64_t>(sizes.size() - before));
    }
  }
}

}  // namespace tally
