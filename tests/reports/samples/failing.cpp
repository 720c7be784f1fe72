#include <algorithm>
#include <cmath>
#include <limits>

#include "tests/reports/samples/samples.hpp"

namespace tally::samples {
namespace {

constexpr double infinity = std::numeric_limits<double>::infinity();

void fail(CaseRecord& c, FailureClass kind, double ratio, const std::string& message) {
  c.status = Status::fail, c.failure = kind, c.message = message, c.first_stage = "accumulate";
  c.worst_local_ratio = c.worst_local_excess = ratio;
  c.kernel = "accumulate/grid_stride, kernels/accumulate/accumulate.cu", c.operations.clear();
  TensorCheck& t = c.worst.front();
  t.status = Status::fail, t.failure = kind, t.worst_ratio = ratio, t.over_bound = 2, t.stage = "accumulate";
  t.lens = kind == FailureClass::order ? "bitwise" : "local";
  t.expected = -0.0104218750, t.got = t.expected / 2, t.error = -t.expected / 2, t.bound = t.error / ratio;
  if (kind == FailureClass::logic) t.terms = {.accumulation = t.bound * 3 / 4, .storage = t.bound / 4};
  if (kind == FailureClass::non_finite) t.got = t.error = std::nan(""), t.non_finite = 1;
}

/// Errors along a tensor of 600 elements, with a tail that is wrong.
void add_elements(TensorCheck& t) {
  t.profile.stretch = 7;
  for (int i = 0; i < 86; ++i) {
    const bool wrong = i > 60;
    t.profile.low.push_back(i % 7 == 0 ? 0 : -0.4 * (i % 5)),
        t.profile.high.push_back(wrong ? 900.0 + i : 0.3 * (i % 4));
    t.profile.value.push_back((i % 2 == 0 ? 1 : -1) * std::exp2(i % 12)), t.profile.bound.push_back(40 + i % 3);
    t.profile.error.push_back(std::max(t.profile.high.back(), -t.profile.low.back()));
  }
  ElementMap& map = t.profile.map;
  map.rows = 50, map.columns = 12, map.block_rows = 2, map.block_columns = 1;
  for (int i = 0; i < 25 * 12; ++i) {
    const int row = i / 12, column = i % 12;
    map.ratio.push_back(row >= 16 && row < 24 && column >= 4 && column < 8 ? 3.0 * (row - 14) : (i * i % 11) / 12.0);
  }
  map.ratio[17 * 12 + 5] = infinity;
  t.profile.high[70] = t.profile.low[70] = t.profile.error[70] = std::nan("");
  for (int i = 0; i < 8; ++i) t.elements_worst.push_back({{3 + i, 17}, -0.01, -0.005 * (1 + i), 0.005, 0.001});
  t.elements_worst[2].got = t.elements_worst[2].error = infinity;
  t.elements_worst[3].bound = 0;
  t.place = "query 3 of sequence 1, head 2, feature 0";
}

/// Puts the mess of `text` around every text of the results.
template <class Text>
void spoil(Text& text) {
  text = "</script><script>alert(1)</script>\"'&<!--]]>\x01\x1b[31m\u202E`|\xff " + text;
}

void spoil_all(Results& r) {
  spoil(r.campaign), spoil(r.device_message);
  for (CaseRecord& c : r.cases) {
    for (std::string* text :
         {&c.title, &c.token, &c.message, &c.first_stage, &c.law, &c.precision, &c.formats, &c.kernel})
      spoil(*text);
    for (OperationRecord& o : c.operations)
      spoil(o.operation), spoil(o.variant), spoil(o.standing.format), spoil(o.standing.shapes);
    for (TensorCheck& t : c.worst) {
      spoil(t.tap), spoil(t.stage), spoil(t.lens);
      if (!t.message.empty()) spoil(t.message);
      if (!t.place.empty()) spoil(t.place);
    }
    for (RankRow& row : c.ranks)
      for (RankStage& stage : row.stages) spoil(stage.stage);
    if (!c.first_tap.empty()) spoil(c.first_tap);
    for (Suspicion& s : c.suspects) spoil(s.name), spoil(s.factor_word), spoil(s.sentence), spoil(s.formula);
  }
  r.studies.push_back(hostile_study());
  r.studies.back().family = "bench", r.studies.back().name = "rules";
  for (LawRecord& l : r.laws)
    for (std::string* text : {&l.name, &l.family, &l.statement, &l.control, &l.message}) spoil(*text);
  for (TriggerRecord& t : r.triggers) spoil(t.name), spoil(t.group), spoil(t.description);
  for (FaultRecord& f : r.faults)
    for (std::string* text : {&f.name, &f.stage, &f.right, &f.wrong, &f.source, &f.law, &f.found_stage, &f.token})
      spoil(*text);
  for (TrainingRecord& t : r.training)
    for (std::string* text : {&t.dataset, &t.model, &t.precision, &t.cut, &t.message}) spoil(*text);
  spoil(r.environment.device), spoil(r.environment.flags);
  spoil(r.environment.fault), spoil(r.environment.kernels.front());
  for (auto& [assumption, holds] : r.environment.ledger) spoil(assumption), spoil(holds);
}

}  // namespace

Results failing() {
  Results r = passing();
  r.environment.fault = "extra-times-k", r.environment.magnitude = 0.25;
  r.environment.kernels = {"matmul=tiled"};
  fail(r.cases[40], FailureClass::logic, 3.88, "The accumulated gradient is 3.88 times its bound away.");
  fail(r.cases[90], FailureClass::non_finite, std::nan(""), "An element is NaN where the exact answer is finite.");
  fail(r.cases[130], FailureClass::order, infinity, "Bits differ from the declared order of addition.");
  for (const std::size_t i : {40u, 90u}) add_elements(r.cases[i].worst.front());
  TensorCheck& relation = r.cases[90].worst.emplace_back();
  relation.lens = "relation", relation.tap = "w0/semantic_gap", relation.stage = "loss";
  relation.status = Status::fail, relation.failure = FailureClass::logic;
  relation.message = "equal micro-batches leave a gap between the mean of means and the full batch";
  r.studies = studies();
  r.triggers_required = true, r.triggers[2].seen = 0;
  r.options = "--unsteered --no-shrink";
  r.cases[7].operations[0].repeats = false;
  r.cases[7].operations[0].unseen = "batch_norm.parameter_gradients";
  r.cases[7].status = Status::vacuous, r.cases[7].message = "The bound is wider than the signal.";
  r.cases[8].status = Status::not_run, r.cases[8].message = "No device.";
  r.cases[9].status = Status::error, r.cases[9].message = "The subject ended with signal 11.";
  r.laws[0].status = Status::fail, r.laws[0].failed = 1, r.laws[0].worst_ratio = 3.88;
  r.laws[1].status = Status::fail, r.laws[1].failed = 2, r.laws[1].worst_ratio = infinity;
  r.laws[2].control_differs = false;
  const Suspicion suspect{"last-only", 0.9998, 1, 0.5, "1/K with K = 2", "only the last one counts", "A = s_k"};
  r.cases[40].suspects = r.faults[0].suspects = {suspect};
  r.cases[40].ranks = {{0, 4, {{"forward", Status::pass}, {"backward", Status::pass}}},
                       {5, 5, {{"forward", Status::pass}, {"backward", Status::fail, 2}}}};
  r.cases[40].first_tap = "w0/r5/m1/backward/d.fc1.weight";
  r.cases[90].ranks = {{0, 0, {{"forward", Status::pass}}, 0}, {0, 0, {{"forward", Status::fail, 1, true}}, 1}};
  r.cases[90].first_tap = "w0/m0/forward/out.y";
  r.faults[1].caught = false, r.faults[1].message = "No law noticed it in 40 cases.";
  r.cases[130].token = "tly1:" + std::string(1500, 'a');
  r.training[3].status = Status::fail, r.training[3].worst_local_ratio = 1.4;
  r.training[3].message = "Window 12, stage optimizer.";
  return r;
}

Results empty() {
  Results r;
  r.device_message = "no GPU here";
  return r;
}

Results partial() {
  Results r = passing();
  r.partial = true, r.partial_reason = "interrupted after 252 cases";
  return r;
}

Results hostile() {
  Results r = failing();
  spoil_all(r);
  return r;
}

std::map<std::string, Results> all() {
  return {{"passing", passing()}, {"failing", failing()}, {"empty", empty()},
          {"partial", partial()}, {"hostile", hostile()}, {"large", large(2000)}};
}

}  // namespace tally::samples
