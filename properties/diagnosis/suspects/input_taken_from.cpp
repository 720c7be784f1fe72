// What one of the stage's inputs was read in place of: another tensor of the same layer or parameter, or the same one
// of another micro-batch.
#include <algorithm>

#include "properties/diagnosis/settings.hpp"
#include "properties/diagnosis/suspect.hpp"
#include "properties/diagnosis/suspects/tensor_roles.hpp"

namespace tally::input_taken_from_suspect {
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
  all.push_back({"is read from the micro-batch before",
                 [=](const Tap& tap) { return of_micro_batch(tap, tap.name.micro_batch - 1); }});
  all.push_back(
      {"is read from the window's first micro-batch", [=](const Tap& tap) { return of_micro_batch(tap, 0); }});
  all.push_back({"is read from the micro-batch behind",
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

const RegisterSuspect registered{{
    .name = "input-taken-from",
    .faults = {},
    .stages = {},
    .sentence = "the stage works on another tensor of the same shape, or on that of another micro-batch",
    .formula = "the same formula of another tensor",
    .remedy = "pass the stage the tensor of its own layer and micro-batch: look for a swapped or a kept variable",
    .ways = ways,
}};

}  // namespace
}  // namespace tally::input_taken_from_suspect
