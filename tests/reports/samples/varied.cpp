#include "tests/reports/samples/varied.hpp"

#include <limits>

namespace tally::samples {
namespace {

VaryGap gap(Partition sizes, const std::string& kind, double in_high, double in_low) {
  VaryGap made;
  made.sizes = std::move(sizes), made.kind = kind, made.in_high = in_high, made.in_low = in_low;
  made.tensor = "model.fc1.weight";
  for (const auto& [name, share] :
       {std::pair{"model.fc1.weight", 1.0}, {"model.fc1.bias", 0.5}, {"model.fc2.weight", 0.25}})
    made.tensors.push_back({name, share * in_high, share * in_low, share * in_low});
  return made;
}

VaryReport loop() {
  VaryReport made;
  made.precisions = {"float64", "float32"}, made.rows = 8, made.windows = 2, made.boundary = 0x1p-14;
  made.loop = {"train.py", "train.step", 12};
  made.notes = {"dropout was dealt by rows"};
  return made;
}

void spoil(std::string& text) {
  text += "</title><script>alert(1)</script>\" onclick='x' &amp; \x1b]0;x\x07\xff\u202e";
}

}  // namespace

VaryReport right_loop() {
  VaryReport made = loop();
  made.verdict = "pass";
  made.what = "4 partitions of 8 rows give the whole batch's parameters; in float32 they end within 1.2e-07 of them";
  made.gaps = {gap({4, 4}, "rounding", 0x1p-53, 0x1p-23), gap({2, 2, 2, 2}, "rounding", 0x1p-52, 0x1p-24),
               gap({3, 3, 2}, "decision", 0x1p-9, 0x1p-9), gap({1, 1, 1, 1, 1, 1, 1, 1}, "not judged", 0, 0)};
  made.gaps[1].in_low.reset();
  for (VaryTensorGap& tensor : made.gaps[1].tensors) tensor.in_low.reset();
  made.gaps[2].tensor = "model.router";
  made.gaps[2].tensors = {{"model.router", 0x1p-9, 0x1p-9, 0x1p-24, "decision"}};
  made.gaps.back().error = "the whole batch is not finite in float32 either", made.gaps.back().tensor.clear();
  made.gaps.back().tensors.clear();
  return made;
}

VaryReport wrong_loop() {
  VaryReport made = loop();
  made.verdict = "fail", made.cause = "1/(K n_k)", made.partition = {6, 2};
  made.what = "each micro-batch's loss is divided by its own 2 rows and by K = 2";
  made.change = "divide by the window's 8: `loss.sum() / 8`, or weigh each mean by its own rows / 8";
  made.place = {"train.py", "loss.backward()", 31};
  made.numbers = "Micro-batches of 6, 2 rows end 0.125 from the whole batch in float64 and 0.125 in float32";
  made.gaps = {gap({4, 4}, "rounding", 0x1p-53, 0x1p-23), gap({3, 3, 2}, "meaning", 0.25, 0.25),
               gap({6, 2}, "meaning", 0.125, 0.125),
               gap({3, 5}, "not finite", std::numeric_limits<double>::quiet_NaN(), 0.125)};
  made.weights.how.sizes = {6, 2}, made.weights.found = {1.0 / 12, 0.25}, made.weights.meant = {0.125, 0.125};
  made.weights.rest = 0x1p-52, made.weights.terms = {{"window 0's gradient", 0.5}};
  return made;
}

VaryReport hostile_loop() {
  VaryReport made = wrong_loop();
  for (std::string* text : {&made.what, &made.change, &made.place.file, &made.place.text, &made.numbers, &made.cause,
                            &made.loop.file, &made.loop.text})
    spoil(*text);
  for (VaryGap& each : made.gaps) {
    spoil(each.tensor), spoil(each.kind), spoil(each.error);
    for (VaryTensorGap& tensor : each.tensors) spoil(tensor.name);
  }
  for (VaryTerm& term : made.weights.terms) spoil(term.name);
  for (std::string& note : made.notes) spoil(note);
  return made;
}

VaryReport large_loop(int tensors) {
  VaryReport made = right_loop();
  for (VaryGap& each : made.gaps)
    for (int i = 0; i < tensors; ++i)
      each.tensors.push_back(
          {"blocks." + std::to_string(i) + ".attention.query.weight", 0x1p-53, 0x1p-24 / (i + 1), 0x1p-24});
  made.gaps.front().sizes.assign(512, 1);
  return made;
}

std::map<std::string, VaryReport> all_loops() {
  return {{"vary_right", right_loop()},
          {"vary_wrong", wrong_loop()},
          {"vary_hostile", hostile_loop()},
          {"vary_large", large_loop(1000)}};
}

}  // namespace tally::samples
