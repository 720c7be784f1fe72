// Laws of sharding: it changes no bit, and shares the memory.
#include "oracle/case/sharding.hpp"

#include <algorithm>

#include "kernels/training_step/run/cost.hpp"
#include "kernels/training_step/run/own_step.hpp"
#include "oracle/case/contract.hpp"
#include "oracle/case/graph.hpp"
#include "oracle/case/io.hpp"
#include "oracle/case/rank_keys.hpp"
#include "oracle/case/ranks.hpp"
#include "properties/judge/ranks/ranks_of_trace.hpp"
#include "properties/laws/law.hpp"
#include "properties/laws/ranks/plans_of_ranks.hpp"
#include "properties/laws/run_and_check.hpp"
#include "properties/laws/shapes.hpp"

// Law: ranks that share the optimizer, each moving its own pieces and handing them to the others, leave the bits of ranks
// that each move all; so do ranks that share the sums of gradients and the buffers too, and the parameters.   Every operation of a step is made on one element by one rank alone; only the norm adds in another
// order, so that of a clip by norm both are asked within their bounds alone.
namespace tally::sharding_changes_nothing_law {
namespace {

void shape(Plan& plan) {
  at_least_windows(plan, 2);
  dealt_to_ranks_by_any_normalisation(plan);
  if (rank_word(plan.execution, "communicate") == "running_total") communicate(plan, "window");
  share(plan, "parameters");
}

/// The copies that the micro-batches of every window read, whole: what the last step left, whoever moved and keeps it.
Trace read_by_layers(const Case& c, const Trace& trace) {
  Trace own;
  own.claims = trace.claims;
  const Trace first = of_first_rank(c, trace);
  for (const Tap& tap : first.taps())
    if (tap.name.stage == "cast") own.add(tap.name, tap.value);
  return own;
}

/// Adds how `pieces` ran to `outcome`, and that it left the bits of `whole`.
void add_shared(Outcome& outcome, const Case& c, const Trace& whole, const RunOptions& subject) {
  CheckedRun pieces = run_and_check(c, subject);
  if (!clips_by_norm(c.recipe.clip))
    require_equal_bits(outcome, read_by_layers(shared_as(c, "none"), whole), read_by_layers(c, pieces.trace), {"cast"},
                       "ranks that share the " + rank_word(c, "sharding") + " left other bits than ranks that do not");
  add(outcome, std::move(pieces.outcome));
}

Outcome holds(const Case& c, const RunOptions& subject) {
  if (!has_ranks(c)) return not_for(needs_ranks);
  CheckedRun whole = run_and_check(shared_as(c, "none"), subject);
  if (whole.outcome.status == Status::not_run) return whole.outcome;
  add_shared(whole.outcome, shared_as(c, "optimizer"), whole.trace, subject);
  const Case each = with_rank_option(shared_as(c, "none"), "communicate", std::string("micro_batch"));
  if (!validate(each).empty()) return settled(std::move(whole.outcome));  // a case of a user's may not add up each
  const Trace of_each = run(each, subject);
  for (const char* word : {"gradients", "parameters"})
    add_shared(whole.outcome, shared_as(each, word), of_each, subject);
  return settled(std::move(whole.outcome));
}

bool differs(const Case& c, const RunOptions& subject) {
  return bits_differ(run(c, subject), run(with_other_input(c), subject), {"reduce"});
}

const RegisterLaw registered{{
    .name = "sharding_changes_nothing",
    .family = "ranks",
    .statement =
        "Ranks that share the optimizer, the gradients or the parameters leave what ranks with all of it leave.",
    .shape = shape,
    .holds = holds,
    .control = "one row of x changed gives other sums",
    .differs = differs,
    .weight = 0.5,
}};

}  // namespace
}  // namespace tally::sharding_changes_nothing_law

