// Bugs of any stage: what one of its inputs was read as, or in place of.
#include <algorithm>
#include <bit>
#include <cmath>
#include <cstdint>

#include "properties/diagnosis/bug.hpp"
#include "properties/diagnosis/formulas.hpp"
#include "properties/diagnosis/settings.hpp"

// What one of the stage's inputs was read as: in part, in another format, from another place, or not at all.
namespace tally::input_read_as_bug {
namespace {

/// Another reading of a tensor; nullopt where it is none.
struct Reading {
  std::string sentence;  // "is read as zero"
  std::function<std::optional<Tensor>(const Tensor& as_left)> read;
};

/// Element by element.
Reading by_value(const std::string& sentence, double (*of)(double value)) {
  return {sentence, [of](const Tensor& given) {
            Tensor other = given;
            for (std::size_t i = 0; i < other.elements(); ++i) other.set(i, of(given.value(i)));
            return std::optional(std::move(other));
          }};
}

struct Size {
  std::size_t rows, columns;
};

Size size_of(const Tensor& tensor) {
  if (tensor.shape.size() == 2) return {std::size_t(tensor.shape[0]), std::size_t(tensor.shape[1])};
  return {1, tensor.elements()};
}

/// Every element another's, by index.
Reading by_place(const std::string& sentence, std::size_t (*from)(std::size_t i, Size size)) {
  return {sentence, [from](const Tensor& given) -> std::optional<Tensor> {
            if (given.elements() < 2) return std::nullopt;
            Tensor other = given;
            for (std::size_t i = 0; i < other.elements(); ++i) other.set(i, given.value(from(i, size_of(given))));
            return other;
          }};
}

/// Along what a tensor is cut.
struct Axis {
  std::string one, many;
  std::size_t (*length)(const Tensor& tensor, Size size);
  std::size_t (*place)(std::size_t i, Size size);
};

const std::vector<Axis>& axes() {
  static const std::vector<Axis> all{
      {"row", "rows", [](const Tensor&, Size s) { return s.rows; },
       [](std::size_t i, Size s) { return i / s.columns; }},
      {"column", "columns", [](const Tensor&, Size s) { return s.columns; },
       [](std::size_t i, Size s) { return i % s.columns; }},
      {"element", "elements", [](const Tensor& t, Size s) { return s.rows > 1 ? t.elements() : std::size_t{0}; },
       [](std::size_t i, Size) { return i; }}};  // of a matrix; those of a vector are its columns
  return all;
}

/// Zero where a place along the axis is cut off, by its number and the length; nullopt where nothing is.
Reading cut(const std::string& sentence, const Axis& axis, bool (*off)(std::size_t place, std::size_t length)) {
  return {sentence, [&axis, off](const Tensor& given) -> std::optional<Tensor> {
            const Size size = size_of(given);
            const std::size_t length = axis.length(given, size);
            std::size_t lost = 0;
            for (std::size_t k = 0; k < length; ++k) lost += off(k, length);
            if (lost == 0 || lost == length) return std::nullopt;
            Tensor other = given;
            for (std::size_t i = 0; i < other.elements(); ++i) {
              if (off(axis.place(i, size), length)) other.set(i, 0);
            }
            return other;
          }};
}

double tf32(double value) {
  return std::bit_cast<float>(std::bit_cast<std::uint32_t>(static_cast<float>(value)) & 0xffffe000u);
}

void add_values(std::vector<Reading>& all) {
  all.push_back(by_value("is read as zero, or left out", [](double) { return 0.0; }));
  all.push_back(by_value("is read as one, or left out", [](double) { return 1.0; }));
  all.push_back(by_value("is read with the other sign", [](double v) { return -v; }));
  all.push_back(by_value("is read without its sign", [](double v) { return std::fabs(v); }));
  all.push_back(by_value("is read with negative values as zero", [](double v) { return std::fmax(v, 0); }));
  all.push_back(by_value("is read with positive values as zero", [](double v) { return std::fmin(v, 0); }));
  all.push_back(by_value("is read squared", [](double v) { return v * v; }));
  all.push_back(by_value("is read twice as large", [](double v) { return 2 * v; }));
  all.push_back(by_value("is read half as large", [](double v) { return v / 2; }));
  all.push_back(by_value("is read as its inverse", [](double v) { return 1 / v; }));
  all.push_back(by_value("is read as its square root", [](double v) { return std::sqrt(v); }));
  all.push_back(by_value("is read as 1 minus itself", [](double v) { return 1 - v; }));
  all.push_back(by_value("is read with one added", [](double v) { return 1 + v; }));
}

void add_formats(std::vector<Reading>& all) {
  const auto narrow = [&](const std::string& sentence, double (*of)(double)) {
    Reading reading = by_value(sentence, of);
    reading.read = [inner = reading.read](const Tensor& given) {
      return given.dtype == Dtype::fp32 ? inner(given) : std::nullopt;
    };
    all.push_back(std::move(reading));
  };
  narrow("is read as bf16", [](double v) { return rounded_to(Dtype::bf16, v); });
  narrow("is read as fp16", [](double v) { return rounded_to(Dtype::fp16, v); });
  narrow("is read as TF32", tf32);
  narrow("is read with subnormal numbers as zero", [](double v) { return std::fabs(v) < 0x1p-126 ? 0 : v; });
}

void add_places(std::vector<Reading>& all) {
  all.push_back(
      by_place("is read one element too far", [](std::size_t i, Size s) { return (i + 1) % (s.rows * s.columns); }));
  all.push_back(by_place("is read one element too early",
                         [](std::size_t i, Size s) { return (i + s.rows * s.columns - 1) % (s.rows * s.columns); }));
  all.push_back(by_place("is read one row too far",
                         [](std::size_t i, Size s) { return (i + s.columns) % (s.rows * s.columns); }));
  all.push_back(by_place("is read as its first element only", [](std::size_t, Size) { return std::size_t{0}; }));
  all.push_back(by_place("is read as its first row only", [](std::size_t i, Size s) { return i % s.columns; }));
  all.push_back(
      by_place("is read transposed", [](std::size_t i, Size s) { return i % s.rows * s.columns + i / s.rows; }));
}

/// The grid or the loop ends too early: what is beyond the last whole block, or beyond the first, is never read.
template <std::size_t n>
void add_blocks(std::vector<Reading>& all) {
  const std::string number = std::to_string(n);
  for (const Axis& axis : axes()) {
    all.push_back(cut("is read without the " + axis.many + " beyond the last whole " + number, axis,
                      [](std::size_t k, std::size_t length) { return k >= length / n * n; }));
    all.push_back(cut("is read up to its first " + number + " " + axis.many, axis,
                      [](std::size_t k, std::size_t) { return k >= n; }));
  }
}

void add_parts(std::vector<Reading>& all) {
  for (const Axis& axis : axes()) {
    all.push_back(cut("is read without its last " + axis.one, axis,
                      [](std::size_t k, std::size_t length) { return k + 1 == length; }));
    all.push_back(cut("is read without its last two " + axis.many, axis,
                      [](std::size_t k, std::size_t length) { return k + 2 >= length; }));
    all.push_back(cut("is read without its last four " + axis.many, axis,
                      [](std::size_t k, std::size_t length) { return k + 4 >= length; }));
    all.push_back(
        cut("is read without its first " + axis.one, axis, [](std::size_t k, std::size_t) { return k == 0; }));
    all.push_back(cut("is read as the first half of its " + axis.many, axis,
                      [](std::size_t k, std::size_t length) { return k >= length / 2; }));
    all.push_back(
        cut("is read as its first " + axis.one + " only", axis, [](std::size_t k, std::size_t) { return k > 0; }));
    all.push_back(
        cut("is read without its odd " + axis.many, axis, [](std::size_t k, std::size_t) { return k % 2 == 1; }));
  }
  add_blocks<2>(all), add_blocks<4>(all), add_blocks<8>(all), add_blocks<16>(all), add_blocks<32>(all);
  add_blocks<64>(all), add_blocks<128>(all), add_blocks<256>(all), add_blocks<1024>(all);
}

const std::vector<Reading>& readings() {
  static const std::vector<Reading> all = [] {
    std::vector<Reading> readings;
    add_values(readings), add_formats(readings), add_places(readings), add_parts(readings);
    return readings;
  }();
  return all;
}

std::vector<Hypothesis> ways(const Evidence& evidence) {
  std::vector<Hypothesis> all;
  if (!affordable(evidence)) return all;
  AlteredTrace other(evidence.trace);
  for (const std::string& role : input_roles(evidence)) {
    const std::vector<std::size_t> taps = taps_in_role(evidence, role);  // of all windows and micro-batches
    for (const Reading& reading : readings()) {
      if (!other.alter(taps, [&](const Tap& tap) { return reading.read(tap.value); })) continue;
      Hypothesis way{{}, words_of_role(role) + " " + reading.sentence, "the same formula of another input", 1};
      way.left = what_if(evidence, evidence.c, other.now());
      if (says_something(evidence, way)) all.push_back(std::move(way));
    }
  }
  return all;
}

const RegisterBug registered{{
    .name = "input-read-as",
    .sentence = "the stage reads only a part of an input, or reads it in another format or from other places",
    .formula = "the same formula of another input",
    .remedy = "check the view, slice or cast through which the stage reads that input",
    .hypotheses = ways,
}};

}  // namespace
}  // namespace tally::input_read_as_bug

