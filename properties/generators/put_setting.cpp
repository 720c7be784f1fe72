#include <algorithm>
#include <utility>

#include "kernels/device/executor/schedule.hpp"
#include "oracle/case/file/parts.hpp"
#include "oracle/case/kinds.hpp"
#include "oracle/case/rank_keys.hpp"
#include "oracle/case/rules/rules.hpp"
#include "properties/generators/choices.hpp"
#include "properties/generators/plan.hpp"
#include "properties/generators/settings.hpp"

namespace tally {
namespace {

std::optional<std::string> first_broken(const Case& frame) {
  Findings findings;
  apply_rules(frame, findings, false);
  for (const CaseError& error : findings.errors())
    if (!error.path.starts_with("$.tensors"))
      return error.path + ": found " + error.found + ", expected " + error.expected;
  return std::nullopt;
}

}  // namespace

std::optional<std::string> broken_rule(const Plan& plan) { return first_broken(case_frame(plan)); }

OptionValue as_long_as(OptionValue value, std::int64_t outputs) {
  if (auto* numbers = std::get_if<std::vector<Decimal>>(&value); numbers != nullptr && !numbers->empty()) {
    const Decimal first = numbers->front();
    numbers->clear();
    for (std::int64_t i = 0; i < outputs; ++i) numbers->push_back(i % 2 == 0 ? first : Decimal{"1"});
  }
  return value;
}

namespace {

class Putter {
 public:
  Putter(Plan& plan, const CaseSetting& setting, std::uint64_t seed)
      : plan_(plan), setting_(setting), random_(seed ^ 0x3c6ef372fe94f82bull) {}

  void put() {
    put_by_section();
    if (!plan_.has_head) plan_.outputs = hidden_features(plan_);
    const bool by_outputs = setting_.section == "loss" && setting_.is_option();
    if (by_outputs) plan_.loss.options[setting_.option] = as_long_as(setting_.value, plan_.outputs);
  }

 private:
  void put_by_section() {
    if (setting_.section == "ranks") return put_on_ranks();
    if (setting_.section == "normalisation") return weigh_items();
    if (setting_.section == "layer") return put_in_layer();
    put_in(setting_.section == "loss" ? plan_.loss : section());
    if (setting_.section == "loss") plan_.outputs = std::max<std::int64_t>(plan_.outputs, 2);
  }

  Choice& section() {
    for (const RecipeSection& each : recipe_sections)
      if (each.name == setting_.section) return plan_.recipe.*each.choice;
    return plan_.loss;
  }

  void put_in(Choice& choice) {
    if (choice.kind != setting_.kind) choice = choice_of(setting_.section, setting_.kind);
    if (setting_.is_option()) choice.options[setting_.option] = setting_.value;
    suit(choice.options);
  }

  /// What an option needs beside it.
  void suit(Options& options) {
    const auto is = [&](const char* option) { return setting_.option == option; };
    if (is("nesterov") && setting_.value == OptionValue(true)) {
      options["momentum"] = Decimal{"0.9"};  // it looks ahead along
      options["dampening"] = Decimal{"0"};
    }
    if (is("running")) options["statistics"] = std::string("micro_batch");
    if (is("warmup")) options["total"] = std::int64_t{10};
    if (is("total")) options["warmup"] = std::int64_t{0};
  }

  void weigh_items() {
    for (const Normalisation each : normalisations)
      if (name_of(each) == setting_.kind) plan_.normalisation = each;
  }

  void put_on_ranks() {
    if (setting_.kind.starts_with("pipeline.")) {
      plan_.stages = std::max(plan_.stages, 2);
      const bool interleaved = setting_.value == OptionValue(std::string("interleaved"));
      if (interleaved)
        interleave();
      else if (setting_.kind == "pipeline.schedule" || setting_.value == OptionValue(std::string("lifo")))
        plan_.chunks = 1;
    } else {
      plan_.ranks = std::max(plan_.ranks, 2);
    }
    set_rank_option(plan_.execution, setting_.kind, setting_.value);
    suit_ranks();
  }

  /// What a word of ranks needs, or takes the place of.
  void suit_ranks() {
    const auto set = [&](const char* key, OptionValue value) {
      set_rank_option(plan_.execution, key, std::move(value));
    };
    const auto word = [&](const char* key) { return rank_word(plan_.execution, key); };
    set("reduce.factor", Decimal{word("reduce.divide") == "split" ? "2" : "0"});
    if (word("reduce.accumulate") == "fp32" && setting_.kind == "reduce.accumulate") {
      if (!keeps_partial_sums(word("reduce.algorithm"))) set("reduce.algorithm", std::string("in_order"));
      if (word("reduce.wire") == "buffer" || word("reduce.wire") == "fp32") set("reduce.wire", std::string("bf16"));
    } else if (setting_.kind.starts_with("reduce.")) {
      set("reduce.accumulate", std::string("wire"));
    }
    if (setting_.kind == "statistics") share_statistics();
  }

  void share_statistics() {
    auto norm = std::ranges::find(plan_.hidden, std::string("batch_norm"), &Layer::kind);
    if (norm == plan_.hidden.end())
      norm = plan_.hidden.begin() + static_cast<std::ptrdiff_t>(add(layer(
                                        "batch_norm", "put_shared", {{"statistics", std::string("micro_step")}})));
    norm->options["statistics"] = std::string("micro_step");
    norm->options["running"] = std::string("first_rank");
  }

