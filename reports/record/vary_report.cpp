#include <algorithm>
#include <cmath>
#include <map>

#include "reports/record/json.hpp"
#include "reports/record/record_kinds.hpp"
#include "reports/record/vary.hpp"

namespace tally {
namespace {

using nlohmann::json;

json number_or_null(double value) { return std::isfinite(value) ? json(value) : json(nullptr); }

json sizes_or_null(const Partition& sizes) { return sizes.empty() ? json(nullptr) : json(sizes); }

json json_of(const HowRun& how) {
  json out{{"sizes", sizes_or_null(how.sizes)},
           {"precision", how.precision},
           {"moved", how.moved},
           {"again", how.again},
           {"frozen", how.frozen}};
  if (how.sizes.ranks > 1) out["ranks"] = how.sizes.ranks;
  if (!how.moved_by.empty()) out["moved_by"] = how.moved_by;
  return out;
}

json json_of(const VaryAsks& asks) {
  json out = json::array();
  for (const HowRun& how : asks.runs) out.push_back({{"run", json_of(how)}});
  for (const HowWeights& how : asks.weights) {
    json weights{{"sizes", how.sizes}, {"frozen", how.frozen}, {"window", how.window}};
    if (how.sizes.ranks > 1) weights["ranks"] = how.sizes.ranks;
    out.push_back({{"weights", std::move(weights)}});
  }
  return out;
}

json json_of(const VaryTensorGap& gap) {
  json out{{"tensor", gap.name},
           {"in_float64", number_or_null(gap.in_high)},
           {"noise", number_or_null(gap.noise)},
           {"kind", gap.kind}};
  if (gap.in_low) out["in_float32"] = number_or_null(*gap.in_low);
  return out;
}

json json_of(const VaryGap& gap) {
  json out{
      {"sizes", gap.sizes}, {"in_float64", number_or_null(gap.in_high)}, {"tensor", gap.tensor}, {"kind", gap.kind}};
  if (gap.sizes.ranks > 1) out["ranks"] = gap.sizes.ranks;
  if (gap.in_low) out["in_float32"] = number_or_null(*gap.in_low);
  if (!gap.error.empty()) out["error"] = gap.error;
  return out;
}

template <class T>
json list_of(const std::vector<T>& all) {
  json out = json::array();
  for (const T& each : all) out.push_back(json_of(each));
  return out;
}

json numbers_of(const std::vector<double>& values) {
  json out = json::array();
  for (const double value : values) out.push_back(number_or_null(value));
  return out;
}

/// Whether a tensor drifts in a partition that passes: nothing that fails is called drift.
bool is_drift(const VaryGap& gap, const VaryTensorGap& tensor) {
  return (gap.kind == gap_kind::rounding || gap.kind == gap_kind::decision) && tensor.kind == gap_kind::rounding;
}

/// NaN is the largest: it is what is wrong first.
double larger(double a, double b) { return std::isnan(a) || a > b ? a : b; }

/// All ranks have the same.
Partition of_one_rank(const Partition& sizes) {
  return Partition(sizes.begin(), sizes.begin() + static_cast<std::ptrdiff_t>(sizes.size()) / sizes.ranks);
}

}  // namespace

std::string sizes_text(const Partition& sizes) {
  if (sizes.empty()) return "the whole batch";
  if (sizes.ranks > 1) return sizes_text(of_one_rank(sizes)) + " on each of " + std::to_string(sizes.ranks) + " ranks";
  constexpr std::size_t shown = 12;
  if (sizes.size() > shown && std::ranges::adjacent_find(sizes, std::not_equal_to{}) == sizes.end())
    return std::to_string(sizes.size()) + " × " + std::to_string(sizes.front());
  std::string text;
  for (std::size_t i = 0; i < std::min(shown, sizes.size()); ++i)
    text += (text.empty() ? "" : ", ") + std::to_string(sizes[i]);
  return text + (sizes.size() > shown ? ", … (" + std::to_string(sizes.size()) + ")" : "");
}

std::string partition_text(const Partition& sizes) {
  const std::string text = "micro-batches of " + sizes_text(of_one_rank(sizes)) + " rows";
  return sizes.ranks > 1 ? std::to_string(sizes.ranks) + " ranks with " + text : text;
}

std::string place_text(const VaryPlace& place) {
  if (place.file.empty()) return place.text;
  return place.file + (place.line > 0 ? ":" + std::to_string(place.line) : "") +
         (place.text.empty() ? "" : " `" + place.text + "`");
}

std::string VaryReport::sentence() const {
  std::string text = what;
  if (!change.empty()) text += "; " + change;
  if (const std::string at = place_text(place); !at.empty()) text += " (" + at + ")";
  if (!numbers.empty()) text += ". " + numbers;
  return text;
}

double VaryReport::drift() const {
  double most = 0;
  for (const VaryTensorGap& tensor : by_tensor())
    if (tensor.kind == gap_kind::rounding && tensor.in_low) most = larger(*tensor.in_low, most);
  return most;
}

std::vector<VaryTensorGap> VaryReport::by_tensor() const {
  std::map<std::string, VaryTensorGap> all;
  for (const VaryGap& gap : gaps) {
    for (const VaryTensorGap& tensor : gap.tensors) {
      VaryTensorGap& most = all.try_emplace(tensor.name, VaryTensorGap{tensor.name, 0, std::nullopt, 0}).first->second;
      most.in_high = larger(tensor.in_high, most.in_high);
      if (is_drift(gap, tensor) && tensor.in_low) most.in_low = larger(*tensor.in_low, most.in_low.value_or(0));
      most.noise = larger(tensor.noise, most.noise);
      if (most.kind != gap_kind::meaning && tensor.kind != gap_kind::rounding) most.kind = tensor.kind;
    }
  }
  std::vector<VaryTensorGap> sorted;
  for (auto& [name, gap] : all) sorted.push_back(std::move(gap));
  const bool failed = verdict == "fail";
  std::ranges::stable_sort(sorted, [failed](const VaryTensorGap& a, const VaryTensorGap& b) {
    const double one = failed ? a.in_high : a.in_low.value_or(0), two = failed ? b.in_high : b.in_low.value_or(0);
    return std::isnan(two) ? false : std::isnan(one) || one > two;
  });
  return sorted;
}

std::string to_json(const VaryReport& report) {
  json out{{"tally_vary_verdict", 1},
           {"verdict", report.verdict},
           {"cause", report.cause},
           {"sentence", report.sentence()},
           {"what", report.what},
           {"change", report.change},
           {"place", place_text(report.place)},
           {"numbers", report.numbers},
           {"partition", report.partition},
           {"drift", number_or_null(report.drift())},
           {"gaps", list_of(report.gaps)},
           {"by_tensor", list_of(report.by_tensor())},
           {"notes", report.notes},
           {"asks", json_of(report.asks)}};
  if (!report.weights.found.empty())
    out["weights"] = {{"found", numbers_of(report.weights.found)}, {"meant", numbers_of(report.weights.meant)}};
  return canonical_text(out);
}

}  // namespace tally
