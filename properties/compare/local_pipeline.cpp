// The stages of a pipeline: what travels arrives bit for bit, what one of them found all act upon, the norm is that of
// all, and numbers that every stage has for itself are alike.
#include <algorithm>

#include "kernels/trace/pipe_tag.hpp"
#include "oracle/case/graph.hpp"
#include "oracle/case/pipeline.hpp"
#include "oracle/case/ranks.hpp"
#include "oracle/case/shards.hpp"
#include "oracle/window/rank_norm.hpp"
#include "properties/compare/lens.hpp"
#include "properties/compare/local_walk.hpp"
#include "properties/compare/of_stage.hpp"

namespace tally {
namespace {

/// One message: what is handed over, by whom, and what it is where it arrives.
struct Message {
  std::size_t from, to;
  std::string sent, taken;
};

void check_message(LocalWalk& walk, const Message& message, const Tensor* producer) {
  const Tensor* sent = nullptr;
  {
    const OfStage from(walk, message.from);
    sent = walk.handed("send", "in." + message.sent, producer);
  }
  const OfStage to(walk, message.to);
  if (sent == nullptr)
    walk.require_tap("receive", message.taken);
  else if (!walk.passes_over("receive", message.taken))
    walk.check_bits("receive", message.taken, [&] { return oracle::floats_of(*sent); });
}

}  // namespace

const Tensor* received(const LocalWalk& walk, std::size_t layer, bool gradient) {
  if (!is_pipelined(walk.c)) return nullptr;
  const std::size_t part = part_with(walk.c, layer);
  const auto parts = parts_of_model(walk.c);
  const LayerView& own = walk.layers[layer];
  const bool travels =
      gradient ? part + 1 < parts.size() && layer + 1 == parts[part].end : part > 0 && layer == parts[part].first;
  const std::string tensor = gradient ? "d." + own.label + ".y" : own.input_name(0);
  const int stage = static_cast<int>(stage_of_part(walk.c, part));
  return travels ? walk.trace.find(TapView{walk.window, walk.micro_batch, "receive", tensor, -1, stage}) : nullptr;
}

void check_messages(LocalWalk& walk) {
  if (!is_pipelined(walk.c)) return;
  const auto parts = parts_of_model(walk.c);
  for (std::size_t part = 1; part < parts.size(); ++part) {
    const LayerView &before = walk.layers[parts[part].first - 1], &behind = walk.layers[parts[part].first];
    const std::size_t from = stage_of_part(walk.c, part - 1), to = stage_of_part(walk.c, part);
    const std::string y = before.label + ".y", x = behind.input_name(0);
    check_message(walk, {from, to, y, x}, walk.tap("forward", y));
    const bool summed = before.readers.size() > 1;
    const std::string given = "d." + (summed ? y : x);
    if (before.has_gradient)
      check_message(walk, {to, from, given, "d." + y}, walk.tap(summed ? "fork" : "backward", given));
  }
}

void check_found_by_stages(LocalWalk& walk) {
  std::vector<int> found(stages_of(walk.c), 0);
  for (const std::string& p : walk.parameters) {
    const Tensor* buffer = walk.tap("overflow_check", "in.buffer." + p);
    int& own = found[stage_with_tensor(walk.c, p)];
    own = buffer == nullptr ? -1 : own != 0 ? own : int{oracle::any_non_finite(*buffer)};
  }
  for (std::size_t stage = 0; stage < found.size(); ++stage) {
    const OfStage own(walk, stage);
    if (found[stage] < 0 || walk.passes_over("overflow_check", "found")) continue;
    walk.check_output("overflow_check", "found", oracle::scalar(found[stage]));
    if (!walk.checks.empty() && walk.checks.back().status == Status::fail)
      walk.checks.back().failure = FailureClass::skip_decision;
  }
}

std::vector<const Tensor*> found_by_stages(LocalWalk& walk) {
  std::vector<const Tensor*> all;
  for (std::size_t stage = 0; stage < stages_of(walk.c); ++stage) {
    const OfStage own(walk, stage);
    all.push_back(shards_optimizer(walk.c) ? walk.tap("agree", "in.found")  // held where its pieces are
                                           : walk.handed("agree", "in.found", walk.tap("overflow_check", "found")));
  }
  for (std::size_t rank = 0; rank < ranks_of(whole_of(walk.c)); ++rank)
    for (std::size_t stage = 0; stage < stages_of(walk.c) && rank != walk.c.rank; ++stage)
      all.push_back(walk.trace.whole == nullptr
                        ? nullptr
                        : walk.trace.whole->find(TapView{walk.window, walk.micro_batch, "agree", "in.found",
                                                         static_cast<int>(rank), static_cast<int>(stage)}));
  return std::ranges::count(all, nullptr) > 0 ? std::vector<const Tensor*>{} : all;
}

void check_norm_over_stages(LocalWalk& walk) {
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
    const auto part = [&] { return oracle::norm_part(walk.declared, walk.c, own[stage]); };
    const Tensor* tapped = complete ? walk.check_output("norm", "part", part) : walk.require_tap("norm", "part");
    if (tapped != nullptr) parts.push_back({static_cast<float>(tapped->value(0))});
  }
  if (parts.size() < own.size()) {
    walk.require_tap("norm", "norm");
    return;
  }
  walk.check_bits("norm", "norm", [&] {
    return oracle::Matrix<float>(oracle::Matrix<float>::Constant(1, 1, oracle::rounded_norm(walk.c, parts)));
  });
}

void check_alike_on_stages(LocalWalk& walk) {
  if (!is_pipelined(walk.c)) return;
  for (const Tap& tap : walk.trace.taps()) {
    const TapName& name = tap.name;
    if (name.window != walk.window || name.pipe >= 0) continue;
    if (!is_of_every_stage(name.stage, name.tensor, name.micro_batch) || name.stage == "reduce") continue;
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