  /// Parts for two stages of two chunks, and micro-batches in rounds of the stages.
  void interleave() {
    plan_.chunks = std::max(plan_.chunks, 2);
    for (int i = 0; i < 3; ++i) add(layer("scale", "put_part" + std::to_string(i), {{"factor", Decimal{"1"}}}));
    for (auto& window : plan_.windows)
      while (window.size() % static_cast<std::size_t>(plan_.stages) != 0) window.push_back(2);
  }

  /// What a required option says: any word, two numbers that differ, and of integers the least, which goes with any size.
  OptionValue said_for(const Contract& contract, const Option& option) {
    if (option.type == OptionType::integer && contract.section == "layer")
      return option.range.at_least.empty() ? std::int64_t{1} : std::int64_t{std::stoll(option.range.at_least)};
    if (option.type == OptionType::number_list) return std::vector<Decimal>{Decimal{"0.125"}, Decimal{"0.0625"}};
    const auto values = values_worth_drawing(contract, option);
    return option.type == OptionType::text ? values[random_.below(values.size())] : values.back();
  }

  Choice choice_of(std::string_view section, const std::string& kind) {
    const Contract& contract = *find_contract(section, kind);
    Options options;
    for (const Option& option : contract.options)
      if (!option.standard) options.emplace(option.name, said_for(contract, option));
    return choice(section, kind, options);
  }

  /// Tables are of the plan itself.
  bool put_in_table() {
    TokenPlan& tokens = plan_.tokens;
    const bool places = setting_.kind == kinds::position_embedding;
    if (tokens.width == 0 || (!places && setting_.kind != kinds::embedding)) return false;
    tokens.positions = tokens.positions || places;
    if (setting_.option == "trainable")
      (places ? tokens.frozen_positions : tokens.frozen) = setting_.value == OptionValue(false);
    return !setting_.is_option() || setting_.option == "trainable";
  }

  void put_in_layer() {
    if (put_in_table()) return;
    std::vector<std::size_t> there;
    for (std::size_t i = 0; i < plan_.hidden.size(); ++i)
      if (plan_.hidden[i].kind == setting_.kind) there.push_back(i);
    if (there.empty() || random_.below(4) == 0) {  // another one leaves room for another value beside it
      Layer added;
      static_cast<Choice&>(added) = choice_of("layer", setting_.kind);
      added.name = "put_" + std::to_string(plan_.hidden.size()) + "_" + setting_.kind;
      there = {add(std::move(added))};
    }
    if (!setting_.is_option()) return;
    Layer& chosen = plan_.hidden[there[random_.below(there.size())]];
    if (setting_.option == "trainable")
      chosen.trainable = std::get<bool>(setting_.value);
    else
      put_in(chosen);
  }

  /// Behind any layer, whose readers read the added one then; what takes two inputs reads that layer and a multiple of
  /// it. Its place.
  std::size_t add(Layer added) {
    if (plan_.hidden.empty()) {
      plan_.hidden.push_back(std::move(added));
      return 0;
    }
    std::size_t at = random_.below(plan_.hidden.size());
    std::string& name = plan_.hidden[at].name;
    if (name.empty()) name = "before_" + added.name;
    const std::string read = name;
    for (std::size_t i = at + 1; i < plan_.hidden.size(); ++i)
      std::ranges::replace(plan_.hidden[i].inputs, read, added.name);
    const auto insert = [&](Layer layer) {
      plan_.hidden.insert(plan_.hidden.begin() + static_cast<std::ptrdiff_t>(++at), std::move(layer));
    };
    added.inputs = {read};
    if (find_contract("layer", added.kind)->least_inputs == 2) {
      Layer multiple = layer("scale", "multiple_" + added.name, {{"factor", Decimal{"0.5"}}});
      multiple.inputs = {read};
      added.inputs.push_back(multiple.name);
      insert(std::move(multiple));
    }
    insert(std::move(added));
    return at;
  }

  Plan& plan_;
  const CaseSetting& setting_;
  executor::Schedule random_;
};

}  // namespace

std::string rule_against(const Plan& plan, const std::vector<std::size_t>& wanted) {
  Case c = case_frame(plan);
  for (const std::size_t each : wanted)
    if (settings()[each].section == "ranks")
      set_rank_option(c.execution, settings()[each].kind, settings()[each].value);
  return first_broken(c).value_or("no place in this model for it");
}

std::optional<std::string> put(Plan& plan, std::size_t setting, std::uint64_t seed, std::vector<std::size_t> beside) {
  if (settings_of(case_frame(plan)).contains(setting)) return std::nullopt;
  Plan tried = plan;
  Putter(tried, settings().at(setting), seed).put();
  Case c = case_frame(tried);
  auto rule = first_broken(c);
  if (rule && !tried.execution.kernels.empty()) {  // one that was drawn stands against few settings alone
    tried.execution.kernels.clear();
    c = case_frame(tried);
    rule = first_broken(c);
  }
  if (rule) return rule;
  const std::set<std::size_t> said = settings_of(c);
  beside.push_back(setting);
  if (!std::ranges::all_of(beside, [&](std::size_t each) { return said.contains(each); }))
    return rule_against(tried, beside);
  plan = std::move(tried);
  return std::nullopt;
}

}  // namespace tally
