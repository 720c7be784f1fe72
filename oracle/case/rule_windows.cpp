#include "oracle/case/json.hpp"
#include "oracle/case/limits.hpp"
#include "oracle/case/ranks.hpp"
#include "oracle/case/rules.hpp"

namespace tally {

void check_windows(const Case& c, Findings& findings) {
  if (c.windows.empty()) findings.add_broken("$.windows", "an empty list", "at least one window");
  std::size_t micro_batches = 0;
  for (const auto& window : c.windows) micro_batches += window.size();
  if (micro_batches > most_micro_batches) {
    findings.add_broken("$.windows", std::to_string(micro_batches) + " micro-batches",
                        "at most " + std::to_string(most_micro_batches));
    return;
  }
  constexpr auto most_rows = static_cast<std::int64_t>(most_elements);
  std::int64_t rows = 0;
  for (std::size_t w = 0; w < c.windows.size(); ++w) {
    const std::string path = element_path("$.windows", w);
    if (c.windows[w].empty()) findings.add_broken(path, "an empty window", "at least one micro-batch");
    for (std::size_t k = 0; k < c.windows[w].size(); ++k) {
      const std::int64_t size = c.windows[w][k];
      if (size < 1 || size > most_rows - rows)
        findings.add_broken(micro_batch_path(c, w, k), std::to_string(size),
                            "a size >= 1, all together at most " + std::to_string(most_rows));
      else
        rows += size;
    }
  }
}

}  // namespace tally
