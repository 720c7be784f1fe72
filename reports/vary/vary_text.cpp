#include <algorithm>
#include <cmath>
#include <cstdio>

#include "reports/record/record_kinds.hpp"
#include "reports/text/text.hpp"
#include "reports/vary/vary_page.hpp"

namespace tally {
namespace {

constexpr std::size_t most_tensors = 8, most_asks = 4;

std::string line(const std::string& before, const std::string& text) {
  return text.empty() ? "" : before + text + "\n";
}

std::string table_of(const VaryReport& report) {
  if (report.gaps.empty()) return "";
  const bool two = report.precisions.size() == 2;
  std::vector<std::vector<std::string>> rows{{"micro-batches"}};
  for (const std::string& precision : report.precisions) rows.front().push_back(">" + precision);
  if (two) rows.front().push_back(">ratio");
  rows.front().insert(rows.front().end(), {"differs by", "tensor"});
  for (const VaryGap& gap : report.gaps) {
    const bool figures = !gap.tensor.empty();
    std::vector<std::string> row{sizes_text(gap.sizes), figures ? distance_text(gap.in_high) : ""};
    if (two) row.insert(row.end(), {figures ? distance_text(gap.in_low) : "", ratio_text(gap, report)});
    row.insert(row.end(), {gap.kind, gap.tensor});
    rows.push_back(std::move(row));
  }
  return columns(rows);
}

std::string drift_line(const VaryReport& report) {
  if (report.verdict != "pass") return "";
  auto tensors = report.by_tensor();
  std::erase_if(tensors,
                [](const VaryTensorGap& tensor) { return tensor.kind != gap_kind::rounding || !tensor.in_low; });
  std::string text;
  for (std::size_t i = 0; i < std::min(most_tensors, tensors.size()); ++i)
    text += (text.empty() ? "" : ", ") + tensors[i].name + " " + distance_text(tensors[i].in_low);
  if (tensors.size() > most_tensors) text += ", and " + std::to_string(tensors.size() - most_tensors) + " more";
  return line("drift in " + report.precisions.back() + ": ", text);
}

std::string asks_line(const VaryReport& report) {
  if (report.asks.empty()) return "";
  std::string text;
  std::size_t shown = 0;
  for (const HowRun& how : report.asks.runs)
    if (++shown <= most_asks)
      text += (text.empty() ? "" : "; ") + sizes_text(how.sizes) + " in " + how.precision +
              (how.again       ? ", again"
               : how.moved > 0 ? ", moved"
                               : "");
  for (const HowWeights& how : report.asks.weights)
    if (++shown <= most_asks) text += (text.empty() ? "" : "; ") + std::string("weights of ") + sizes_text(how.sizes);
  return "not judged yet: runs are missing (" + text + (shown > most_asks ? "; …" : "") +
         "): `tally_recorder.vary` makes them\n";
}

}  // namespace

std::string distance_text(std::optional<double> distance) {
  if (!distance) return "";
  return std::isnan(*distance) ? "not finite" : significant(*distance);
}

std::string ratio_text(const VaryGap& gap, const VaryReport& report) {
  if (report.precisions.size() < 2 || !std::isfinite(gap.in_high) || !(gap.in_low > 0)) return "";
  char text[32];
  std::snprintf(text, sizeof text, "%.3g", gap.in_high / *gap.in_low);
  return text;
}

std::string vary_text(const VaryReport& report) {
  if (report.verdict == "asks") return asks_line(report);
  std::string text = report.verdict + ": " + report.what + "\n";
  text += line("change: ", report.change) + line("at ", place_text(report.place)) + line("", report.numbers);
  text += table_of(report) + drift_line(report);
  for (const std::string& note : report.notes) text += line("note: ", note);
  return text;
}

}  // namespace tally
