// Law: a rank holds as many bytes as its sharding says, of Psi elements in all and Psi_r in its pieces. A master is b_M
// Psi, of shared optimizers also b_M Psi_r, of shared parameters b_M Psi_r alone; optimizer state is b_M Psi_r for each of
// its tensors; stored copies are b_S Psi, of shared parameters also b_S Psi_r; and of shared gradients one micro-batch's
// is b_S Psi, their sum, their buffer and its compensation b_A Psi_r each, the unscaled ones 4 Psi_r. An offloaded step
// has its state and its unscaled gradients in the host's memory, with (b_M + b_A) Psi_r for what is copied there.   No
// piece is ever held whole, not even for a moment: peaks are counted.
#include "kernels/training_step/memory.hpp"
#include "kernels/training_step/own_step.hpp"
#include "oracle/case/generations.hpp"
#include "oracle/case/graph.hpp"
#include "oracle/case/optimizer_state.hpp"
#include "oracle/case/pipeline.hpp"
#include "oracle/case/rank_keys.hpp"
#include "oracle/case/ranks.hpp"
#include "oracle/case/shards.hpp"
#include "properties/laws/outcome.hpp"
#include "properties/laws/ranks/dealt.hpp"

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