// Law: a rank holds as many bytes as its sharding says, of Psi elements in all and Psi_r in its pieces. A master is b_M
// Psi, of shared optimizers also b_M Psi_r, of shared parameters b_M Psi_r alone; optimizer state is b_M Psi_r for each of
// its tensors; stored copies are b_S Psi, of shared parameters also b_S Psi_r; and of shared gradients one micro-batch's
// is b_S Psi, their sum, their buffer and its compensation b_A Psi_r each, the unscaled ones 4 Psi_r. An offloaded step
// has its state and its unscaled gradients in the host's memory, with (b_M + b_A) Psi_r for what is copied there.   No
// piece is ever held whole, not even for a moment: peaks are counted.
namespace tally::shards_share_memory_law {
namespace {

void shape(Plan& plan) {
  dealt_to_ranks(plan);
  keep_ranks(plan);
  if (rank_word(plan.execution, "communicate") == "running_total") communicate(plan, "window");
  const char* const words[] = {"optimizer", "gradients", "parameters"};
  share(plan, words[plan.seed / 32 % 3]);
}

/// Elements of a stage's parameters that train, in all and in a rank's pieces, and of the others; bytes of running
/// values. Where no model is cut, one stage has all.
struct Elements {
  std::size_t all = 0, own = 0, frozen = 0, running = 0;
};
Elements elements_of(const Case& c, std::size_t rank, std::size_t stage) {
  const auto is_on = [&](const std::string& name) { return !is_pipelined(c) || stage_with_tensor(c, name) == stage; };
  Elements counted;
  for (const std::string& p : parameters_of(c.model))
    if (is_on(p)) {
      counted.all += c.tensors.at(p).elements();
      counted.own += static_cast<std::size_t>(piece_of(c, p, rank).count);
    }
  for (const std::string& p : weights_of(c.model))
    if (is_on(p)) counted.frozen += c.tensors.at(p).elements();
  counted.frozen -= counted.all;
  for (const auto& [name, tensor] : c.tensors)
    if ((name.ends_with(".running_mean") || name.ends_with(".running_var")) && is_on(name))
      counted.running += tensor.bytes.size();
  return counted;
}

/// Whether gradients are counted: shared ones, where no layers share a weight, whose parts are gradients too.
bool counts_gradients(const Case& c) { return shards_gradients(c) && shared_parameters(c.model).empty(); }

std::map<std::string, std::size_t> expected_bytes(const Case& c, std::size_t rank, std::size_t stage) {
  const Elements n = elements_of(c, rank, stage);
  const std::size_t storage = size_of(c.precision.storage), accumulate = size_of(c.precision.accumulate),
                    master = size_of(c.precision.master);
  const bool own_alone = shards_parameters(c);
  std::map<std::string, std::size_t> expected;
  expected["parameters"] = master * ((own_alone ? 0 : n.all) + n.own + n.frozen) + n.running;
  expected["optimizer state"] = master * state_of(c.recipe.optimizer).size() * n.own;
  if (offloads(c)) {
    expected["host memory"] = expected["optimizer state"] + (master + accumulate + sizeof(float)) * n.own;
    expected["optimizer state"] = 0;
  }
  expected["storage copies"] = storage * (n.all + n.frozen + (own_alone ? n.own : 0));
  if (!counts_gradients(c)) return expected;
  const auto kernel = c.execution.kernels.find("accumulate");
  const std::size_t sums = kernel != c.execution.kernels.end() && kernel->second == "kahan" ? 3 : 2;
  expected["gradients"] = storage * n.all + (sums * accumulate + (offloads(c) ? 0 : sizeof(float))) * n.own;
  return expected;
}

/// The stage that takes this kind of memory.
const char* stage_of(const std::string& kind) {
  if (kind == "gradients") return "reduce";
  return kind == "optimizer state" ? "optimizer" : "cast";
}

Outcome holds(const Case& c, const RunOptions& subject) {
  if (!has_ranks(c) || !shards_optimizer(c) || is_elastic(c))
    return not_for("as many ranks in every window that share the optimizer");
  Outcome outcome;
  try {
    require_tallys_kernels(subject, "the memory of each buffer");
    const std::vector<MemoryUse> processes = memory_of_ranks(c, subject);
    for (std::size_t i = 0; i < processes.size(); ++i) {
      const std::size_t rank = i / stages_of(c), stage = i % stages_of(c);
      const std::string who =
          (is_pipelined(c) ? "stage " + std::to_string(stage) + " of rank " : "rank ") + std::to_string(rank);
      for (const auto& [kind, bytes] : expected_bytes(c, rank, stage))
        require(outcome, processes[i].of(kind) == bytes, "peak bytes of " + kind, stage_of(kind),
                who + " took " + std::to_string(processes[i].of(kind)) + " bytes of " + kind + " at most; expected " +
                    std::to_string(bytes));
    }
  } catch (const NotSupported& reason) {
    outcome.status = Status::not_run;
    outcome.message = reason.what();
    return outcome;
  }
  return settled(std::move(outcome));
}

bool differs(const Case& c, const RunOptions& subject) {
  const auto bytes = [&](const Case& each) { return memory_of_ranks(each, subject).front().of("gradients"); };
  return bytes(c) != bytes(shared_as(c, "none"));
}

const RegisterLaw registered{{
    .name = "shards_share_memory",
    .family = "ranks",
    .statement = "Each rank holds its pieces of what ranks share, and nothing of it whole.",
    .shape = shape,
    .holds = holds,
    .control = "ranks that share nothing take other bytes for gradients",
    .differs = differs,
    .weight = 0.5,
}};

}  // namespace
}  // namespace tally::shards_share_memory_law

