// A case that ranks train together, each its own run, and what they left as one trace.
#include "kernels/training_step/ranks/run_ranks.hpp"

#include <algorithm>
#include <iterator>
#include <limits>
#include <string_view>
#include <tuple>
#include <utility>

#include "kernels/ranks/fibres.hpp"
#include "kernels/ranks/link.hpp"
#include "kernels/trace/stage_group.hpp"
#include "kernels/trace/tap_name.hpp"
#include "kernels/training_step/run/run_parts.hpp"
#include "kernels/training_step/run/run_state.hpp"
#include "kernels/training_step/stages.hpp"
#include "oracle/case/io.hpp"
#include "oracle/case/rank_keys.hpp"
#include "oracle/case/ranks.hpp"
#include "oracle/case/sharding.hpp"
#include "oracle/graph/stage.hpp"

namespace tally {
namespace {

enum Way { forward, back, added };

/// Where a tap stands: the taps of one pass of a part stand together.
struct Place {
  int window = 0, part_of_window = 0, micro_batch = -1, way = forward, part = 0;
  auto key() const { return std::tuple(window, part_of_window, micro_batch, way, part); }
};

bool goes_back(std::string_view stage, std::string_view tensor) {
  if (stage == StageName::send) return tensor.starts_with("in.d.");
  if (stage == StageName::receive) return tensor.starts_with("d.");
  return stage == StageName::loss || stage == StageName::backward || stage == StageName::fork;
}

Place place_of(const Case& c, const TapName& name, int part) {
  Place at{name.window, part_of_window(name.stage, name.tensor), name.micro_batch, forward, part};
  if (name.micro_batch < 0) return at;
  at.way = name.stage == StageName::accumulate ? added : goes_back(name.stage, name.tensor) ? back : forward;
  if (at.way == forward) return at;
  at.part = -part;
  const auto count = static_cast<int>(c.windows[static_cast<std::size_t>(name.window)].size());
  if (goes_back_last_first(c)) at.micro_batch = 2 * count - 1 - name.micro_batch;  // behind all that go forward
  return at;
}

}  // namespace

Trace merged_stages(const Case& c, std::vector<Trace> traces) {
  Trace all;
  all.claims = traces.front().claims;
  all.groups = traces.front().groups;
  all.case_hash = traces.front().case_hash;
  struct Placed {
    Place at;
    Tap tap;
  };
  std::vector<Placed> placed;
  for (Trace& trace : traces) {
    all.claims.kernels.insert(trace.claims.kernels.begin(), trace.claims.kernels.end());  // of layers that it alone has
    for (const StageGroup& group : trace.groups)
      if (std::ranges::find(all.groups, group) == all.groups.end()) all.groups.push_back(group);
    for (std::string& violation : trace.violations)
      if (std::ranges::find(all.violations, violation) == all.violations.end())
        all.violations.push_back(std::move(violation));
    for (Tap& tap : std::move(trace).take_taps()) {
      const Place at = place_of(c, tap.name, part_of_tap(c, tap.name));
      placed.push_back({at, std::move(tap)});
    }
  }
  std::ranges::stable_sort(placed, {}, [](const Placed& each) { return each.at.key(); });
  for (Placed& each : placed) all.add(std::move(each.tap.name), std::move(each.tap.value));
  return all;
}

namespace {

/// The windows that this run trains, from what it takes up to what it leaves.
void run_between(Run& run, const Handover& between) {
  const auto windows = static_cast<int>(run.c.windows.size());
  const auto trains = [&](int window) { return trains_window(run.c, static_cast<std::size_t>(window)); };
  if (between.before != nullptr) {
    for (run.window = 0; !trains(run.window);) ++run.window;
    run.stages.load_checkpoint(run, *between.before);
  }
  run_windows(run);
  if (between.after == nullptr || !run.trace.violations.empty()) return;
  for (run.window = windows - 1; !trains(run.window);) --run.window;
  run.stages.save_checkpoint(run, *between.after);
}

}  // namespace

void run_rank(const Case& c, Link& link, const RunOptions& options, Trace& trace, const Handover& between) {
  const auto stages = static_cast<int>(stages_of(c));
  const int rank = link.rank() / stages;
  GroupLink ranks(link, link.rank() % stages, stages, link.size() / stages), pipe(link, rank * stages, 1, stages);
  const Case part = part_of(c, static_cast<std::size_t>(rank));
  RunOptions own = options;
  own.link = stages == 1 ? &link : &ranks;
  own.pipe = stages == 1 ? nullptr : &pipe;
  Run run(part, own, own.stages != nullptr ? *own.stages : shipped_stages());
  try {
    run_between(run, between);
    check_inputs(run);
  } catch (...) {
    trace = std::move(run.trace);
    throw;
  }
  trace = std::move(run.trace);
  if (!trace.violations.empty()) throw BrokenLink(trace.violations.front());
}

namespace {

/// Where a tap stands in the whole trace: ranks take turns at every sum.
class Order {
 public:
  explicit Order(const Trace& trace) {
    for (const Tap& tap : trace.taps()) {
      const bool each = tap.name.stage == StageName::reduce && tap.name.micro_batch >= 0;
      every_micro_batch_ = every_micro_batch_ || each;
      gradients_ = gradients_ || (each && tap.name.tensor.starts_with("in.d."));
    }
  }
  /// What begins the window stands in front of all micro-batches, its end behind.
  int micro_batch(const TapName& name) const {
    if (!every_micro_batch_) return 0;
    if (name.micro_batch >= 0) return name.micro_batch;
    return part_of_window(name.stage, name.tensor) == 0 ? -1 : std::numeric_limits<int>::max();
  }
  /// Gradients that are summed are accumulated behind their sum; what all put together stands in front of what each does
  /// with it, and what they hand over in front of that.
  int part(const TapName& name) const {
    if (name.stage == StageName::all_gather) return name.tensor.starts_with("in.") ? -2 : -1;
    constexpr int behind_the_sum = 3;
    return gradients_ && name.stage == StageName::accumulate ? behind_the_sum : part_of_window(name.stage, name.tensor);
  }

