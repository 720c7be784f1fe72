// The right numbers in wrong places, or a part of them never written: seen in the output, for any stage.
#include <algorithm>
#include <cmath>

#include "oracle/case/tensors/tensor.hpp"
#include "properties/diagnosis/bug.hpp"

namespace tally::output_left_as_bug {
namespace {

/// What stands in place of element i of a tensor, by index.
using Instead = std::function<double(std::size_t i)>;

std::vector<std::int64_t> shape_of(const Evidence& evidence, const HeldTensor& held) {
  const Tensor* tensor = evidence.trace.find(held.name.text());
  return tensor == nullptr ? std::vector<std::int64_t>{} : tensor->shape;
}

std::size_t columns_of(const Evidence& evidence, const HeldTensor& held) {
  const auto shape = shape_of(evidence, held);
  return shape.size() == 2 ? static_cast<std::size_t>(shape[1]) : 1;
}

bool is_wrong(const HeldTensor& held, std::size_t i) {
  const double bound = held.bound.empty() ? 0 : held.bound[i];
  return !(std::fabs(held.got[i] - rounded_to(held.dtype, held.expected[i])) <= bound);
}

/// Elements from here to there are lost, all others right: by place along rows, along columns, or flat.
struct Part {
  std::string word;
  std::function<std::size_t(const Evidence& evidence, const HeldTensor& held, std::size_t i)> coordinate;
  bool tail;  // from the first wrong one on; else up to the last
};

const std::vector<Part>& parts() {
  const auto flat = [](const Evidence&, const HeldTensor&, std::size_t i) { return i; };
  const auto row = [](const Evidence& e, const HeldTensor& h, std::size_t i) { return i / columns_of(e, h); };
  const auto column = [](const Evidence& e, const HeldTensor& h, std::size_t i) { return i % columns_of(e, h); };
  static const std::vector<Part> all{{"elements from", flat, true},  {"rows from", row, true},
                                     {"columns from", column, true}, {"elements up to", flat, false},
                                     {"rows up to", row, false},     {"columns up to", column, false}};
  return all;
}

/// The tensor that this one held before: what the stage read under its name, else its own tap before.
std::optional<Values> before(const Evidence& evidence, const HeldTensor& held) {
  const TapName& at = held.name;
  if (auto read = evidence.tap(at.window, at.micro_batch, at.stage, "in." + at.tensor)) return read;
  if (at.micro_batch > 0) return evidence.tap(at.window, at.micro_batch - 1, at.stage, at.tensor);
  if (at.window == 0) return std::nullopt;
  const int last = at.micro_batch < 0 ? -1 : evidence.micro_batches(at.window - 1) - 1;
  return evidence.tap(at.window - 1, last, at.stage, at.tensor);
}

struct Filling {
  std::string word;
  std::optional<Values> (*with)(const Evidence& evidence, const HeldTensor& held);
};

const std::vector<Filling>& fillings() {
  static const std::vector<Filling> all{
      {"are zero", [](const Evidence&, const HeldTensor& h) { return std::optional(Values(h.got.size(), 0.0)); }},
      {"hold what was there before", before}};
  return all;
}

/// The first place that is wrong, and the last; nullopt where nothing is.
std::optional<std::size_t> edge(const Evidence& evidence, const HeldTensor& held, const Part& part) {
  std::optional<std::size_t> found;
  for (std::size_t i = 0; i < held.got.size(); ++i) {
    if (!is_wrong(held, i)) continue;
    const std::size_t at = part.coordinate(evidence, held, i);
    found = !found ? at : part.tail ? std::min(*found, at) : std::max(*found, at);
  }
  return found;
}

std::optional<Values> filled(const Evidence& evidence, const HeldTensor& held, const Part& part, std::size_t from,
                             const Filling& filling) {
  const auto with = filling.with(evidence, held);
  if (!with || with->size() != held.got.size()) return std::nullopt;
  Values left = held.expected;
  std::size_t lost = 0, kept = 0;  // a part that should be mostly these values tells nothing
  for (std::size_t i = 0; i < left.size(); ++i) {
    const std::size_t at = part.coordinate(evidence, held, i);
    if (!(part.tail ? at >= from : at <= from)) continue;
    (left[i] == (*with)[i] ? kept : lost) += 1;
    left[i] = (*with)[i];
  }
  if (kept > lost) return std::nullopt;
  return left;
}

void add_parts(std::vector<Hypothesis>& all, const Evidence& evidence) {
  for (const Part& part : parts()) {
    const auto at = edge(evidence, *evidence.failing(), part);
    if (!at) continue;
    for (const Filling& filling : fillings()) {
      Hypothesis way{{}, part.word + " " + std::to_string(*at) + " on " + filling.word, "a part is not written", 1};
      if (!part.tail) way.sentence = part.word + " " + std::to_string(*at) + " " + filling.word;
      if (part.tail && *at == 0) way.sentence = "all elements " + filling.word.substr(filling.word.find(' ') + 1);
      for (const HeldTensor& held : evidence.held) {
        const auto own = edge(evidence, held, part);
        way.left.push_back(own ? filled(evidence, held, part, *own, filling) : std::nullopt);
        way.tries *= own ? static_cast<double>(held.got.size()) : 1;
      }
      all.push_back(std::move(way));
    }
  }
}

/// The same numbers, each in the place of another.
struct Mapping {
  std::string sentence;
  std::size_t (*from)(std::size_t i, std::size_t rows, std::size_t columns);
  bool past_the_last = false, before_the_first = false;  // read there: that element is not known
};

const std::vector<Mapping>& mappings() {
  static const std::vector<Mapping> all{
      {"every element is its right neighbour's: the index is one too large",
       [](std::size_t i, std::size_t r, std::size_t c) { return (i + 1) % (r * c); }, true, false},
      {"every element is its left neighbour's: the index is one too small",
       [](std::size_t i, std::size_t r, std::size_t c) { return (i + r * c - 1) % (r * c); }, false, true},
      {"every row is the next one", [](std::size_t i, std::size_t r, std::size_t c) { return (i + c) % (r * c); }},
      {"every row is the previous one",
       [](std::size_t i, std::size_t r, std::size_t c) { return (i + r * c - c) % (r * c); }},
      {"the elements stand in reverse order",
       [](std::size_t i, std::size_t r, std::size_t c) { return r * c - 1 - i; }},
      {"every row stands in reverse order",
       [](std::size_t i, std::size_t, std::size_t c) { return i / c * c + (c - 1 - i % c); }},
      {"the tensor is transposed", [](std::size_t i, std::size_t r, std::size_t c) { return i % r * c + i / r; }},
      {"every element of a row is the row's first",
       [](std::size_t i, std::size_t, std::size_t c) { return i / c * c; }},
      {"every row is the first", [](std::size_t i, std::size_t, std::size_t c) { return i % c; }},
      {"every element is the first", [](std::size_t, std::size_t, std::size_t) { return std::size_t{0}; }}};
  return all;
}

/// What is read past an end is not known, and not held to anything.
void add_mappings(std::vector<Hypothesis>& all, const Evidence& evidence) {
  for (const Mapping& mapping : mappings()) {
    Hypothesis way{{}, mapping.sentence, "got[i] = expected[another i]", 1};
    for (const HeldTensor& held : evidence.held) {
      const std::size_t size = held.got.size();
      auto shape = shape_of(evidence, held);
      const std::size_t columns = shape.size() == 2 ? columns_of(evidence, held) : size;
      if (size < 3 || columns == 0) {
        way.left.push_back(std::nullopt), way.bounds.push_back(std::nullopt);
        continue;
      }
      Values left(size), bound(held.bound.empty() ? 0 : size);
      for (std::size_t i = 0; i < size; ++i) {
        const std::size_t from = mapping.from(i, size / columns, columns);
        left[i] = held.expected[from];
        if (!bound.empty()) bound[i] = held.bound[from];
      }
      way.bounds.push_back(bound.empty() ? std::nullopt : std::optional(std::move(bound)));
      if (mapping.past_the_last) left.back() = held.got.back();
      if (mapping.before_the_first) left.front() = held.got.front();
      way.left.push_back(std::move(left));
    }
    all.push_back(std::move(way));
  }
}

struct Function {
  std::string sentence, formula;
  double (*of)(double right);
};

const std::vector<Function>& functions() {
  static const std::vector<Function> all{
      {"the sign is lost", "got = |expected|", [](double v) { return std::fabs(v); }},
      {"negative values are zero", "got = max(expected, 0)", [](double v) { return std::fmax(v, 0); }},
      {"positive values are zero", "got = min(expected, 0)", [](double v) { return std::fmin(v, 0); }},
      {"a square root is left out, or a square is taken once too often", "got = expected²",
       [](double v) { return v * v; }},
      {"a square root is taken once too often, or a square is left out", "got = √expected",
       [](double v) { return std::sqrt(v); }},
      {"it is divided where it should be multiplied", "got = 1 / expected", [](double v) { return 1 / v; }}};
  return all;
}

/// The root of a negative number is left out: it would explain every NaN.
bool is_defined(double v, double of_it) { return std::isnan(v) || !std::isnan(of_it); }

void add_functions(std::vector<Hypothesis>& all, const Evidence& evidence) {
  for (const Function& function : functions()) {
    Hypothesis way{{}, function.sentence, function.formula, 1};
    for (const HeldTensor& held : evidence.held) {
      Values left;
      for (const double v : held.expected) left.push_back(function.of(v));
      const bool defined = std::ranges::equal(held.expected, left, is_defined);
      way.left.push_back(defined ? std::optional(std::move(left)) : std::nullopt);
    }
    all.push_back(std::move(way));
  }
}

/// Toward zero where the format's nearest is farther out.
double truncated(Dtype dtype, double value) {
  const double nearest = rounded_to(dtype, value);
  if (!(std::fabs(nearest) > std::fabs(value))) return nearest;
  double step = std::fabs(value);
  double lower = nearest;
  for (double part = 0x1p-26; part < 1 && lower == nearest; part *= 2) {
    lower = rounded_to(dtype, std::copysign(step * (1 - part), value));
  }
  return lower;
}

void add_roundings(std::vector<Hypothesis>& all, const Evidence& evidence) {
  Hypothesis cut{{}, "rounded toward zero, not to nearest", "got = trunc(expected)", 1};
  Hypothesis flushed{{}, "subnormal numbers are stored as zero", "got = expected, subnormals 0", 1};
  for (const HeldTensor& held : evidence.held) {
    Values toward_zero = held.expected, without = held.expected;
    const double least = format_row(held.dtype).smallest_normal();
    for (double& v : toward_zero) v = std::isfinite(v) ? truncated(held.dtype, v) : v;
    for (double& v : without) v = std::fabs(v) < least ? 0 : v;
    const bool integer = !format_row(held.dtype).is_float();
    cut.left.push_back(integer ? std::nullopt : std::optional(std::move(toward_zero)));
    flushed.left.push_back(integer ? std::nullopt : std::optional(std::move(without)));
  }
  all.push_back(std::move(cut));
  all.push_back(std::move(flushed));
}

std::vector<Hypothesis> ways(const Evidence& evidence) {
  std::vector<Hypothesis> all;
  add_parts(all, evidence);
  add_mappings(all, evidence);
  add_functions(all, evidence);
  add_roundings(all, evidence);
  return all;
}

const RegisterBug registered{{
    .name = "output-left-as",
    .sentence = "a part of the tensor is missing, or its elements are in other places",
    .formula = "got = the right tensor, cut or moved",
    .remedy = "check where the result is written: a part is missing or in other places",
    .hypotheses = ways,
}};

}  // namespace
}  // namespace tally::output_left_as_bug
