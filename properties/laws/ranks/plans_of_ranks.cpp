// Plans whose micro-batches several ranks share, and what ranks sent each other.
#include "properties/laws/ranks/plans_of_ranks.hpp"

#include <algorithm>
#include <iterator>
#include <string>

#include "kernels/device/executor/schedule.hpp"
#include "oracle/case/kept_tensors.hpp"
#include "oracle/case/rank_keys.hpp"
#include "oracle/case/ranks.hpp"
#include "properties/generators/choices.hpp"
#include "properties/generators/drawn_options.hpp"

namespace tally {

namespace {

void set_division(Plan& plan, const std::string& word, const char* factor) {
  set_rank_option(plan.execution, "reduce.divide", word);
  set_rank_option(plan.execution, "reduce.factor", Decimal{word == "split" ? factor : "0"});
}

/// Half of all sums are divided, each way as often; of those with a window that divides by nothing a third when they are
/// unscaled.
void divided(Plan& plan, std::int64_t way, std::int64_t factor) {
  const char* const words[] = {"before", "after", "split", "collective", "unscale"};
  const char* const factors[] = {"2", "4", "3", "1.5"};
  const bool means =
      plan.normalisation == Normalisation::mean_of_means || plan.normalisation == Normalisation::rank_means;
  const bool divides = plan.empty_window || plan.seed % 2 == 0;
  std::string word = way < 5 && divides ? words[way] : "loss";
  if (plan.empty_window && plan.seed % 3 == 0) word = "unscale";
  if (word == "unscale" && means) word = "loss";
  set_division(plan, word, factors[factor]);
}

/// The last of several windows, in one plan of three whose data are ordinary; items of mse have weights then.
void empty_a_window(Plan& plan) {
  constexpr std::uint64_t apart = 0x7f4a7c15u;
  const bool may = plan.windows.size() > 1 && plan.data == Data::ordinary;
  plan.empty_window = may && executor::Schedule(plan.seed ^ apart).below(3) == 0;
  if (plan.empty_window && plan.loss.kind == "mse") plan.loss.options["item_weights"] = true;
}

/// Half of all ranks share the optimizer, some the gradients too, or the parameters as well, but for those whose sums are
/// running totals.
void sharded(Plan& plan, std::int64_t drawn) {
  const bool shares = drawn < 3 && rank_word(plan.execution, "communicate") != "running_total";
  const char* const most = plan.seed % 2 == 0 ? "gradients" : "parameters";
  share(plan, !shares ? "none" : drawn < 2 ? "optimizer" : most);
  set_rank_option(plan.execution, "reduce.norm", std::string(shares && drawn == 0 ? "norms" : "squares"));
}

/// Half of those that share gradients do so in groups, where their number is not prime.
void replicated(Plan& plan) {
  const std::string& shared = rank_word(plan.execution, "sharding");
  const bool keeps_sums = shared == "gradients" || shared == "parameters";
  const bool drawn =
      plan.ranks % 2 == 0 && plan.seed / 4 % 2 == 0 && rank_word(plan.execution, "reduce.divide") != "split";
  const int most = plan.ranks > 2 ? plan.ranks / 2 : 2, replicas = plan.seed / 8 % 2 == 0 ? 2 : most;
  set_rank_option(plan.execution, "replicas", std::int64_t{keeps_sums && drawn ? replicas : 1});
}

/// Half of all sums travel in a format of their own, which may be the buffer's too.
void wired(Plan& plan, std::int64_t drawn) {
  const char* const words[] = {"fp32", "fp16", "bf16"};
  set_rank_option(plan.execution, "reduce.wire", std::string(drawn < 3 ? words[drawn] : "buffer"));
}

/// One sum in eight is in an order that nobody declares, so that no bits are promised behind it.
std::string algorithm_of(std::int64_t drawn, std::uint64_t seed) {
  constexpr const char* declared[] = {"in_order",   "recursive_doubling", "ring",
                                      "all_to_all", "recursive_halving",  "tree"};
  if (seed / 64 % 8 == 0) return seed / 512 % 2 == 0 ? "arrival" : "library";
  return declared[drawn];
}

/// Half of those whose additions are made by one rank alone, of numbers of 16 bits, add in fp32.
void accumulated(Plan& plan) {
  const std::string& wire = rank_word(plan.execution, "reduce.wire");
  const bool narrow = (wire == "buffer" ? plan.precision.accumulate : *dtype_of(wire)) != Dtype::fp32;
  const bool may = narrow && keeps_partial_sums(rank_word(plan.execution, "reduce.algorithm"));
  set_rank_option(plan.execution, "reduce.accumulate", std::string(may && plan.seed / 16 % 2 == 0 ? "fp32" : "wire"));
}

/// Every rank normalises by its own micro-batches where these have rows enough, a third of the plans by those of all
/// ranks; of the others half keep every rank's running values.
void normalised_on_ranks(Plan& plan) {
  std::int64_t least = 2;
  for (const auto& window : plan.windows)
    for (const std::int64_t rows : window) least = std::min(least, rows);
  const bool each = plan.seed / 16 % 2 == 0, together = plan.seed / 32 % 3 == 0 && plan.tokens.width == 0;
  for (Layer& layer : plan.hidden) {
    if (layer.kind != "batch_norm") continue;
    if (layer.text("statistics") == "window" || (layer.text("statistics") == "micro_batch" && least < 2))
      layer.options["statistics"] = std::string(least < 2 ? "frozen" : "micro_batch");
    if (together && layer.text("statistics") != "frozen") layer.options["statistics"] = std::string("micro_step");
    const bool moves = layer.text("statistics") == "micro_batch";
    layer.options["running"] = std::string(moves && each ? "each" : "first_rank");
  }
}

/// A case without what the rules of ranks refuse beside its word.
void communicated(Plan& plan, std::int64_t drawn) {
  const std::string& divide = rank_word(plan.execution, "reduce.divide");
  const bool stands_alone = divide == "loss" || divide == "unscale";
  const std::string word = drawn == 0 ? "micro_batch" : drawn == 1 && !stands_alone ? "running_total" : "window";
  communicate(plan, word);
}

}  // namespace

void communicate(Plan& plan, const std::string& word) {
  auto& kernels = plan.execution.kernels;
  set_rank_option(plan.execution, "communicate", word);
  if (word == "running_total") share(plan, "none");
  if (word == "micro_batch" && kernels.contains("linear.weight_gradient")) kernels.erase("linear.weight_gradient");
  if (word == "running_total" && kernels.contains("accumulate")) kernels.erase("accumulate");
}

void share(Plan& plan, const std::string& word) {
  auto& kernels = plan.execution.kernels;
  const bool keeps_sums = word == "gradients" || word == "parameters";
  set_rank_option(plan.execution, "sharding", word);
  if (word != "none" && reads_whole_tensors(plan.recipe.optimizer)) plan.recipe.optimizer = choice("optimizer", "adam");
  if (!keeps_sums) set_rank_option(plan.execution, "replicas", std::int64_t{1});
  if (keeps_sums && kernels.contains("linear.weight_gradient")) kernels.erase("linear.weight_gradient");
}

void divide_exactly(Plan& plan) {
  set_rank_option(plan.execution, "reduce.wire", std::string("buffer"));
  set_rank_option(plan.execution, "reduce.accumulate", std::string("wire"));
  const char* const words[] = {"before", "after", "split", "collective"};
  const bool power_of_two = (plan.ranks & (plan.ranks - 1)) == 0 && (plan.next_ranks & (plan.next_ranks - 1)) == 0;
  const std::string word = power_of_two ? words[plan.seed / 2 % 4] : "loss";
  const bool in_groups = std::get<std::int64_t>(rank_option(plan.execution, "replicas")) > 1;
  set_division(plan, in_groups && word == "split" ? "after" : word, "2");
  if (!power_of_two) communicate(plan, plan.seed % 3 == 0 ? "micro_batch" : "window");
}

void dealt_to_ranks(Plan& plan) {
  constexpr std::uint64_t apart = 0x510e527fu;
  executor::Schedule random(plan.seed ^ apart);
  const auto drawn = [&](std::uint64_t limit) { return static_cast<std::int64_t>(random.below(limit)); };
  constexpr std::int64_t most_ranks = 8;
  plan.ranks = static_cast<int>(drawn_size("ranks", random, most_ranks, 2));
  if (plan.normalisation == Normalisation::mean_of_means_configured) plan.normalisation = Normalisation::mean_of_means;
  normalised_on_ranks(plan);
  set_rank_option(plan.execution, "reduce.algorithm", algorithm_of(drawn(6), plan.seed));
  const std::int64_t elements = drawn(3);
  set_rank_option(plan.execution, "buckets.elements", elements == 0 ? 0 : 1 + drawn(64));
  set_rank_option(plan.execution, "buckets.order", std::string(random.below(2) == 0 ? "model" : "reverse"));
  set_rank_option(plan.execution, "buckets.align", random.below(2) == 0 ? std::int64_t{1} : 1 + drawn(8));
  const std::int64_t way = drawn(6), factor = drawn(4);
  empty_a_window(plan);
  divided(plan, way, factor);
  communicated(plan, drawn(5));
  sharded(plan, drawn(6));
  replicated(plan);
  set_rank_option(plan.execution, "arrival", random.below(2) == 0 ? std::int64_t{0} : 1 + drawn(1000));
  wired(plan, drawn(6));
  accumulated(plan);
  set_rank_option(plan.execution, "offload", random.below(4) == 0);
  const char* const statistics[] = {"moments", "sums", "two_pass"};
  const bool shares = std::ranges::any_of(plan.hidden, takes_step_statistics);
  set_rank_option(plan.execution, "statistics", std::string(statistics[shares ? drawn(3) : 0]));
  plan.next_ranks = 0;
  if (random.below(6) == 0 && plan.windows.size() > 1) change_ranks(plan);
}

void change_ranks(Plan& plan) {
  constexpr std::uint64_t apart = 0x1f83d9abu;
  executor::Schedule random(plan.seed ^ apart);
  while (plan.windows.size() < 2) plan.windows.push_back(plan.windows.front());
  forget_running(plan.hidden);
  const auto replicas = static_cast<int>(std::get<std::int64_t>(rank_option(plan.execution, "replicas")));
  plan.next_ranks =
      replicas * (1 + static_cast<int>(random.below(static_cast<std::uint64_t>(std::max(2, 8 / replicas)))));
  if (plan.next_ranks == plan.ranks) plan.next_ranks = plan.ranks > replicas ? plan.ranks - replicas : 2 * replicas;
}

void keep_ranks(Plan& plan) { plan.next_ranks = 0; }

void dealt_to_ranks_by_any_normalisation(Plan& plan) {
  constexpr Normalisation all[] = {Normalisation::window_items, Normalisation::rank_means, Normalisation::mean_of_means,
                                   Normalisation::sum};
  plan.normalisation = all[plan.seed % std::size(all)];
  dealt_to_ranks(plan);
}

std::vector<Case> by_every_algorithm(const Case& c) {
  std::vector<Case> all;
  for (const std::string algorithm :
       {"in_order", "recursive_doubling", "ring", "all_to_all", "recursive_halving", "tree", "arrival", "library"}) {
    all.push_back(with_rank_option(c, "reduce.algorithm", algorithm));
    if (!keeps_partial_sums(algorithm)) set_rank_option(all.back().execution, "reduce.accumulate", std::string("wire"));
  }
  return all;
}

std::vector<Case> by_every_wire(const Case& c) {
  std::vector<Case> all;
  for (const std::string wire : {"fp32", "fp16", "bf16"}) {
    all.push_back(with_rank_option(c, "reduce.wire", wire));
    if (wire == "fp32") set_rank_option(all.back().execution, "reduce.accumulate", std::string("wire"));
  }
  return all;
}

Trace of_exact_sums(Trace trace) {
  trace.claims.kernels.erase("reduce");
  return trace;
}

Case shared_as(Case c, const std::string& word) {
  set_rank_option(c.execution, "replicas", std::int64_t{1});
  return with_rank_option(std::move(c), "sharding", word);
}

void freeze_batch_norm(Plan& plan) {
  forget_running(plan.hidden);
  for (Layer& layer : plan.hidden)
    if (layer.kind == "batch_norm") layer.options["statistics"] = std::string("frozen");
}

Case on_one_rank(Case c) {
  c.dealt.clear();
  forget_running(c.model.layers);
  c.execution.ranks = {};
  return c;
}

bool has_ranks(const Case& c) { return most_ranks_of(c) > 1; }

std::uint64_t bytes_sent(const TrafficScope& scope, std::size_t process, int window, const std::string& stage) {
  const auto own = scope.ranks().find(static_cast<int>(process));
  if (own == scope.ranks().end()) return 0;
  const auto found = own->second.find("w" + std::to_string(window) + "/" + stage);
  return found == own->second.end() ? 0 : found->second;
}

std::uint64_t all_bytes_sent(const Case& c, const RunOptions& subject) {
  const TrafficScope scope;
  run(c, subject);
  std::uint64_t all = 0;
  for (const auto& [process, traffic] : scope.ranks())
    for (const auto& [stage, bytes] : traffic) all += bytes;
  return all;
}

}  // namespace tally