// Law: where every sum is exact in any order, ranks in groups that each keep all pieces leave the bits that one rank with
// all micro-batches leaves, whatever the groups' size.   A sum of the groups' sums is the sum over all ranks, and a mean of
// means of equal groups their mean.
namespace tally::replicas_change_nothing_law {
namespace {

void shape(Plan& plan) {
  constexpr int counts[] = {4, 8, 6};
  exact_arithmetic(plan);
  at_least_micro_batches(plan, 2);
  dealt_to_ranks(plan);
  plan.ranks = counts[plan.seed / 64 % 3];
  keep_ranks(plan);
  communicate(plan, "window");
  share(plan, plan.seed / 128 % 2 == 0 ? "gradients" : "parameters");
  set_rank_option(plan.execution, "replicas", std::int64_t{2});
  divide_exactly(plan);
  communicate(plan, "window");
}

/// The same ranks in every number of groups that divides those of each window, two at least.
std::vector<Case> in_every_group(const Case& c) {
  std::vector<Case> all;
  const auto divides = [&](std::int64_t replicas) {
    return std::ranges::all_of(generations_of(c), [&](const Generation& each) {
      return static_cast<std::int64_t>(each.ranks) % replicas == 0;
    });
  };
  for (std::int64_t replicas = 2; replicas <= static_cast<std::int64_t>(most_ranks_of(c)); ++replicas)
    if (divides(replicas)) all.push_back(with_rank_option(c, "replicas", replicas));
  return all;
}

Outcome holds(const Case& c, const RunOptions& subject) {
  if (!has_ranks(c) || !shards_gradients(c)) return not_for("ranks that share the gradients");
  Outcome all;
  const Trace alone = run(on_one_rank(c), subject);
  for (const Case& each : in_every_group(c)) {
    CheckedRun groups = run_and_check(each, subject);
    if (groups.outcome.status == Status::not_run) return groups.outcome;
    require_equal_bits(groups.outcome, alone, of_exact_sums(of_first_rank(each, groups.trace)),
                       {"unscale", "optimizer"},
                       std::to_string(rank_number(each, "replicas")) +
                           " groups left other bits than one rank alone, though every sum is exact");
    add(all, std::move(groups.outcome));
  }
  return settled(std::move(all));
}

bool differs(const Case& c, const RunOptions& subject) {
  return bits_differ(run(c, subject), run(with_other_input(c), subject), {"unscale"});
}

const RegisterLaw registered{{
    .name = "replicas_change_nothing",
    .family = "ranks",
    .statement = "Where every sum is exact, groups that each keep all pieces leave one rank's bits.",
    .shape = shape,
    .holds = holds,
    .control = "one row of x changed gives other bits",
    .differs = differs,
    .weight = 0.5,
}};

}  // namespace
}  // namespace tally::replicas_change_nothing_law
