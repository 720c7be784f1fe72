// The executor's findings in words.
#include <algorithm>
#include <cctype>
#include <map>
#include <string>
#include <string_view>
#include <utility>

#include "kernels/device/executor/state.hpp"

namespace tally::executor {
namespace {

std::string text(uint3 at) {
  return "(" + std::to_string(at.x) + ", " + std::to_string(at.y) + ", " + std::to_string(at.z) + ")";
}

/// "threads 0-31, 40".
std::string ranges(const std::vector<unsigned>& threads) {
  std::string all = threads.size() == 1 ? "thread " : "threads ";
  for (std::size_t i = 0; i < threads.size();) {
    std::size_t last = i;
    while (last + 1 < threads.size() && threads[last + 1] == threads[last] + 1) ++last;
    if (i > 0) all += ", ";
    all += std::to_string(threads[i]);
    if (last > i) all += "-" + std::to_string(threads[last]);
    i = last + 1;
  }
  return all;
}

}  // namespace

/// The kernel out of "... (* kernel)(Parameters ...) = NAME; ...]" (g++) or "... kernel = NAME]" (clang).
std::string kernel_name(std::string_view pretty) {
  const auto parameter =
      pretty.rfind(" kernel)") != std::string_view::npos ? pretty.rfind(" kernel)") : pretty.rfind("kernel = ");
  const auto equals = pretty.find(" = ", parameter);
  if (parameter == std::string_view::npos || equals == std::string_view::npos) return std::string(pretty);
  std::string_view name = pretty.substr(equals + 3);
  name = name.substr(0, std::min(name.rfind(']'), name.find("; ")));
  std::string short_name(name);
  for (const std::string_view unnamed : {"{anonymous}::", "(anonymous namespace)::"})  // with the namespaces around it
    for (std::size_t at; (at = short_name.find(unnamed)) != std::string::npos;) {
      const auto outside = [](char c) { return c != ':' && c != '_' && !std::isalnum(static_cast<unsigned char>(c)); };
      std::size_t first = at;
      while (first > 0 && !outside(short_name[first - 1])) --first;
      short_name.erase(first, at + unnamed.size() - first);
    }
  for (const std::string_view drop : {"tally::", "& ", "&"})
    for (std::size_t at; (at = short_name.find(drop)) != std::string::npos;) short_name.erase(at, drop.size());
  return short_name;
}

std::string describe(std::source_location at) { return std::string(at.file_name()) + ":" + std::to_string(at.line()); }

std::string describe_thread(unsigned thread) { return "thread " + text(index_of(thread)); }

std::string place() {
  const Launch& launch = *state().launch;
  const std::string name = kernel_name(launch.kernel);
  return "kernel " + (name.empty() ? "" : name + " ") + "launched at " + describe(launch.at) + ", block " +
         text(blockIdx);
}

std::string_view name_of(Collective collective) {
  switch (collective) {
    case Collective::sync:
      return "__syncwarp";
    case Collective::shuffle:
      return "__shfl_sync";
    case Collective::shuffle_up:
      return "__shfl_up_sync";
    case Collective::shuffle_down:
      return "__shfl_down_sync";
    case Collective::shuffle_xor:
      return "__shfl_xor_sync";
    case Collective::ballot:
      return "__ballot_sync";
    case Collective::any:
      return "__any_sync";
    case Collective::all:
      return "__all_sync";
  }
  return "a collective";
}

std::string describe_deadlock() {
  const State& s = state();
  std::map<std::string, std::vector<unsigned>> waits;
  for (const Fibre* fibre : s.barrier.waiting) {
    waits["__syncthreads at " + describe(s.barrier.at)].push_back(fibre->thread);
  }
  for (unsigned first = 0; first < thread_order.count; first += lanes_a_warp) {
    const Warp& warp = s.warps[first / lanes_a_warp];
    for (const Pending& it : warp.pending) {
      std::vector<unsigned> missing;
      for (unsigned lane = 0; lane < lanes_a_warp; ++lane) {
        if ((it.mask & ~(it.arrived | warp.ended)) >> lane & 1u) missing.push_back(first + lane);
      }
      for (unsigned lane = 0; lane < lanes_a_warp; ++lane) {
        if (it.waiting[lane] == nullptr) continue;
        waits[std::string(name_of(it.collective)) + " at " + describe(it.at[lane]) + " for " + ranges(missing)]
            .push_back(first + lane);
      }
    }
  }
  std::string all = "deadlock";
  for (const char* separator = ": "; auto& [wait, threads] : waits) {
    std::ranges::sort(threads);
    all += std::exchange(separator, "; ") + ranges(threads) + " in " + wait;
  }
  return all;
}

}  // namespace tally::executor
