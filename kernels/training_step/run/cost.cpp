// What a run takes: the time of each kernel operation, and the device's memory.
#include "kernels/training_step/run/cost.hpp"

#include <algorithm>
#include <ctime>
#include <exception>
#include <string_view>

#include "kernels/device/memory_account.hpp"
#include "kernels/ranks/fibres.hpp"
#include "kernels/trace/last_place.hpp"
#include "oracle/case/contract.hpp"
#include "oracle/case/ranks.hpp"
#include "oracle/case/sharding.hpp"

namespace tally {
namespace {

thread_local KernelClock* running = nullptr;

}  // namespace

KernelClock::KernelClock() { running = this; }
KernelClock::~KernelClock() { running = nullptr; }

KernelClock::Lap::Lap(Stream& stream, std::string_view operation) : stream_(stream) {
  note_operation(operation);
  if (running == nullptr) return;
  auto place = running->operations_.find(operation);
  if (place == running->operations_.end()) place = running->operations_.try_emplace(std::string(operation)).first;
  const std::uint64_t before = place->second.calls++;
  if (before >= all_timed && before % one_in != 0) return;
  timed_ = &place->second;
  from_ = now();
}

KernelClock::Lap::~Lap() {
  note_operation("");
  if (timed_ == nullptr || std::uncaught_exceptions() > 0) return;
  timed_->seconds += (now() - from_) * (timed_->calls > all_timed ? one_in : 1);
}

std::map<std::string, double> KernelClock::seconds() const {
  std::map<std::string, double> all;
  for (const auto& [operation, timed] : operations_) all[operation] = timed.seconds;
  return all;
}

double KernelClock::Lap::now() const {
  const bool on_device = stream_.device().kind() == ExecutorKind::cuda;
  if (on_device) stream_.synchronize();
  timespec time{};
  clock_gettime(on_device ? CLOCK_MONOTONIC : CLOCK_THREAD_CPUTIME_ID, &time);
  return static_cast<double>(time.tv_sec) + 1e-9 * static_cast<double>(time.tv_nsec);
}

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
