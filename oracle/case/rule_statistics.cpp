#include <algorithm>
#include <numeric>

#include "oracle/case/json.hpp"
#include "oracle/case/ranks.hpp"
#include "oracle/case/rules.hpp"

namespace tally {
namespace {

bool uses(const Case& c, std::string_view statistics) {
  return std::any_of(c.model.layers.begin(), c.model.layers.end(), [&](const Layer& layer) {
    return layer.kind == "batch_norm" && layer.text("statistics") == statistics;
  });
}

}  // namespace

/// A batch of one row has no unbiased variance. The full batch takes micro_batch statistics over its window, so a
/// window of one row is one micro-batch of one row and found here too.
void check_statistics(const Case& c, Findings& findings) {
  const bool micro_batch = uses(c, "micro_batch");
  const bool window = uses(c, "window");
  for (std::size_t w = 0; w < c.windows.size(); ++w) {
    const std::string path = element_path("$.windows", w);
    const std::vector<std::int64_t>& sizes = c.windows[w];
    for (std::size_t k = 0; micro_batch && k < sizes.size(); ++k)
      if (sizes[k] < 2)
        findings.add(micro_batch_path(c, w, k), "a micro-batch of one row under \"micro_batch\" statistics",
                     "at least 2 rows");
    if (window && std::accumulate(sizes.begin(), sizes.end(), std::int64_t{0}) < 2)
      findings.add(path, "a window of one row under \"window\" statistics", "at least 2 rows");
  }
}

}  // namespace tally
