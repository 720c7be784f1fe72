// The stages of a pipeline: what travels arrives bit for bit, what one of them found all act upon, the norm is that of
// all, and numbers that every stage has for itself are alike.
#include <algorithm>

#include "kernels/trace/tap_name.hpp"
#include "oracle/case/graph.hpp"
#include "oracle/case/ranks.hpp"
#include "oracle/case/sharding.hpp"
#include "oracle/graph/stage.hpp"
#include "oracle/window/rank_stages.hpp"
#include "properties/judge/lens.hpp"
#include "properties/lenses/stages.hpp"

namespace tally {
namespace {

/// One message: what is handed over, by whom, and what it is where it arrives.
struct Message {
  std::size_t from, to;
  std::string sent, taken;
};

void check_message(Walk& walk, const Message& message, const Value& producer) {
  Value sent;
  {
    const OfStage from(walk, message.from);
    sent = walk.input("send", "in." + message.sent, producer);
  }
  const OfStage to(walk, message.to);
  if (!sent.known())
    walk.require_tap("receive", message.taken);
  else if (!walk.passes_over("receive", message.taken))
    walk.exact_output("receive", message.taken, [&] { return sent.floats(); }, {});
}

}  // namespace

OfStage::OfStage(Walk& walk, std::size_t stage) : OfStage(walk, is_pipelined(walk.c) ? static_cast<int>(stage) : -1) {}

Value received(const Walk& walk, std::size_t layer, bool gradient) {
  if (!is_pipelined(walk.c) || !walk.is_local()) return {};
  const std::size_t part = part_with(walk.c, layer);
  const auto parts = parts_of_model(walk.c);
  const LayerView& own = walk.layers[layer];
  const bool travels =
      gradient ? part + 1 < parts.size() && layer + 1 == parts[part].end : part > 0 && layer == parts[part].first;
  const std::string tensor = gradient ? "d." + own.label + ".y" : own.input_name(0);
  const int stage = static_cast<int>(stage_of_part(walk.c, part));
  if (!travels) return {};
  return walk.trace.find(TapView{walk.window, walk.micro_batch, "receive", tensor, -1, stage});
}

void walk_messages(Walk& walk) {
  if (!is_pipelined(walk.c)) return;
  const auto parts = parts_of_model(walk.c);
  for (std::size_t part = 1; part < parts.size(); ++part) {
    const LayerView &before = walk.layers[parts[part].first - 1], &behind = walk.layers[parts[part].first];
    const std::size_t from = stage_of_part(walk.c, part - 1), to = stage_of_part(walk.c, part);
    const std::string y = before.label + ".y", x = behind.input_name(0);
    check_message(walk, {from, to, y, x}, walk.left("forward", y));
    const bool summed = before.readers.size() > 1;
    const std::string given = "d." + (summed ? y : x);
    if (before.has_gradient)
      check_message(walk, {to, from, given, "d." + y}, walk.left(summed ? "fork" : "backward", given));
  }
}

void walk_found_by_stages(Walk& walk) {
  std::vector<int> found(stages_of(walk.c), 0);
  for (const std::string& p : walk.parameters) {
    const Tensor* buffer = walk.tap("overflow_check", "in.buffer." + p);
    int& own = found[stage_with_tensor(walk.c, p)];
    own = buffer == nullptr ? -1 : own != 0 ? own : int{oracle::any_non_finite(*buffer)};
  }
  for (std::size_t stage = 0; stage < found.size(); ++stage) {
    const OfStage own(walk, stage);
    if (found[stage] < 0 || walk.passes_over("overflow_check", "found")) continue;
    walk.output("overflow_check", "found", oracle::scalar(found[stage]));
    walk.note_failure(FailureClass::skip_decision);
  }
}

std::vector<const Tensor*> found_by_stages(Walk& walk) {
  std::vector<const Tensor*> all;
  for (std::size_t stage = 0; stage < stages_of(walk.c); ++stage) {
    const OfStage own(walk, stage);
    all.push_back(shards_optimizer(walk.c)
                      ? walk.tap("agree", "in.found")  // held where its pieces are
                      : walk.input("agree", "in.found", walk.tap("overflow_check", "found")).bits());
  }
  for (std::size_t rank = 0; rank < ranks_of(whole_of(walk.c)); ++rank)
    for (std::size_t stage = 0; stage < stages_of(walk.c) && rank != walk.c.rank; ++stage)
      all.push_back(walk.trace.whole == nullptr
                        ? nullptr
                        : walk.trace.whole->find(TapView{walk.window, walk.micro_batch, "agree", "in.found",
                                                         static_cast<int>(rank), static_cast<int>(stage)}));
  return std::ranges::count(all, nullptr) > 0 ? std::vector<const Tensor*>{} : all;
}

void walk_norm_over_stages(Walk& walk) {
  std::vector<oracle::ExpectedTensors> own(stages_of(walk.c));
  bool complete = true;
  for (const std::string& p : walk.parameters) {
    const Tensor* gradient = walk.tap("norm", "in.d." + p);
    complete = complete && gradient != nullptr;
    if (gradient != nullptr) own[stage_with_tensor(walk.c, p)].emplace(p, oracle::only_read(*gradient));
  }
  oracle::PartsByStage<float> parts;
  for (std::size_t stage = 0; stage < own.size(); ++stage) {
    const OfStage of(walk, stage);
    const auto part = [&](const oracle::Declared& declared) { return oracle::norm_part(declared, walk.c, own[stage]); };
    const Value tapped = complete ? walk.output("norm", "part", part) : Value(walk.require_tap("norm", "part"));
    if (tapped.known()) parts.push_back({tapped.floats()(0, 0)});
  }
  if (parts.size() < own.size()) {
    walk.require_tap("norm", "norm");
    return;
  }
  walk.exact_output("norm", "norm",
                    [&] {
                      const float norm = oracle::rounded_norm(walk.c, parts);
                      return oracle::Matrix<float>(oracle::Matrix<float>::Constant(1, 1, norm));
                    },
                    {});
}

oracle::Expected norm_over_stages(const oracle::Declared& declared, const Walk& walk,
                                  const std::map<std::string, Value>& gradients) {
  std::vector<oracle::ExpectedTensors> own(stages_of(walk.c));
  for (const std::string& p : walk.parameters) own[stage_with_tensor(walk.c, p)].emplace(p, *gradients.at(p).read());
  oracle::PartsByStage<oracle::Expected> parts;
  for (const oracle::ExpectedTensors& each : own) parts.push_back({oracle::norm_part(declared, walk.c, each)});
  return oracle::norm_of_parts(declared, walk.c, parts);
}

void walk_alike_on_stages(Walk& walk) {
  if (!is_pipelined(walk.c)) return;
  for (const Tap& tap : walk.trace.taps()) {
    const TapName& name = tap.name;
    if (name.window != walk.window || name.pipe >= 0) continue;
    if (!is_of_every_stage(name.stage, name.tensor, name.micro_batch) || name.stage == StageName::reduce) continue;
    for (std::size_t stage = 1; stage < stages_of(walk.c); ++stage) {
      const OfStage own(walk, stage);
      if (walk.passes_over(name.stage, name.tensor)) continue;
      const Tensor* its = walk.require_tap(name.stage, name.tensor);
      if (its == nullptr) continue;
      TensorCheck check = bitwise_check(of_pipe(name, static_cast<int>(stage)).text(), name.stage, tap.value, *its);
      check.lens = "local";
      walk.checks.push_back(std::move(check));
    }
  }
}

}  // namespace tally
