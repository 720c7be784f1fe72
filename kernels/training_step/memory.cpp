#include "kernels/training_step/memory.hpp"

#include <algorithm>
#include <string_view>

#include "kernels/device/memory_account.hpp"
#include "kernels/ranks/fibres.hpp"
#include "oracle/case/optimizer_state.hpp"
#include "oracle/case/pipeline.hpp"
#include "oracle/case/ranks.hpp"

namespace tally {
namespace {

using Names = std::initializer_list<std::string_view>;

bool is_one_of(std::string_view name, Names names) { return std::ranges::find(names, name) != names.end(); }

bool starts_with_one_of(std::string_view name, Names starts) {
  return std::ranges::any_of(starts, [&](std::string_view start) { return name.starts_with(start); });
}

}  // namespace

std::string memory_kind(const std::string& buffer_name) {
  const std::string_view name = buffer_name, last = name.substr(name.rfind('.') + 1);
  const auto dots = std::ranges::count(name, '.');
  if (is_one_of(name, {"x", "tokens", "positions", "sequence begins", "sequence ends", "target", "item_weight",
                       "class weights"}))
    return "data";
  if (name.starts_with("host's ")) return "host memory";
  if (name.starts_with("copy of ")) return "storage copies";
  if (starts_with_one_of(name, {"gradient of ", "buffer of ", "compensation of ", "unscaled gradient of "}))
    return "gradients";
  if (!parameter_of_state(name).empty()) return "optimizer state";
  if (is_one_of(name, {"scale", "inverse_scale", "growth_counter", "norm", "coefficient", "found", "partial norms",
                       "bucket of ranks", "addend of ranks", "sum of ranks", "moments of ranks"}))
    return "workspace";
  if (name == "partial bias gradients" || starts_with_one_of(name, {"order of ", "sums of "})) return "workspace";
  if (name.starts_with("kept ")) return "kept activations";
  if (name.starts_with("received d.")) return "received gradients";
  if (name.starts_with("received ")) return "received activations";
  if (name == "loss") return "activations";
  if (dots == 0) return "unknown";
  if (last == "mask") return "data";
  if (is_one_of(last, {"weight", "bias", "running_mean", "running_var"})) return "parameters";
  if (is_one_of(last, {"y", "x", "q", "k", "v", "gate", "up", "mean", "var", "rstd", "lse", "delta", "dw_sum", "db_sum",
                       "own_first", "own_second"}))
    return "activations";
  return "unknown";
}

std::size_t MemoryUse::of(const std::string& kind) const {
  const auto found = kinds.find(kind);
  return found == kinds.end() ? 0 : found->second;
}

MemoryUse memory_of(const Case& c, RunOptions options) {
  options.taps = false;
  const MemoryAccount account(device(options.executor), memory_kind);
  run(c, options);
  return {account.peak(), account.peaks()};
}

namespace {

/// "3 gradients" of the rank that asks for the buffer.
std::string kind_by_rank(const std::string& buffer_name) {
  return std::to_string(running_rank()) + " " + memory_kind(buffer_name);
}

}  // namespace

std::vector<MemoryUse> memory_of_ranks(const Case& c, RunOptions options) {
  options.taps = false;
  const MemoryAccount account(device(options.executor), kind_by_rank);
  run(c, options);
  std::vector<MemoryUse> all(most_ranks_of(c) * stages_of(c));
  for (const auto& [kind, bytes] : account.peaks()) {
    const std::size_t blank = kind.find(' ');
    all.at(std::stoul(kind.substr(0, blank))).kinds[kind.substr(blank + 1)] = bytes;
  }
  return all;
}

}  // namespace tally
