// One trial of the study: a case drawn, made smaller in its gradients, run clean and faulty, and what every judge said.
#include "properties/lab/rules/trial.hpp"

#include <algorithm>
#include <charconv>
#include <cmath>
#include <sstream>
#include <stdexcept>

#include "oracle/case/io.hpp"
#include "oracle/case/kinds.hpp"
#include "properties/campaign/law_task.hpp"
#include "properties/generators/choices.hpp"
#include "properties/generators/random_plan.hpp"
#include "properties/judge/lens.hpp"
#include "properties/lab/published/rule.hpp"
#include "properties/laws/judge.hpp"
#include "properties/laws/shapes.hpp"

namespace tally {
namespace {

void scale(Tensor& tensor, double by) {
  for (std::size_t i = 0; i < tensor.elements(); ++i) tensor.set(i, by * tensor.value(i));
  tensor.drawing.reset();
}

/// Right in every row, and sure enough that the others' probabilities together are about `left`.
void be_sure(Case& c, double left) {
  Choice& loss = c.model.loss;
  loss.options["label_smoothing"] = Decimal{"0"};
  const auto ignored = loss.integer("ignore_index");
  Tensor& target = c.tensors.at("target");
  for (std::size_t i = 0; i < target.elements(); ++i) {
    if (target.integer(i) != ignored) target.set(i, 0);
  }
  target.drawing.reset();
  Tensor& bias = c.tensors.at(c.model.layers.back().name + ".bias");
  bias.set(0, bias.value(0) + std::log(static_cast<double>(bias.elements() - 1) / left));
  bias.drawing.reset();
}

}  // namespace

bool gradient_can_shrink(const Plan& plan) {
  const auto has_parameters = [](const Layer& layer) { return !layer.name.empty() && layer.kind != kinds::dropout; };
  if (plan.data == Data::exact) return false;  // smaller values would no longer be exact in 16 bits
  if (plan.loss.kind == kinds::cross_entropy) return plan.output_bias && plan.outputs > 1;
  return std::none_of(plan.hidden.begin(), plan.hidden.end(), has_parameters);
}

Case with_gradient_times(Case c, int exponent) {
  if (exponent == 0) return c;
  const double by = std::ldexp(1.0, exponent);
  if (c.model.loss.kind == kinds::cross_entropy) {
    be_sure(c, by);
    return c;
  }
  const std::string last = c.model.layers.back().name;
  for (const std::string& name : {last + ".weight", last + ".bias", std::string("target")}) {
    if (c.tensors.contains(name)) scale(c.tensors.at(name), by);
  }
  if (c.recipe.loss_scale.kind == kinds::dynamic) {
    auto& initial = std::get<Decimal>(c.recipe.loss_scale.options.at("initial"));
    initial = decimal(initial.to_double() / by);
  }
  return c;
}

double gradient_size(const Case& c, const Trace& trace) {
  double squares = 0, elements = 0;
  for (std::size_t w = 0; w < c.windows.size() && elements == 0; ++w) {
    for (const std::string& parameter : parameters_of(c.model)) {
      const Tensor* gradient = trace.find(TapView{static_cast<int>(w), -1, "unscale", "d." + parameter});
      for (std::size_t i = 0; gradient && i < gradient->elements(); ++i, ++elements) {
        squares += gradient->value(i) * gradient->value(i);
      }
    }
  }
  return elements == 0 ? 0 : std::sqrt(squares / elements);
}

namespace {

constexpr int draws = 24;

std::uint64_t seed_of(const TrialSetting& setting, int index, int draw, std::uint64_t seed) {
  const std::string text = std::to_string(seed) + (setting.fault ? setting.fault->name : "clean") +
                           std::string(name_of(setting.storage)) + std::to_string(setting.exponent) + "/" +
                           std::to_string(index) + "/" + std::to_string(draw);
  return std::stoull(sha256(text).substr(0, 15), nullptr, 16);
}

const Law& law_named(const std::string& name) {
  const Law* law = find_law(name);
  if (!law) throw std::logic_error("no law is named " + name);
  return *law;
}

std::vector<const Law*> laws_of(const TrialSetting& setting) {
  std::vector<const Law*> found;
  if (!setting.fault) return {&law_named("partition_equals_full_batch")};
  for (const std::string& name : setting.fault->laws) found.push_back(&law_named(name));
  return found;
}

/// nullopt where the law's shape leaves a window whole, or gradients that cannot shrink alike.
std::optional<Case> case_in_shape(Plan plan, const Law& law, int exponent) {
  if (law.shape) law.shape(plan);
  plan.normalisation = Normalisation::window_items;
  no_micro_batch_statistics(plan);
  const auto whole = [](const std::vector<std::int64_t>& window) { return window.size() < 2; };
  if (std::any_of(plan.windows.begin(), plan.windows.end(), whole)) return std::nullopt;
  if (exponent != 0 && !gradient_can_shrink(plan)) return std::nullopt;
  return with_gradient_times(case_of(plan), exponent);
}

bool serves(const TrialSetting& setting, const Case& c, const RunOptions& subject) {
  try {
    return !setting.fault || shows(*setting.fault, c, subject);
  } catch (const NotSupported&) {
    return false;
  }
}

}  // namespace

std::optional<DrawnCase> drawn_case(const TrialSetting& setting, int index, std::uint64_t seed,
                                    const RunOptions& subject) {
  for (int draw = 0; draw < draws; ++draw) {
    const rc::Random random(seed_of(setting, index, draw, seed));
    const Plan plan = random_plan(setting.storage)(random, rc::kNominalSize).value();
    for (const Law* law : laws_of(setting)) {
      std::optional<Case> c = case_in_shape(plan, *law, setting.exponent);
      if (c && serves(setting, *c, subject)) return DrawnCase{std::move(*c), law};
    }
  }
  return std::nullopt;
}

namespace {

char answer(bool rejected) { return rejected ? '1' : '0'; }

RunOptions with_fault(const RunOptions& subject, const Fault& fault) {
  RunOptions faulty = subject;
  faulty.stages = &fault.stages();
  return faulty;
}

/// A subject's full batch in the case's storage and in fp32.
struct FullBatch {
  Trace plain, precise;
  FullBatch(const Case& c, const RunOptions& subject)
      : plain(run(full_batch_of(c), subject)), precise(run(in_fp32(full_batch_of(c)), subject)) {}
};

/// As in judges().
std::vector<const PublishedRule*> rules() {
  std::vector<const PublishedRule*> all = published_rules();
  std::stable_partition(all.begin(), all.end(), [](const PublishedRule* rule) { return !rule->applies; });
  return all;
}

ComparedRuns compared(const Case& c, const Trace& got, const FullBatch& full) {
  return comparison_of(c, got, full.plain, full.precise);
}

Answers answers_of_rules(const ComparedRuns& comparison) {
  Answers answers;
  for (const PublishedRule* rule : rules()) {
    const bool asked = !rule->applies || rule->applies(comparison.storage);
    answers += asked ? answer(!rule->accepts(comparison)) : '-';
  }
  return answers;
}

/// Both lenses on one run, and the law with all its runs; `sentence` says what failed.
Answers answers_of_tally(const Case& c, const Trace& got, const Law& law, const RunOptions& subject,
                         std::string& sentence) {
  const auto local = local_lens(c, got), end_to_end = end_to_end_lens(c, got);
  const Outcome outcome = outcome_of(law, c, subject);
  const bool by_local = first_failure(local) != nullptr, by_end_to_end = first_failure(end_to_end) != nullptr;
  const bool by_law = outcome.status == Status::fail || outcome.status == Status::error;
  if (by_law) {
    sentence = law.name + ": " + outcome.message;
  } else if (by_local || by_end_to_end) {
    sentence = first_failure(by_local ? local : end_to_end)->tap + " by a lens";
  }
  return {answer(by_local || by_end_to_end || by_law), answer(by_local), answer(by_end_to_end)};
}

bool differ(const Trace& clean, const Trace& faulty) {
  if (clean.taps().size() != faulty.taps().size() || clean.violations != faulty.violations) return true;
  return !std::equal(clean.taps().begin(), clean.taps().end(), faulty.taps().begin(),
                     [](const Tap& a, const Tap& b) { return a.name == b.name && a.value == b.value; });
}

void run_faulty(Trial& trial, const Fault& fault, const Case& c, const Law& law, const RunOptions& subject,
                const FullBatch& trusted) {
  const RunOptions faulty = with_fault(subject, fault);
  const Trace got = run(c, faulty);
  std::string sentence;
  const Answers tally = answers_of_tally(c, got, law, faulty, sentence);
  const ComparedRuns own = compared(c, got, FullBatch(c, faulty));
  trial.own = tally + answers_of_rules(own);
  trial.first_own = tally + answers_of_rules(first_gradients(own));
  trial.trusted = tally + answers_of_rules(compared(c, got, trusted));
  if (tally.front() == '0') trial.missed = fault.name + " under " + law.name;
}

std::string shortest(double value) {
  char text[32];
  return {text, std::to_chars(text, text + sizeof text, value).ptr};
}

/// Fields stand between tabs, so a field has none.
std::string field(std::string text) {
  std::replace(text.begin(), text.end(), '\t', ' ');
  std::replace(text.begin(), text.end(), '\n', ' ');
  return text;
}

}  // namespace

const std::vector<std::string>& judges() {
  static const std::vector<std::string> names = [] {
    std::vector<std::string> all{"Tally, lenses and law", "Tally, local lens alone", "Tally, end-to-end lens alone"};
    for (const PublishedRule* rule : rules()) all.push_back(rule->name);
    return all;
  }();
  return names;
}

bool shows(const Fault& fault, const Case& c, const RunOptions& subject) {
  return differ(run(c, subject), run(c, with_fault(subject, fault)));
}

Trial run_trial(const TrialSetting& setting, const Case& c, const Law& law, const RunOptions& subject) {
  const WithoutSuspects none;
  Trial trial;
  const Trace clean = run(c, subject);
  const FullBatch trusted(c, subject);
  trial.law = law.name;
  trial.gradient = gradient_size(c, trusted.plain);
  const ComparedRuns comparison = compared(c, clean, trusted);
  const Answers tally = answers_of_tally(c, clean, law, subject, trial.alarmed);
  trial.clean = tally + answers_of_rules(comparison);
  trial.first_clean = tally + answers_of_rules(first_gradients(comparison));
  if (!setting.fault) return trial;
  trial.shown = shows(*setting.fault, c, subject);
  if (trial.shown) run_faulty(trial, *setting.fault, c, law, subject, trusted);
  return trial;
}

std::string text_of(const Trial& trial) {
  std::string line = trial.shown ? "1" : "0";
  for (const std::string& part : {shortest(trial.gradient), trial.clean, trial.own, trial.trusted, trial.first_clean,
                                  trial.first_own, trial.law, field(trial.missed), field(trial.alarmed)}) {
    line += "\t" + part;
  }
  return line;
}

Trial trial_of(const std::string& line) {
  std::vector<std::string> fields;
  std::istringstream text(line);
  for (std::string field; std::getline(text, field, '\t');) fields.push_back(field);
  fields.resize(10);
  Trial trial{fields[0] == "1", 0,         fields[2], fields[3], fields[4],
              fields[5],        fields[6], fields[7], fields[8], fields[9]};
  std::from_chars(fields[1].data(), fields[1].data() + fields[1].size(), trial.gradient);
  return trial;
}

}  // namespace tally