// What one of the stage's inputs was read in place of: another tensor of the same layer or parameter, or the same one
// of another micro-batch.
namespace tally::input_taken_from_bug {
namespace {

/// Where else a tap's value may come from; nullptr: from nowhere.
struct Source {
  std::string sentence;  // "is read as y"
  std::function<const Tensor*(const Tap& tap)> of;
};

/// The values of `from` in the format of `given`; nullopt where they are no tensor of that shape.
std::optional<Tensor> as_like(const Tensor& given, const Tensor* from) {
  if (from == nullptr || from->shape != given.shape || from->dtype == Dtype::i64 || from->dtype == Dtype::u8) {
    return std::nullopt;
  }
  Tensor other(given.dtype, given.shape);
  for (std::size_t i = 0; i < other.elements(); ++i) other.set(i, from->value(i));
  return other;
}

void add_micro_batches(std::vector<Source>& all, const Evidence& evidence) {
  const auto of_micro_batch = [&](const Tap& tap, int k) {
    TapName name = tap.name;
    if (k < 0 || name.micro_batch < 0) return static_cast<const Tensor*>(nullptr);
    name.micro_batch = k;
    return evidence.trace.find(name.view());
  };
  all.push_back({"is read from the previous micro-batch",
                 [=](const Tap& tap) { return of_micro_batch(tap, tap.name.micro_batch - 1); }});
  all.push_back(
      {"is read from the window's first micro-batch", [=](const Tap& tap) { return of_micro_batch(tap, 0); }});
  all.push_back({"is read from the next micro-batch",
                 [=](const Tap& tap) { return of_micro_batch(tap, tap.name.micro_batch + 1); }});
}

/// The roles of tensors of the same layer or parameter, in stages of the same micro-batch.
void add_tensors(std::vector<Source>& all, const Evidence& evidence, const std::string& role) {
  const TapName at = tap_name_of(evidence.check.tap);
  std::vector<std::pair<std::string, std::string>> seen;
  for (const Tap& tap : evidence.trace.taps()) {
    const bool beside = tap.name.window == at.window && tap.name.micro_batch == at.micro_batch;
    if (!beside || tap.name.text() == evidence.check.tap) continue;
    const std::string other = role_of(evidence.c, tap.name);
    if (other == role || in_role(evidence.c, other, at) != tap.name.tensor) continue;
    const std::pair<std::string, std::string> source{tap.name.stage, other};
    if (std::find(seen.begin(), seen.end(), source) != seen.end()) continue;
    seen.push_back(source);
    all.push_back(
        {"is read as " + words_of_role(other) + " of " + tap.name.stage, [source, &evidence](const Tap& read) {
           TapName name = read.name;
           name.stage = source.first;
           name.tensor = in_role(evidence.c, source.second, read.name);
           return evidence.trace.find(name.view());
         }});
  }
}

std::vector<Hypothesis> ways(const Evidence& evidence) {
  std::vector<Hypothesis> all;
  if (!affordable(evidence)) return all;
  AlteredTrace other(evidence.trace);
  for (const std::string& role : input_roles(evidence)) {
    std::vector<Source> sources;
    add_micro_batches(sources, evidence);
    add_tensors(sources, evidence, role);
    const std::vector<std::size_t> taps = taps_in_role(evidence, role);
    for (const Source& source : sources) {
      if (!other.alter(taps, [&](const Tap& tap) { return as_like(tap.value, source.of(tap)); })) continue;
      Hypothesis way{{}, words_of_role(role) + " " + source.sentence, "the same formula of another tensor", 1};
      way.left = what_if(evidence, evidence.c, other.now());
      if (says_something(evidence, way)) all.push_back(std::move(way));
    }
  }
  return all;
}

const RegisterBug registered{{
    .name = "input-taken-from",
    .sentence = "the stage reads another tensor of the same shape, or that of another micro-batch",
    .formula = "the same formula of another tensor",
    .remedy = "pass the stage the tensor of its own layer and micro-batch: look for a swapped or stale variable",
    .hypotheses = ways,
}};

}  // namespace
}  // namespace tally::input_taken_from_bug
