// What a diagnosis reads: the case, the subject's own bits, the tensors of the stage that fails first; and what the
// stage would have left, had these been others.
#include "properties/diagnosis/evidence.hpp"

#include <algorithm>
#include <exception>
#include <map>
#include <set>

#include "oracle/case/kinds.hpp"
#include "oracle/case/tensors/tensor.hpp"
#include "oracle/graph/stage.hpp"
#include "properties/lenses/walk.hpp"

namespace tally {
namespace {

std::string last_part(const std::string& tensor) { return tensor.substr(tensor.rfind('.') + 1); }

/// Everything before the parameter or layer: "in.buffer.", "momentum.", "d.".
std::string prefix_of(const Case& c, const std::string& tensor) {
  std::size_t longest = 0;
  const auto ends_in = [&](const std::string& name) {
    if (!tensor.ends_with(name) || name.size() == tensor.size()) return;
    if (tensor[tensor.size() - name.size() - 1] == '.') longest = std::max(longest, name.size());
  };
  for (const std::string& p : parameters_of(c.model)) ends_in(p);
  if (longest > 0) return tensor.substr(0, tensor.size() - longest);
  return tensor.starts_with("in.") ? "in." : tensor.starts_with("d.") ? "d." : "";
}

bool is_parameter(const Case& c, const std::string& tensor) {
  const auto all = parameters_of(c.model);
  return std::find(all.begin(), all.end(), tensor) != all.end();
}

/// Taps of one kind carry the same quantity: of other parameters where the stage treats all of them alike, of the same
/// sort of tensor (weight, bias, x, y) where the stage belongs to layers.
bool same_kind(const Case& c, const TapName& a, const TapName& b) {
  if (a.stage != b.stage || is_parameter(c, a.tensor) != is_parameter(c, b.tensor)) return false;
  if (prefix_of(c, a.tensor) != prefix_of(c, b.tensor)) return false;
  const bool by_layer = a.stage == StageName::forward || a.stage == StageName::backward || a.stage == StageName::fork ||
                        a.stage == StageName::running_stats || a.stage == StageName::sync_statistics;
  const bool of_parameter = prefix_of(c, a.tensor).size() > 0 || is_parameter(c, a.tensor);
  if (by_layer || !of_parameter) return last_part(a.tensor) == last_part(b.tensor);
  const auto names_one = [&](const TapName& t) {
    return is_parameter(c, t.tensor.substr(prefix_of(c, t.tensor).size()));
  };
  return names_one(a) && names_one(b) ? true : a.tensor == b.tensor;
}

/// A wrong count is a few whole numbers, which many formulas give; tensors divided by it say more.
bool follows_from_count(const TapName& name, const TapName& failing) {
  return failing.stage == StageName::count && failing.tensor == "items" && name.stage == StageName::loss &&
         name.tensor == "in.factor";
}

std::set<std::string> of_same_kind(const Case& c, const Trace& trace, const TapName& failing) {
  std::set<std::string> taps;
  for (const Tap& tap : trace.taps()) {
    if (same_kind(c, tap.name, failing) || follows_from_count(tap.name, failing)) taps.insert(tap.name.text());
  }
  return taps;
}

/// A step that ran where none was due: the parameters should be what the window began with.
void hold_unwanted_steps(Evidence& evidence) {
  for (const Tap& tap : evidence.trace.taps()) {
    if (tap.name.stage != StageName::optimizer || !is_parameter(evidence.c, tap.name.tensor)) continue;
    if (evidence.scalar(tap.name.window, "overflow_check", "found", 0) == 0) continue;
    const auto before = evidence.tap(tap.name.window, -1, "cast", "in." + tap.name.tensor);
    const auto after = evidence.tap(tap.name.window, -1, "optimizer", tap.name.tensor);
    if (before && after) evidence.held.push_back({tap.name, tap.value.dtype, *before, *after});
  }
}

std::vector<double> numbers_of(const Tensor& tensor) {
  std::vector<double> numbers(tensor.elements());
  for (std::size_t i = 0; i < numbers.size(); ++i) numbers[i] = tensor.value(i);
  return numbers;
}

/// What all stages since the last taps should leave together.
void hold_composed(Evidence& evidence, const std::set<std::string>& wanted) {
  Walk walk(evidence.c, evidence.trace, Lens::group);
  std::map<std::string, oracle::Expected> expected;
  walk.expected = &expected;
  walk_all(walk);
  for (const Tap& tap : evidence.trace.taps()) {
    const auto known = expected.find(tap.name.text());
    if (!wanted.contains(tap.name.text()) || known == expected.end()) continue;
    const auto& v = known->second.v;
    const auto& e = known->second.e;
    if (static_cast<std::size_t>(v.size()) != tap.value.elements()) continue;
    HeldTensor held{tap.name, tap.value.dtype, {}, numbers_of(tap.value), {}};
    for (Eigen::Index i = 0; i < v.size(); ++i) {
      held.expected.push_back(static_cast<double>(v.data()[i]));
      held.bound.push_back(e.data()[i]);
    }
    evidence.held.push_back(std::move(held));
  }
}

}  // namespace

Evidence::Evidence(const Case& the_case, const Trace& the_trace, const TensorCheck& the_check)
    : c(the_case), trace(the_trace), check(the_check), layouts_(the_case) {
  if (check.lens != "local" && check.lens != "group") return;
  const std::set<std::string> wanted = of_same_kind(c, trace, tap_name_of(check.tap));
  if (check.lens == "group") hold_composed(*this, wanted);
  if (check.lens == "group") return;
  Walk walk(c, trace, Lens::local);
  walk.wanted = &wanted;
  walk.kept = &held;
  walk_all(walk);
  if (check.stage == StageName::optimizer && check.failure == FailureClass::skip_decision) hold_unwanted_steps(*this);
}

std::set<std::string> Evidence::names() const {
  std::set<std::string> taps;
  for (const HeldTensor& each : held) taps.insert(each.name.text());
  return taps;
}

const HeldTensor* Evidence::failing() const {
  for (const HeldTensor& each : held) {
    if (each.name.text() == check.tap) return &each;
  }
  return nullptr;
}

std::optional<Values> Evidence::tap(int window, int micro_batch, const std::string& stage,
                                    const std::string& tensor) const {
  const Tensor* found = trace.find(TapView{window, micro_batch, stage, tensor});
  if (found == nullptr) return std::nullopt;
  const auto layout = layouts_.of({window, micro_batch, stage, tensor});
  return layout && layout->shape != found->shape ? std::nullopt : std::optional(numbers_of(*found));
}

double Evidence::scalar(int window, const std::string& stage, const std::string& tensor, double otherwise) const {
  const auto found = tap(window, -1, stage, tensor);
  return found && found->size() == 1 ? found->front() : otherwise;
}

std::int64_t Evidence::rows(int window, int micro_batch) const {
  if (micro_batch < 0 || micro_batch >= micro_batches(window)) return 0;
  return c.windows[static_cast<std::size_t>(window)][static_cast<std::size_t>(micro_batch)];
}

std::int64_t Evidence::rows(int window) const {
  std::int64_t all = 0;
  for (int k = 0; k < micro_batches(window); ++k) all += rows(window, k);
  return all;
}

double Evidence::items(int window, int micro_batch) const {
  if (rows(window, micro_batch) == 0) return 0;
  double sum = 0;
  const std::int64_t first = first_row(c, static_cast<std::size_t>(window), static_cast<std::size_t>(micro_batch));
  for (std::int64_t i = 0; i < rows(window, micro_batch); ++i) sum += item_weight(c, first + i).to_double();
  return sum;
}

double Evidence::items(int window) const {
  double all = 0;
  for (int k = 0; k < micro_batches(window); ++k) all += items(window, k);
  return all;
}

double Evidence::scale(int window) const {
  const Choice& choice = c.recipe.loss_scale;
  if (choice.kind == kinds::fixed) return choice.number("scale").to_double();
  if (choice.kind == kinds::dynamic) return scalar(window, "scaler", "in.scale", choice.number("initial").to_double());
  return 1;
}

std::string parameter_in(const Evidence& evidence, const HeldTensor& held, const std::string& prefix) {
  const std::string& tensor = held.name.tensor;
  if (!tensor.starts_with(prefix)) return "";
  const std::string rest = tensor.substr(prefix.size());
  return is_parameter(evidence.c, rest) ? rest : "";
}

Values times(const Values& values, double factor) {
  Values product = values;
  for (double& v : product) v *= factor;
  return product;
}

double rounded_to(Dtype dtype, double value) {
  if (dtype == Dtype::i64 || dtype == Dtype::u8) return value;
  return float_value_of(dtype, float_bits_of(dtype, value));
}

namespace {

struct Left {
  Values values, bounds;
};
/// By tap.
using AllValues = std::map<std::string, Left>;

/// What each stage leaves of what it read.
AllValues left_by_stages(const Case& c, const Trace& trace, const std::set<std::string>& wanted) {
  std::vector<HeldTensor> kept;
  Walk walk(c, trace, Lens::local);
  walk.wanted = &wanted;
  walk.judges = false;
  walk.kept = &kept;
  walk_all(walk);
  AllValues left;
  for (HeldTensor& each : kept) left[each.name.text()] = {std::move(each.expected), std::move(each.bound)};
  return left;
}

/// What the stages since the last taps leave together.
AllValues left_together(const Case& c, const Trace& trace, const std::set<std::string>& wanted) {
  std::map<std::string, oracle::Expected> kept;
  Walk walk(c, trace, Lens::group);
  walk.expected = &kept;
  walk_all(walk);
  AllValues left;
  for (const auto& [name, expected] : kept) {
    if (!wanted.contains(name)) continue;
    Left& tensor = left[name];
    for (Eigen::Index i = 0; i < expected.v.size(); ++i) {
      tensor.values.push_back(static_cast<double>(expected.v.data()[i]));
      tensor.bounds.push_back(expected.e.data()[i]);
    }
  }
  return left;
}

}  // namespace

std::vector<std::optional<Values>> what_if(const Evidence& evidence, const Case& c, const Trace& trace,
                                           std::vector<std::optional<Values>>* bounds) {
  AllValues expected;
  try {
    const std::set<std::string> wanted = evidence.names();
    expected = evidence.check.lens == "group" ? left_together(c, trace, wanted) : left_by_stages(c, trace, wanted);
  } catch (const std::exception&) {
    return {};  // no such case, or no rule for it: nothing to be said
  }
  std::vector<std::optional<Values>> left;
  for (const HeldTensor& held : evidence.held) {
    const auto found = expected.find(held.name.text());
    const bool changed = found != expected.end() && found->second.values.size() == held.got.size() &&
                         found->second.values != held.expected;
    left.push_back(changed ? std::optional(std::move(found->second.values)) : std::nullopt);
    if (bounds == nullptr) continue;
    const bool bounded = changed && found->second.bounds.size() == held.got.size();
    bounds->push_back(bounded ? std::optional(std::move(found->second.bounds)) : std::nullopt);
  }
  return left;
}

Trace altered(const Trace& trace, const std::function<std::optional<Tensor>(const Tap& tap)>& change) {
  Trace other;
  other.claims = trace.claims;
  other.groups = trace.groups;
  other.case_hash = trace.case_hash;
  other.whole = trace.whole;
  for (const Tap& tap : trace.taps()) {
    std::optional<Tensor> changed = change(tap);
    other.add(tap.name, changed ? *std::move(changed) : tap.value);
  }
  return other;
}

bool AlteredTrace::alter(const std::vector<std::size_t>& taps,
                         const std::function<std::optional<Tensor>(const Tap& tap)>& change) {
  for (const std::size_t number : altered_) now_.replace(number, original_.taps()[number].value);
  altered_.clear();
  for (const std::size_t number : taps) {
    const Tap& tap = original_.taps()[number];
    std::optional<Tensor> changed = change(tap);
    if (!changed || *changed == tap.value) continue;
    now_.replace(number, *std::move(changed));
    altered_.push_back(number);
  }
  return !altered_.empty();
}

bool says_something(const Evidence& evidence, const Hypothesis& hypothesis) {
  for (std::size_t i = 0; i < hypothesis.left.size(); ++i) {
    if (hypothesis.left[i] && evidence.held[i].name.text() == evidence.check.tap) return true;
  }
  return false;
}

}  // namespace tally
