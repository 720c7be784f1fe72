// Puts a case on the device: what a framework does before its first window.
#include <algorithm>
#include <array>

#include "kernels/device/probes/probed_claims.hpp"
#include "kernels/linear/weight_gradient.hpp"
#include "kernels/losses/loss_steps.hpp"
#include "kernels/ranks/link.hpp"
#include "kernels/training_step/multi_tensor.hpp"
#include "kernels/training_step/offload.hpp"
#include "kernels/training_step/ranks/shards.hpp"
#include "kernels/training_step/run/run_parts.hpp"
#include "kernels/training_step/stages.hpp"
#include "oracle/case/contract.hpp"
#include "oracle/case/io.hpp"
#include "oracle/case/kinds.hpp"
#include "oracle/case/rank_keys.hpp"
#include "oracle/case/ranks.hpp"
#include "oracle/case/rows.hpp"
#include "oracle/case/sizes.hpp"

namespace tally {
namespace {

bool has_window_statistics(const Model& model) {
  return std::ranges::any_of(model.layers, [](const Layer& layer) {
    return layer.kind == kinds::batch_norm && layer.text("statistics") == "window";
  });
}

/// fp32 class weights of the loss, where it has any.
DeviceTensor class_weights(Device& on, const Choice& loss, std::int64_t classes) {
  if (!loss.options.contains("weight") || loss.numbers("weight").empty()) return {};
  Tensor weights(Dtype::fp32, {classes});
  const auto& numbers = loss.numbers("weight");
  for (std::size_t i = 0; i < numbers.size(); ++i) weights.set(i, numbers[i].to_double());
  return DeviceTensor(on, "class weights", weights);
}

DeviceTensor whole_numbers(Device& on, const char* name, const std::vector<std::int64_t>& numbers) {
  Tensor tensor(Dtype::i64, {static_cast<std::int64_t>(numbers.size())});
  for (std::size_t i = 0; i < numbers.size(); ++i) tensor.set_bits(i, static_cast<std::uint64_t>(numbers[i]));
  return DeviceTensor(on, name, tensor);
}

void add_scalars(Run& run) {
  const auto scalar = [&](const char* name, Dtype dtype) { return DeviceTensor(run.device, name, dtype, {}); };
  const Choice& choice = run.c.recipe.loss_scale;
  run.scale = scalar("scale", Dtype::fp32);
  run.inverse_scale = scalar("inverse_scale", Dtype::fp32);
  run.growth_counter = scalar("growth_counter", Dtype::i64);
  run.gradient_norm = scalar("norm", Dtype::fp32);
  run.coefficient = scalar("coefficient", Dtype::fp32);
  run.found_flag = DeviceTensor(run.device, "found", Dtype::u8, {4});
  const Decimal* initial = written_scale(choice);
  run.window_scale = initial == nullptr ? 1 : static_cast<float>(initial->to_double());
  run.scale.set_scalar(run.window_scale);
  run.inverse_scale.set_scalar(static_cast<float>(1.0 / static_cast<double>(run.window_scale)));
  run.growth_counter.set_scalar<std::int64_t>(checks_overflow(choice) ? choice.integer("growth_counter") : 0);
  run.found_flag.zero();
}

/// The case's hash; of one of the last few cases, which a law runs in turns, without writing the case out again.
const std::string& remembered_hash(const Case& c) {
  static thread_local std::array<std::pair<Case, std::string>, 4> last;
  static thread_local std::size_t oldest = 0;
  const auto known = [&c](const auto& each) { return !each.second.empty() && each.first == c; };
  if (const auto found = std::ranges::find_if(last, known); found != last.end()) return found->second;
  auto& replaced = last[oldest++ % last.size()];
  replaced = {c, hash_of(c)};
  return replaced.second;
}

/// What the trace says about this run as a whole.
void declare(Run& run) {
  run.trace.case_hash = remembered_hash(whole_of(run.c));
  run.trace.claims.subject = name_of(run.options.executor);
  run.trace.claims.kernels = run.kernels.claims();
  declare_fused_passes(run);
  declare_head_and_loss(run);
  claim_added_products(run);
  const bool drawn = run.options.order_seed != 0 || run.c.execution.order != 0;
  claim_products(run.trace.claims, run.c.precision, run.products_by, run.options.executor, drawn);
  if (run.options.link != nullptr) {
    const std::string& algorithm = rank_word(run.c, "reduce.algorithm");
    if (rank_word(run.c, "reduce.divide") == "unscale") run.trace.claims.divide = "window";
    const bool declared = declares_order(algorithm);
    run.trace.claims.kernels["reduce"] = {.variant = algorithm,
                                          .repeats = declared ? Repeats::bitwise : Repeats::within_claim,
                                          .algorithm = declared ? algorithm : "any"};
  }
  // A replaced product cannot be asked, nor does it promise the bits of an order.
  if (run.stages.gemm != shipped_stages().gemm) {
    run.trace.claims.kernels.at("gemm").algorithm.clear();
    return;
  }
  claim_probed_products(run.trace.claims, run.c.precision, run.products_by.choices, run.device);
}

/// Norm partials, once the parameters stand.
void add_norm_partials(Run& run) {
  std::vector<NormSource> sources;
  for (Parameter& each : run.pieces.empty() || run.is_host_part ? run.parameters : run.shards)
    sources.push_back({each.unscaled.as<float>(), each.elements});
  run.norm_partials = DeviceTensor(run.device, "partial norms", Dtype::fp32, {norm_chunks(sources)});
}

/// Partial sums of the widest linear layer's bias gradient, for the variants that leave some.
void add_bias_partials(Run& run, std::int64_t rows) {
  const std::string& variant = run.kernels.claim("linear.bias_gradient").variant;
  if (variant != "two_stage" && variant != "atomic_add") return;
  std::int64_t features = 0;
  for (const LayerState& layer : run.layers) {
    if (layer.layer->kind == kinds::linear && layer.bias != nullptr) features = std::max(features, layer.out);
  }
  const std::int64_t chunks = std::max<std::int64_t>(bias_gradient_chunks(rows), 1);
  run.bias_partials = DeviceTensor(run.device, "partial bias gradients", Dtype::fp32, {chunks, features});
}

/// Those that the run launches: a product is made as its settings say, and a fused pass takes the place of shipped
/// stages alone.
std::map<std::string, std::string> launched_kernels(const Case& c, const Stages& stages) {
  std::map<std::string, std::string> chosen = all_chosen(c, stages);
  if (in_ranks(c)) {
    chosen.emplace("rank_sum", "in_format");
    chosen.emplace("rank_scale", "stored");
  }
  if (pools_steps(c)) {
    chosen.emplace("batch_norm.step_sums", "column_lanes");
    chosen.emplace("batch_norm.pool_sums", "grid_stride");
    chosen.emplace("batch_norm.merge_moments", "in_order");
  }
  const bool fuses = has_shipped_stages(stages);
  std::erase_if(chosen, [&](const auto& kernel) {
    const std::string& operation = kernel.first;
    const bool setting = is_gemm_setting(operation) || operation == most_blocks_key;
    const bool hides_a_stage = is_fused_pass(operation) && !fuses && !stages.variants.contains(operation);
    const bool no_head = operation == head_loss_operation && !names_head_loss(c);
    return setting || operation == "linear.weight_gradient" || hides_a_stage || no_head;
  });
  return chosen;
}

/// A table that replaces the product has an order of its own, and so has a run whose orders are drawn.
GemmSettings chosen_settings(const Case& c, const Stages& stages, const RunOptions& options) {
  const bool other = stages.gemm != shipped_stages().gemm || options.order_seed != 0;
  const GemmSettings settings = gemm_settings_of(c.precision, all_chosen(c, stages), options.executor);
  return {settings.choices, other ? std::nullopt : settings.tensor_core};
}

}  // namespace

Run::Run(const Case& the_case, const RunOptions& the_options, const Stages& the_stages)
    : c(the_case),
      options(the_options),
      stages(the_stages),
      device(tally::device(the_options.executor)),
      stream(device),
      kernels(the_options.executor, launched_kernels(the_case, the_stages)),
      products_by(chosen_settings(the_case, the_stages, the_options)),
      lockstep(has_window_statistics(the_case.model)) {
  const auto drawn_schedule = static_cast<std::uint64_t>(c.execution.schedule);
  stream.set_schedule_seed(options.schedule_seed != 0 ? options.schedule_seed : drawn_schedule);
  const bool listed = options.schedule_seed == 0 && !c.execution.preemptions.empty();
  stream.set_schedule(listed ? &c.execution.preemptions : nullptr);
  stream.record_schedule(options.recorded);
  for (std::size_t w = 0; w < c.windows.size(); ++w) {
    auto& firsts = first_rows_.emplace_back();
    for (std::size_t k = 0; k < c.windows[w].size(); ++k) firsts.push_back(tally::first_row(c, w, k));
  }
  if (options.pipe != nullptr) pipe_rank = options.pipe->rank();
  part_end = c.model.layers.size();
  const bool is_first = pipe_rank == 0, is_last = !pipelined() || pipe_rank + 1 == options.pipe->size();
  if (is_first) x = DeviceTensor(device, input_tensor(c.model), c.tensors.at(input_tensor(c.model)));
  if (is_last) target = DeviceTensor(device, "target", *ScoredTarget(c));
  if (tally::reads_positions(c.model)) positions = DeviceTensor(device, "positions", positions_of(c));
  if (tally::reads_sequences(c.model)) {
    const SequenceRows rows = sequence_rows(c);
    sequence_begin = whole_numbers(device, "sequence begins", rows.begin);
    sequence_end = whole_numbers(device, "sequence ends", rows.end);
  }
  if (is_last) item_weight = optional_tensor(device, c, "item_weight");
  const ItemWeights weights(c);
  for (std::int64_t row = 0; row < tally::rows_of(c); ++row) item_weights_.push_back(weights.nearest(row));
  if (options.link != nullptr && !whole_of(c).dealt.empty()) rank_tag = options.link->rank();
  const Alive alive(c, lockstep);
  add_layers(*this, alive);
  const std::int64_t features = features_before(c.model, c.model.layers.size());
  if (is_last) {
    class_weight = class_weights(device, c.model.loss, features);
    losses = DeviceTensor(device, "loss", Dtype::fp32, {alive.rows});
    dy = DeviceTensor(device, "d.y", c.precision.storage, {alive.rows, features});
    add_head_and_loss(*this);
  }
  add_scalars(*this);
  add_shards(*this);
  add_norm_partials(*this);
  add_bias_partials(*this, alive.rows);
  if (const auto place = c.tensors.find("step"); place != c.tensors.end()) step = place->second.integer(0);
  if (offloads(c)) host = std::make_unique<Run>(*this, step_device(*this));
  declare(*this);
}

Run::Run(Run& whole, Device& on)
    : c(whole.c),
      options(options_on_host(whole.options)),
      stages(whole.stages),
      device(on),
      stream(on),
      kernels(step_executor(whole.options.executor), launched_kernels(whole.c, whole.stages)),
      products_by(whole.products_by),
      lockstep(whole.lockstep),
      pieces(whole.pieces),
      sharers(whole.sharers),
      replicas(whole.replicas),
      step(whole.step),
      rank_tag(whole.rank_tag),
      is_host_part(true) {
  for (Parameter& parameter : whole.pieces.empty() ? whole.parameters : whole.shards)
    parameters.push_back(offloaded(*this, parameter));
  add_scalars(*this);
  add_norm_partials(*this);
}

}  // namespace tally
