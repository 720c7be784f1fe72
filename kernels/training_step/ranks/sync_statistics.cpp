// The statistics of a micro-step that ranks share: what each hands over of its own rows becomes that of all ranks'
// rows. Sums travel side by side and are added as a sum over ranks is, in fp32; moments go from every rank to every
// other, and each merges them.
#include <algorithm>
#include <cstring>
#include <numeric>
#include <span>

#include "kernels/norm/batch_norm_of_ranks.hpp"
#include "kernels/ranks/all_reduce.hpp"
#include "kernels/training_step/stages.hpp"
#include "oracle/case/rank_keys.hpp"
#include "oracle/case/ranks.hpp"

namespace tally::stage {
namespace {

constexpr const char* stage_name = "sync_statistics";

std::string about(const Run& run, const LayerState& layer, const char* what) {
  return "w" + std::to_string(run.window) + "/m" + std::to_string(run.micro_batch) + "/" + stage_name + ", " +
         layer.label + "." + what;
}

/// What every rank brings, as many bytes each, in the order of the ranks.
std::vector<std::byte> brought_by_all(Link& link, const std::string& about, std::span<const std::byte> own) {
  std::vector<std::byte> all(own.size() * static_cast<std::size_t>(link.size()));
  const auto place = [&](int rank) {
    return std::span(all).subspan(own.size() * static_cast<std::size_t>(rank), own.size());
  };
  std::ranges::copy(own, place(link.rank()).begin());
  for (int to = 0; to < link.size(); ++to)
    if (to != link.rank()) link.send(to, about, own);
  for (int from = 0; from < link.size(); ++from)
    if (from != link.rank()) link.receive(from, about, place(from));
  return all;
}

/// Rows of this micro-step, on each rank.
std::vector<std::int64_t> meet(Run& run, const LayerState& layer) {
  const std::int64_t own = run.has_micro_batch() ? run.rows(run.micro_batch) : 0;
  run.tap(stage_name, "in." + layer.label + ".count", own);
  const auto bytes =
      brought_by_all(*run.options.link, about(run, layer, "count"), std::as_bytes(std::span(&own, std::size_t{1})));
  std::vector<std::int64_t> counts(bytes.size() / sizeof own);
  std::memcpy(counts.data(), bytes.data(), bytes.size());
  run.step_rows = std::accumulate(counts.begin(), counts.end(), std::int64_t{0});
  run.tap(stage_name, layer.label + ".count", run.step_rows);
  return counts;
}

DeviceTensor of_all_ranks(Run& run, const LayerState& layer, const char* what, const DeviceTensor& own) {
  const Tensor held = own.read();
  DeviceTensor all(run.device, "moments of ranks", own.dtype, {run.options.link->size(), layer.in});
  const auto bytes = brought_by_all(*run.options.link, about(run, layer, what), {held.bytes.data(), held.bytes.size()});
  run.device.write(all.data(), bytes.data(), bytes.size());
  return all;
}

float eps_of(const LayerState& layer) { return static_cast<float>(layer.layer->number("eps").to_double()); }

void tap_statistics(Run& run, const LayerState& layer, const char* name, const DeviceTensor& statistic) {
  run.tap(stage_name, layer.label + "." + name, statistic.row(0), Dtype::fp32, {layer.in});
}

void merge(Run& run, LayerState& layer, const std::vector<std::int64_t>& counts) {
  const DeviceTensor means = of_all_ranks(run, layer, "mean", layer.own_first);
  const DeviceTensor vars = of_all_ranks(run, layer, "var", layer.own_second);
  DeviceTensor rows(run.device, "moments of ranks", Dtype::i64, {run.options.link->size()});
  run.device.write(rows.data(), counts.data(), counts.size() * sizeof counts.front());
  run.launch<MergeMomentsArguments>("batch_norm.merge_moments", {.means = means.as<float>(),
                                                                 .vars = vars.as<float>(),
                                                                 .counts = rows.as<std::int64_t>(),
                                                                 .mean = layer.mean.as<float>(),
                                                                 .var = layer.var.as<float>(),
                                                                 .rstd = layer.rstd.as<float>(),
                                                                 .ranks = run.options.link->size(),
                                                                 .features = layer.in,
                                                                 .eps = eps_of(layer)});
  run.stream.synchronize();  // what the others brought goes with this block
}

/// The sums over ranks of these tensors, [features] each, side by side in a bucket that is padded to a multiple of the
/// ranks.
DeviceTensor summed(Run& run, const LayerState& layer, const char* what, std::span<const DeviceTensor* const> own) {
  Link& link = *run.options.link;
  const std::int64_t all = static_cast<std::int64_t>(own.size()) * layer.in, ranks = link.size();
  const std::int64_t elements = (all + ranks - 1) / ranks * ranks;
  DeviceTensor flat(run.device, "bucket of ranks", Dtype::fp32, {elements});
  flat.zero();
  for (std::size_t i = 0; i < own.size(); ++i) {
    const Tensor held = own[i]->read();
    run.device.write(flat.row(static_cast<std::int64_t>(i) * layer.in), held.bytes.data(), held.bytes.size());
  }
  const auto add = [&run](const RankSumArguments& arguments) { run.launch("rank_sum", arguments); };
  Addends addends(link, run.device, add, about(run, layer, what), Dtype::fp32, flat.data(), elements);
  all_reduce(rank_word(run.c, "reduce.algorithm"))(addends);
  return flat;
}

void pool(Run& run, LayerState& layer, const float* sum, const float* squares, bool of_deviations) {
  run.launch<PoolSumsArguments>("batch_norm.pool_sums",
                                {.sum = sum,
                                 .squares = squares,
                                 .mean = layer.mean.as<float>(),
                                 .var = layer.var.as<float>(),
                                 .rstd = layer.rstd.as<float>(),
                                 .features = layer.in,
                                 .inverse_rows = static_cast<float>(1 / static_cast<double>(run.step_rows)),
                                 .eps = eps_of(layer),
                                 .of_deviations = of_deviations});
  run.stream.synchronize();
}

void tap_handed(Run& run, const LayerState& layer, const char* name, const DeviceTensor& own) {
  run.tap(stage_name, "in." + layer.label + "." + name, own);
}

void share_moments(Run& run, LayerState& layer, const std::vector<std::int64_t>& counts) {
  tap_handed(run, layer, "mean", layer.own_first);
  tap_handed(run, layer, "var", layer.own_second);
  merge(run, layer, counts);
}

void share_sums(Run& run, LayerState& layer) {
  tap_handed(run, layer, "sum", layer.own_first);
  tap_handed(run, layer, "sum_squares", layer.own_second);
  const DeviceTensor* const own[] = {&layer.own_first, &layer.own_second};
  const DeviceTensor sums = summed(run, layer, "sums", own);
  pool(run, layer, sums.as<float>(), static_cast<float*>(sums.row(layer.in)), false);
}

void share_means(Run& run, LayerState& layer) {
  tap_handed(run, layer, "sum", layer.own_first);
  const DeviceTensor* const own[] = {&layer.own_first};
  const DeviceTensor sums = summed(run, layer, "sum", own);
  pool(run, layer, sums.as<float>(), nullptr, true);
}

void share_squares(Run& run, LayerState& layer) {
  tap_handed(run, layer, "squares", layer.own_first);
  const DeviceTensor* const own[] = {&layer.own_first};
  const DeviceTensor sums = summed(run, layer, "squares", own);
  pool(run, layer, nullptr, sums.as<float>(), true);
}

/// The two sums of backward, [features] each.
void share_gradients(Run& run, LayerState& layer) {
  tap_handed(run, layer, "sum_dy", layer.own_second);
  tap_handed(run, layer, "sum_dy_h", layer.own_first);
  const DeviceTensor* const own[] = {&layer.own_second, &layer.own_first};
  const Tensor sums = summed(run, layer, "gradients", own).read();
  const std::size_t width = static_cast<std::size_t>(layer.in) * size_of(Dtype::fp32);
  run.device.write(layer.db_sum.row(0), sums.bytes.data(), width);
  run.device.write(layer.dw_sum.row(0), sums.bytes.data() + width, width);
  tap_statistics(run, layer, "sum_dy", layer.db_sum);
  tap_statistics(run, layer, "sum_dy_h", layer.dw_sum);
}

}  // namespace

void sync_statistics(Run& run, LayerState& layer, StepPart part) {
  const StepStatistics by = step_statistics_of(run.c);
  if (part == StepPart::gradients) return share_gradients(run, layer);
  if (part == StepPart::squares) {
    share_squares(run, layer);
  } else {
    const std::vector<std::int64_t> counts = meet(run, layer);
    if (by == StepStatistics::two_pass) {
      share_means(run, layer);
      return tap_statistics(run, layer, "mean", layer.mean);
    }
    by == StepStatistics::moments ? share_moments(run, layer, counts) : share_sums(run, layer);
    tap_statistics(run, layer, "mean", layer.mean);
  }
  tap_statistics(run, layer, "var", layer.var);
  tap_statistics(run, layer, "rstd", layer.rstd);
}

}  // namespace tally::stage
