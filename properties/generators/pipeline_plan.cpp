#include <algorithm>

#include "kernels/device/executor/schedule.hpp"
#include "oracle/case/graph.hpp"
#include "oracle/case/kinds.hpp"
#include "oracle/case/rank_keys.hpp"
#include "oracle/case/ranks.hpp"
#include "oracle/case/sharding.hpp"
#include "properties/generators/choices.hpp"
#include "properties/generators/drawn_options.hpp"
#include "properties/generators/random_plan.hpp"
#include "properties/generators/token_plan.hpp"

namespace tally {
namespace {

/// As many of these places as are wanted, in order, each as likely.
std::vector<std::size_t> some_of(std::vector<std::size_t> places, std::size_t wanted, executor::Schedule& random) {
  while (places.size() > wanted)
    places.erase(places.begin() + static_cast<std::ptrdiff_t>(random.below(places.size())));
  return places;
}

/// In one plan of two, a cut behind an output that several layers read, if there is one, in the place of another.
void cut_in_front_of_a_block(const Plan& plan, const Model& model, const std::vector<std::size_t>& places,
                             std::vector<std::size_t>& cut) {
  constexpr std::uint64_t apart = 0xcbbb9d5du;
  executor::Schedule random(plan.seed ^ apart);
  std::vector<std::size_t> several;
  for (const std::size_t first : places)
    if (readers_of(model, first - 1).size() > 1) several.push_back(first);
  if (several.empty() || cut.empty() || random.below(2) == 0) return;
  const std::size_t wanted = several[random.below(several.size())];
  if (std::ranges::count(cut, wanted) > 0) return;
  cut[random.below(cut.size())] = wanted;
  std::ranges::sort(cut);
}

bool divides_all(const Case& c, std::size_t stages) {
  for (std::size_t w = 0; w < c.windows.size(); ++w)
    for (std::size_t rank = 0; rank < ranks_of(c, w); ++rank)
      if (micro_batches_of(c, w, rank) % stages != 0) return false;
  return true;
}

void set_number(Case& c, const char* key, std::size_t number) {
  set_rank_option(c.execution, key, static_cast<std::int64_t>(number));
}

/// Several chunks go with one schedule alone, and that with no other.
void set_chunks(Case& c, std::size_t stages, std::size_t chunks) {
  const bool interleaved = pipeline_schedule(c) == "interleaved";
  if (chunks == 1 && interleaved) set_rank_option(c.execution, "pipeline.schedule", std::string("1f1b"));
  if (chunks > 1) set_rank_option(c.execution, "pipeline.schedule", std::string("interleaved"));
  if (pipeline_schedule(c) != "gpipe") set_rank_option(c.execution, "pipeline.backward", std::string("fifo"));
  set_number(c, "pipeline.stages", stages);
  set_number(c, "pipeline.chunks", chunks);
}

void without_pipeline(Case& c) {
  for (const char* key :
       {"pipeline.stages", "pipeline.cut", "pipeline.chunks", "pipeline.schedule", "pipeline.backward"})
    set_rank_option(c.execution, key, standard_rank_option(key));
}

}  // namespace

void cut_into_stages(const Plan& plan, Case& c) {
  const std::vector<std::size_t> places = plan.stages > 1 ? places_to_cut(c.model) : std::vector<std::size_t>{};
  if (places.empty()) return without_pipeline(c);
  constexpr std::uint64_t apart = 0x1f83d9abu;
  executor::Schedule random(plan.seed ^ apart);
  const std::size_t stages = std::min(static_cast<std::size_t>(plan.stages), places.size() + 1);
  auto chunks = static_cast<std::size_t>(plan.chunks);
  while (chunks > 1 && (stages * chunks > places.size() + 1 || !divides_all(c, stages))) --chunks;
  set_chunks(c, stages, chunks);
  std::vector<std::size_t> firsts = some_of(places, stages * chunks - 1, random);
  cut_in_front_of_a_block(plan, c.model, places, firsts);
  std::vector<Decimal> cut;
  for (const std::size_t first : firsts) cut.push_back(Decimal{std::to_string(first)});
  set_rank_option(c.execution, "pipeline.cut", std::move(cut));
}

namespace {

/// Running values move with every micro-batch, of two rows or more, or never.
void normalised_by_micro_batch(Plan& plan) {
  std::int64_t least = 2;
  for (const auto& window : plan.windows)
    for (const std::int64_t rows : window) least = std::min(least, rows);
  for (Layer& layer : plan.hidden)
    if (takes_step_statistics(layer) || (layer.kind == kinds::batch_norm && layer.text("statistics") == "window"))
      layer.options["statistics"] = std::string(least < 2 ? "frozen" : "micro_batch");
  forget_running(plan.hidden);
}

/// How many parts the model can be cut into.
std::size_t most_parts(const Plan& plan) {
  Model model{plan.input, earlier_layers(plan), {}};
  if (plan.has_head) model.layers.push_back(layer("linear", "out", {{"out", plan.outputs}}));
  return places_to_cut(model).size() + 1;
}

/// Linear layers in front, until the model can be cut into so many parts; of one that cannot, as something far behind
/// reads its input, none but these. A model over tokens is cut into as many parts as it has.
void enough_layers(Plan& plan, std::size_t parts) {
  if (plan.tokens.width > 0) return;
  for (std::size_t i = 0; i < 2 * parts && most_parts(plan) < parts; ++i) {
    if (i == parts) plan.hidden.clear();
    plan.hidden.insert(plan.hidden.begin(), layer("linear", "stage" + std::to_string(i), {{"out", std::int64_t{4}}}));
  }
}

}  // namespace

void pipelined(Plan& plan) {
  constexpr std::uint64_t apart = 0x5be0cd19u;
  executor::Schedule random(plan.seed ^ apart);
  if (plan.seed % 7 < 2) attend(plan);
  plan.tokens.tied = false;  // else nothing between the table and the last layer can be cut
  normalised_by_micro_batch(plan);
  plan.ranks = 1;
  plan.next_ranks = 0;
  plan.execution.ranks = {};
  constexpr std::int64_t most_stages = 4, most_parts = 9;
  plan.stages = static_cast<int>(drawn_size("stages of a pipeline", random, most_stages));
  plan.chunks = static_cast<int>(random.below(2) == 0 ? drawn_size("chunks of a stage", random,
                                                                   std::max(most_parts / plan.stages, std::int64_t{1}))
                                                      : 1);
  const char* const schedules[] = {"gpipe", "1f1b", "1f1b", "gpipe"};
  const auto way = random.below(4);
  set_rank_option(plan.execution, "pipeline.schedule", std::string(schedules[way]));
  set_rank_option(plan.execution, "pipeline.backward", std::string(way == 3 ? "lifo" : "fifo"));
  set_rank_option(plan.execution, "arrival",
                  random.below(2) == 0 ? std::int64_t{0} : std::int64_t(1 + random.below(1000)));
  enough_layers(plan, static_cast<std::size_t>(plan.stages * plan.chunks));
  if (plan.chunks == 1) return;
  for (auto& window : plan.windows)  // whole rounds of the stages
    while (window.size() % static_cast<std::size_t>(plan.stages) != 0) window.push_back(2);
}

}  // namespace tally
