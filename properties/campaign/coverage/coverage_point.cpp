// A coverage point (trigger): one thing that a case, a kernel call or a run must show before a known kind of bug can be
// seen.
#include "properties/campaign/coverage/coverage_point.hpp"

#include <algorithm>
#include <cmath>
#include <limits>

#include "oracle/case/kinds.hpp"
#include "oracle/case/rows.hpp"

namespace tally {
namespace {

bool all_finite(const Tensor& tensor) {
  for (std::size_t i = 0; i < tensor.elements(); ++i) {
    if (!std::isfinite(tensor.value(i))) return false;
  }
  return true;
}

std::vector<std::vector<double>> items_of(const Case& c) {
  std::vector<std::vector<double>> items;
  const ItemWeights weights(c);
  std::int64_t row = 0;
  for (const auto& window : c.windows) {
    items.emplace_back();
    for (const std::int64_t rows : window) {
      double sum = 0;
      for (const std::int64_t end = row + rows; row < end; ++row) sum += weights.nearest(row);
      items.back().push_back(sum);
    }
  }
  return items;
}

int first_overflow(const Case& c, const Trace& trace, std::size_t window) {
  for (std::size_t k = 0; k < c.windows[window].size(); ++k) {
    const std::string at = "w" + std::to_string(window) + "/m" + std::to_string(k) + "/accumulate/buffer.";
    for (const std::string& parameter : parameters_of(c.model)) {
      const Tensor* buffer = trace.find(at + parameter);
      if (buffer && !all_finite(*buffer)) return static_cast<int>(k);
    }
  }
  return -1;
}

}  // namespace

Sight::Sight(const Case& drawn_case, const Case& ran, const Trace& left)
    : drawn(drawn_case), c(ran), trace(left), items(items_of(ran)) {
  for (std::size_t w = 0; w < windows(); ++w) {
    const Tensor* found = tap(w, "overflow_check", "found");
    skipped.push_back(found && found->integer(0) == 1);
    overflowed.push_back(first_overflow(ran, left, w));
  }
}

const Tensor* Sight::tap(std::size_t window, const std::string& stage, const std::string& tensor) const {
  return trace.find("w" + std::to_string(window) + "/" + stage + "/" + tensor);
}

double Sight::number(std::size_t window, const std::string& stage, const std::string& tensor) const {
  const Tensor* found = tap(window, stage, tensor);
  return found ? found->value(0) : std::numeric_limits<double>::quiet_NaN();
}

bool Sight::any_layer(const std::function<bool(const Layer&)>& holds) const {
  return std::any_of(c.model.layers.begin(), c.model.layers.end(), holds);
}

bool Sight::batch_norm(const std::string& statistics) const {
  return any_layer([&](const Layer& l) {
    return l.kind == kinds::batch_norm && (statistics.empty() || l.text("statistics") == statistics);
  });
}

bool Sight::any_items(const std::function<bool(const std::vector<double>&)>& holds) const {
  return std::any_of(items.begin(), items.end(), holds);
}

bool Sight::any_value(const std::string& stage, const std::function<bool(double, Dtype)>& holds) const {
  for (const Tap& tap : trace.taps()) {
    if (tap.name.stage != stage || tap.name.tensor.starts_with("in.")) continue;
    for (std::size_t i = 0; i < tap.value.elements(); ++i) {
      if (holds(tap.value.value(i), tap.value.dtype)) return true;
    }
  }
  return false;
}

bool Sight::any_x(const std::function<bool(double, Dtype)>& holds) const {
  if (c.model.tokens) return false;
  const Tensor& x = c.tensors.at("x");
  for (std::size_t i = 0; i < x.elements(); ++i) {
    if (holds(x.value(i), x.dtype)) return true;
  }
  return false;
}

std::string_view word_of(TriggerKind kind) {
  switch (kind) {
    case TriggerKind::of_case:
      return "case";
    case TriggerKind::of_kernel:
      return "kernel";
    case TriggerKind::of_run:
      return "run";
    case TriggerKind::later:
      break;
  }
  return "later";
}

const std::vector<Trigger>& triggers() {
  static const std::vector<Trigger> all = [] {
    std::vector<Trigger> in_order;
    for (const TriggerGroup* group : all_records<TriggerGroup>())
      for (const Trigger& trigger : group->triggers) in_order.emplace_back(trigger).group = group->name;
    return in_order;
  }();
  return all;
}

}  // namespace tally
