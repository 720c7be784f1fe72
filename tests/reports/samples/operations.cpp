#include "tests/reports/samples/operations.hpp"

#include <limits>

namespace tally::samples {
namespace {

constexpr const char* product_line =
    R"({"op": "aten.addmm.default", "i": 16, "args": {"self": {"b": 1, "d": "float32", "o": 2, "s": [3], "r": [1]},)"
    R"( "mat1": {"b": 2, "d": "bfloat16", "o": 4, "s": [2, 4], "r": [1, 2]}, "mat2": null,)"
    R"( "beta": 1, "alpha": {"f": "0x1.8p+0"}, "dtype": {"dtype": "float32"}, "sizes": [1, -2],)"
    R"( "memory_format": {"memory_format": "contiguous_format"}, "device": {"device": "cpu"}, "layout":)"
    R"( {"layout": "strided"}, "text": "a\"b\u00e9", "flag": true, "lists": [[true, null]]},)"
    R"( "out": [{"b": 3, "d": "float32", "o": 6, "s": [2, 3], "r": [3, 1]}], "wrote": {}})";

JudgedResult result(std::int64_t wrong) {
  JudgedResult made;
  made.name = "result", made.format = "float32", made.sizes = {2, 3}, made.elements = 6, made.wrong = wrong;
  made.measured = 6, made.worst = 12, made.block = 3, made.at = 11;
  made.elements_worst = {{{1, 2}, 1.5, 1.25, 0.0208333333, 12}, {{0, 1}, 0.5, 0.5, 0.01, 0.5}};
  return made;
}

OperationCounts counts(std::int64_t held, std::int64_t nothing, std::int64_t not_judged) {
  OperationCounts made;
  made.operations = held + nothing + not_judged;
  made.held = held, made.nothing = nothing, made.not_judged = not_judged, made.elements = 30 * held;
  if (held > 0) made.worst = 0.5, made.at = wrong_product().place;
  return made;
}

JudgedRecording recording() {
  JudgedRecording made;
  made.header.framework = "1.13.0", made.header.profile = "pytorch-cpu-1.13";
  made.header.devices = {"cpu"}, made.header.threads = 2;
  made.profile = "standard", made.ended = true, made.seen = 40;
  made.all = counts(30, 8, 2);
  made.by_operation = {{"addmm", counts(20, 0, 0)}, {"view", counts(0, 8, 0)}, {"twice", counts(0, 0, 2)}};
  made.by_module["h.0"] = made.by_phase["forward"] = counts(20, 0, 0);
  made.not_judged["no rule for mylib.twice.default"] = {
      2, {7, 0, "mylib.twice.default", "/venv/lib/python3/site-packages/mylib/ops.py:15 in f", "", "forward"}};
  made.unseen = {"a CUDA graph is replayed, whose operations no mode sees, at train.py:3 in main"};
  return made;
}

void spoil(std::string& text) {
  text += "</title><script>alert(1)</script>\" onclick='x' &amp; \x1b]0;x\x07\xff\u202e\n";
}

void spoil(OperationPlace& place) {
  for (std::string* text : {&place.operation, &place.where, &place.module, &place.phase}) spoil(*text);
}

template <class T>
void spoil_keys(std::map<std::string, T>& map) {
  std::map<std::string, T> made;
  for (const auto& [key, held] : map) {
    std::string name = key;
    T value = held;
    spoil(name);
    if constexpr (std::is_same_v<T, OperationCounts>) spoil(value.at);
    if constexpr (std::is_same_v<T, NotJudgedOperations>) spoil(value.first);
    made[name] = value;
  }
  map = made;
}

}  // namespace

JudgedOperation wrong_product() {
  JudgedOperation made;
  made.place = {16, 1, "aten.addmm.default", "train.py:17 in forward", "h.0", "forward"};
  made.judged.results = {result(2)};
  made.line = product_line, made.blocks = {{1, 64}, {2, 128}, {3, 192}};
  return made;
}

JudgedOperation imprecise_product() {
  JudgedOperation made = wrong_product();
  made.place.number = 20, made.place.operation = "aten.mm.default";
  JudgedResult& only = made.judged.results.front();
  only.wrong = 0, only.worst = 0.5, only.imprecise = true, only.spread = 25;
  only.elements_worst.erase(only.elements_worst.begin());
  return made;
}

JudgedRecording right_operations() { return recording(); }

JudgedRecording wrong_operations() {
  JudgedRecording made = recording();
  made.failures = {wrong_product(), imprecise_product()};
  made.all.failed = 2, made.all.worst = 12;
  made.by_operation["addmm"].failed = 1, made.by_operation["addmm"].worst = 12;
  made.by_operation["mm"] = counts(1, 0, 0), made.by_operation["mm"].failed = made.by_operation["mm"].undecided = 1;
  made.by_module["h.0"] = made.by_operation["addmm"];
  made.first_non_finite = wrong_product().place;
  made.first_non_finite->operation = "aten.log.default";
  return made;
}

JudgedRecording hostile_operations() {
  JudgedRecording made = wrong_operations();
  made.ended = false, made.header.share = 0.25;
  made.claims = {{"gelu/float32/ulps", 2.5}};
  for (std::string* text : {&made.header.framework, &made.header.profile, &made.profile}) spoil(*text);
  for (JudgedOperation& each : made.failures) {
    spoil(each.place), spoil(each.line);
    for (JudgedResult& result : each.judged.results) spoil(result.name), spoil(result.format);
  }
  spoil(*made.first_non_finite), spoil(made.all.at), spoil(made.unseen.front());
  spoil_keys(made.by_operation), spoil_keys(made.by_module), spoil_keys(made.by_phase);
  spoil_keys(made.not_judged), spoil_keys(made.claims);
  return made;
}

JudgedRecording many_operations() {
  JudgedRecording made = wrong_operations();
  for (int i = 0; i < 200; ++i) {
    OperationCounts& module = made.by_module["layers." + std::to_string(i) + ".attention.output.dense"];
    module = made.by_operation["addmm"];
    module.failed = 0, module.worst = 1.0 / (i + 2);
  }
  while (made.failures.size() < JudgedRecording::most_failures) {
    made.failures.push_back(wrong_product());
    made.failures.back().place.number += static_cast<std::int64_t>(10 * made.failures.size());
  }
  made.all.failed = 400;
  for (int i = 0; i < 30; ++i) made.claims["function" + std::to_string(i) + "/float32/ulps"] = i;
  return made;
}

std::map<std::string, JudgedRecording> all_operations() {
  return {{"operations_right", right_operations()},
          {"operations_wrong", wrong_operations()},
          {"operations_hostile", hostile_operations()},
          {"operations_many", many_operations()},
          {"operations_none", JudgedRecording{}}};
}

}  // namespace tally::samples
