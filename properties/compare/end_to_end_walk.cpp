#include "properties/compare/end_to_end_walk.hpp"

#include <algorithm>

#include "oracle/case/optimizer_state.hpp"
#include "oracle/case/pairs.hpp"
#include "oracle/case/sequences.hpp"
#include "properties/compare/lens.hpp"
#include "properties/compare/stack.hpp"
#include "properties/compare/tensor_rows.hpp"

namespace tally {
namespace {

oracle::Expected read_or_none(const Case& c, const std::string& name) {
  const auto found = c.tensors.find(name);
  return found == c.tensors.end() ? oracle::Expected{} : oracle::as_read(found->second);
}

}  // namespace

EndToEndWalk::EndToEndWalk(const Case& the_case, const Trace& the_trace)
    : c(the_case),
      trace(the_trace),
      declared(oracle::declared(the_case.precision, the_trace.claims)),
      layers(layers_of(the_case.model)),
      parameters(parameters_of(the_case.model)) {
  for (const std::string& p : parameters) {
    state.slots[p].parameter = read_or_none(c, p);
    for (const StateTensor* each : state_of(c.recipe.optimizer)) {
      const std::string name = each->name + "." + p;
      state.slots[p].state.push_back(read_or_none(c, name));
      if (c.tensors.contains(name)) state.state_from_zero = false;
    }
  }
  for (const std::string& p : weights_of(c.model))
    if (!state.slots.contains(p)) frozen[p] = read_or_none(c, p);
  for (const LayerView& layer : layers) {
    if (layer.layer->kind != "batch_norm") continue;
    state.running_mean[layer.label] = read_or_none(c, layer.label + ".running_mean");
    state.running_var[layer.label] = read_or_none(c, layer.label + ".running_var");
  }
  state.scale = oracle::first_scale(c.recipe.loss_scale);
  const auto step = c.tensors.find("step");
  if (step != c.tensors.end()) state.step = step->second.integer(0);
  state.state_from_zero = state.state_from_zero && state.step == 0;
}

std::int64_t EndToEndWalk::rows_of(const Group& group) const {
  std::int64_t all = 0;
  for (int k = group.first; k < group.last; ++k) all += rows(k);
  return all;
}

std::string EndToEndWalk::name(const std::string& stage, const std::string& tensor) const {
  return TapName{window, micro_batch, stage, tensor}.text();
}

void EndToEndWalk::check_output(const std::string& stage, const std::string& tensor, const Output& output,
                                const DecisionCount& behind) {
  const Place place{resynchronise ? "group" : "end_to_end", name(stage, tensor), stage};
  const Tensor* got = tap(stage, tensor);
  const bool split = wanted != nullptr && wanted->contains(place.tap);
  const bool judged = got != nullptr && (split || wanted == nullptr);
  split_ += split;
  checks.push_back(judged ? judge(place, output, *got, split) : not_run(place));
  if (got != nullptr) mapped_bytes_read(got->bytes.size());
  if (kept != nullptr) kept->insert_or_assign(place.tap, output.expected());
  checks.back().adopted_share = behind.share();
  if (behind.too_many() && checks.back().status == Status::pass) checks.back().status = Status::vacuous;
  refuted_ = refuted_ || (departure != nullptr && checks.back().status == Status::fail);
}

void EndToEndWalk::check_output(const std::string& stage, const std::string& tensor, const oracle::Expected& expected) {
  held(stage, tensor, [&] { return expected; });
}

oracle::Expected EndToEndWalk::held(const std::string& stage, const std::string& tensor,
                                    std::function<oracle::Expected()> rule) {
  if (!judges) {
    const Tensor* got = resynchronise ? tap(stage, tensor) : nullptr;
    return got != nullptr ? oracle::as_read(*got) : rule();
  }
  Evaluation evaluation = evaluation_of(std::move(rule));
  const Output output{evaluation};
  check_output(stage, tensor, output, count);
  return seen(stage, tensor, output.expected());
}

oracle::Expected EndToEndWalk::seen(const std::string& stage, const std::string& tensor,
                                    oracle::Expected expected) const {
  const Tensor* got = resynchronise ? tap(stage, tensor) : nullptr;
  if (got == nullptr || got->elements() != static_cast<std::size_t>(expected.v.size())) return expected;
  oracle::Expected read = oracle::as_read(*got);
  read.v.resize(expected.v.rows(), expected.v.cols());  // row-major: the same elements in the same order
  read.e.resize(expected.v.rows(), expected.v.cols());
  return read;
}

oracle::Expected EndToEndWalk::seen_rows(const Group& group, const std::string& stage, const std::string& tensor,
                                         oracle::Expected all) {
  Eigen::Index row = 0;
  for (micro_batch = group.first; micro_batch < group.last; ++micro_batch) {
    const auto height = static_cast<Eigen::Index>(rows(micro_batch));
    if (resynchronise && tap(stage, tensor) != nullptr) {
      const oracle::Expected own = seen(stage, tensor, tally::rows_of(all, row, height));
      all.v.middleRows(row, height) = own.v;
      all.e.middleRows(row, height) = own.e;
      all.r = all.s = {};
    }
    row += height;
  }
  micro_batch = -1;
  return all;
}

void EndToEndWalk::know_local(const std::vector<TensorCheck>& local_checks) {
  local_.emplace();
  for (const TensorCheck& check : local_checks) {
    if (check.lens != "local") continue;
    const bool passed = check.status == Status::pass;
    const auto [at, fresh] = local_->emplace(check.tap, passed);
    if (!fresh) at->second = at->second && passed;
  }
}

bool EndToEndWalk::certified(const std::string& tap_name) {
  if (!local_) know_local(local_lens(c, trace));
  const auto found = local_->find(tap_name);
  return found != local_->end() && found->second;
}

oracle::ExpectedTensors expected_inputs(const EndToEndWalk& walk, const LayerView& layer, std::int64_t first,
                                        std::int64_t rows) {
  oracle::ExpectedTensors tensors;
  for (const std::string& name : layer.weights()) tensors[name] = walk.copies.at(layer.full_name(name));
  if (layer.frozen) tensors["running_mean"] = walk.state.running_mean.at(layer.label);
  if (layer.frozen) tensors["running_var"] = walk.state.running_var.at(layer.label);
  if (const auto pooled = walk.pooled.find(layer.label); pooled != walk.pooled.end())
    tensors.insert(pooled->second.begin(), pooled->second.end());
  if (layer.mask) tensors["mask"] = oracle::as_read(mask_of_rows(walk.c, layer.label, first, rows));
  if (layer.reads_sequences) tensors["places"] = oracle::as_read(rows_of(places_of(walk.c), first, rows));
  if (layer.reads_positions) {
    Tensor positions = rows_of(positions_of(walk.c), first, rows);
    positions.shape.push_back(1);
    tensors["positions"] = oracle::as_read(positions);
  }
  return tensors;
}

bool is_decided(const EndToEndWalk& walk) {
  return !walk.ended &&
         std::ranges::none_of(walk.checks, [](const TensorCheck& check) { return check.adopted_share > 0; });
}

}  // namespace tally