 private:
  bool every_micro_batch_ = false, gradients_ = false;
};

/// How often a rank has met the others for statistics: what all made of it stands behind what each handed over.
class Meetings {
 public:
  int at(const TapName& name) {
    if (name.stage != StageName::sync_statistics) return met_;
    const bool handed = name.tensor.starts_with("in.");
    met_ += handed_ && !handed;
    handed_ = handed;
    return met_;
  }

 private:
  bool handed_ = false;
  int met_ = 0;
};

/// The traces of all ranks as one.
Trace merged_ranks(std::vector<Trace> traces) {
  Trace all;
  all.claims = traces.front().claims;
  all.groups = traces.front().groups;
  all.case_hash = traces.front().case_hash;
  struct Placed {
    int window, micro_batch, part, met, rank;
    Tap tap;
  };
  const Order order(traces.front());
  std::vector<Placed> placed;
  for (Trace& trace : traces) {
    for (std::string& violation : trace.violations)
      if (std::ranges::find(all.violations, violation) == all.violations.end())
        all.violations.push_back(std::move(violation));
    Meetings meetings;
    for (Tap& tap : std::move(trace).take_taps()) {
      const int met = meetings.at(tap.name);
      placed.push_back(
          {tap.name.window, order.micro_batch(tap.name), order.part(tap.name), met, tap.name.rank, std::move(tap)});
    }
  }
  std::ranges::stable_sort(
      placed, {}, [](const Placed& at) { return std::tuple(at.window, at.micro_batch, at.part, at.met, at.rank); });
  for (Placed& at : placed) all.add(std::move(at.tap.name), std::move(at.tap.value));
  return all;
}

}  // namespace

std::size_t processes_of(const Case& c) { return ranks_of(c) * stages_of(c); }

/// One trace of all processes; each rank's stages of a pipeline are merged first.
Trace merged_processes(const Case& c, std::vector<Trace> traces) {
  if (!is_pipelined(c)) return merged_ranks(std::move(traces));
  if (c.dealt.empty()) return merged_stages(c, std::move(traces));
  const auto stages = static_cast<std::ptrdiff_t>(stages_of(c));
  std::vector<Trace> ranks;
  for (std::size_t rank = 0; rank < ranks_of(c); ++rank) {
    const auto first = traces.begin() + static_cast<std::ptrdiff_t>(rank) * stages;
    std::vector<Trace> own(std::make_move_iterator(first), std::make_move_iterator(first + stages));
    ranks.push_back(merged_stages(part_of(c, rank), std::move(own)));
  }
  return merged_ranks(std::move(ranks));
}

namespace {

/// A case whose number of ranks never changes, or a generation of one where it does.
Trace run_together(const Case& c, const RunOptions& options, const Handover& between) {
  const std::size_t processes = processes_of(c);
  std::vector<Trace> traces(processes);
  std::string broken;
  try {
    run_ranks_on_fibres(
        static_cast<int>(processes), static_cast<std::uint64_t>(rank_number(c, "arrival")),
        [&](Link& link) { run_rank(c, link, options, traces[static_cast<std::size_t>(link.rank())], between); },
        static_cast<int>(stages_of(c)));
  } catch (const BrokenLink& reason) {
    broken = reason.what();
  }
  Trace trace = merged_processes(c, std::move(traces));
  if (!broken.empty() && std::ranges::find(trace.violations, broken) == trace.violations.end())
    trace.violations.push_back(broken);
  add_guard_findings(options.executor, trace);
  return trace;
}

bool takes_a_step(const Trace& trace) {
  return std::ranges::any_of(trace.taps(), [](const Tap& tap) { return tap.name.stage == StageName::optimizer; });
}

}  // namespace

void add_generation(Trace later, Trace& all) {
  all.violations = std::move(later.violations);
  all.groups = later.groups;
  if (takes_a_step(later)) all.claims = later.claims;  // of what steps on the host, where it did
  for (Tap& tap : std::move(later).take_taps()) all.add(std::move(tap.name), std::move(tap.value));
}

namespace {

Trace run_generations(const Case& c, const RunOptions& options) {
  const std::size_t generations = generations_of(c).size();
  Trace all;
  Checkpoint left;
  for (std::size_t i = 0; i < generations && all.violations.empty(); ++i) {
    const Case generation = generation_of(c, i);
    Checkpoint next;
    Trace part = run_together(generation, options, {i > 0 ? &left : nullptr, i + 1 < generations ? &next : nullptr});
    if (i == 0)
      all = std::move(part);
    else
      add_generation(std::move(part), all);
    left = std::move(next);
  }
  all.case_hash = hash_of(c);
  return all;
}

}  // namespace

Trace run_ranks(const Case& c, const RunOptions& options) {
  if (!options.accumulate)
    throw NotSupported("a window without an accumulation buffer is one rank's; the case has ranks");
  return is_elastic(c) ? run_generations(c, options) : run_together(c, options, {});
}

}  // namespace tally
