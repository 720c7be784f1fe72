// An option of the case is not what the stage works by: another value of it explains what came.
#include <algorithm>
#include <cmath>
#include <cstdio>

#include "oracle/case/contract.hpp"
#include "oracle/case/file/parts.hpp"
#include "properties/diagnosis/bug.hpp"
#include "properties/diagnosis/explained.hpp"
#include "properties/diagnosis/settings.hpp"

namespace tally::option_taken_as_bug {
namespace {

/// A value that an option may have been taken for, and why just that one.
struct Other {
  OptionValue value;
  std::string text, why;
};

std::string written(double value, int digits = 17) {
  char text[40];
  std::snprintf(text, sizeof text, "%.*g", digits, value);
  return text;
}

/// With as few digits as give the same binary64.
std::string shortest(double value) {
  for (int digits = 1; digits < 17; ++digits) {
    if (std::stod(written(value, digits)) == value) return written(value, digits);
  }
  return written(value);
}

void add_number(std::vector<Other>& all, double value, const std::string& why) {
  if (!std::isfinite(value)) return;
  all.push_back({Decimal{written(value)}, shortest(value), why});
}

std::vector<Other> other_numbers(const Setting& setting) {
  const double v = std::get<Decimal>(setting.value()).to_double();
  std::vector<Other> all;
  add_number(all, 0, "left out");
  if (setting.option->standard) {
    add_number(all, std::get<Decimal>(*setting.option->standard).to_double(), "its default");
  }
  for (const auto& [name, other] : setting.as_given->options) {
    const Decimal* number = std::get_if<Decimal>(&other);
    if (number != nullptr && name != setting.option->name) add_number(all, number->to_double(), name);
  }
  add_number(all, 1, "one");
  add_number(all, 1 - v, "1 - " + setting.option->name);
  add_number(all, v * v, "its square");
  add_number(all, std::sqrt(v), "its root");
  add_number(all, 1 / v, "its inverse");
  add_number(all, -v, "the other sign");
  add_number(all, 2 * v, "twice");
  add_number(all, v / 2, "half");
  return all;
}

std::vector<Other> other_integers(const Setting& setting) {
  const auto v = std::get<std::int64_t>(setting.value());
  std::vector<Other> all;
  const auto add = [&](std::int64_t value, const std::string& why) {
    Findings findings;
    check_option(*setting.option, value, "", findings);
    if (findings.empty()) all.push_back({value, std::to_string(value), why});
  };
  if (setting.option->standard) add(std::get<std::int64_t>(*setting.option->standard), "its default");
  if (v < INT64_MAX) add(v + 1, "one more");
  if (v > INT64_MIN) add(v - 1, "one less");
  add(0, "left out");
  return all;
}

std::vector<Other> others(const Setting& setting) {
  const OptionValue& value = setting.value();
  std::vector<Other> all;
  if (std::holds_alternative<Decimal>(value)) return other_numbers(setting);
  if (std::holds_alternative<std::int64_t>(value)) return other_integers(setting);
  if (const bool* flag = std::get_if<bool>(&value)) all.push_back({!*flag, *flag ? "false" : "true", "the other"});
  if (std::holds_alternative<std::string>(value)) {
    for (const std::string& word : setting.option->words) all.push_back({word, word, "another word"});
  }
  if (std::holds_alternative<std::vector<Decimal>>(value)) {
    all.push_back({std::vector<Decimal>{}, "empty", "left out"});
  }
  if (std::holds_alternative<std::vector<std::string>>(value)) {
    all.push_back({std::vector<std::string>{}, "empty", "left out"});
    all.push_back({setting.option->words, "all of them", "everything"});
    for (const std::string& word : setting.option->words) {
      all.push_back({std::vector<std::string>{word}, word, "another word"});
    }
  }
  return all;
}

std::string as_given(const OptionValue& value) {
  if (const Decimal* number = std::get_if<Decimal>(&value)) return number->text;
  if (const auto* integer = std::get_if<std::int64_t>(&value)) return std::to_string(*integer);
  if (const std::string* word = std::get_if<std::string>(&value)) return *word;
  if (const bool* flag = std::get_if<bool>(&value)) return *flag ? "true" : "false";
  return "otherwise";
}

Hypothesis hypothesis_of(const Setting& setting, const Other& other, std::vector<std::optional<Values>> left) {
  const std::string& name = setting.option->name;
  return {std::move(left),
          "as if " + name + " of " + setting.of + " were " + other.text + " (" + other.why + "), where the case says " +
              as_given(setting.value()),
          name + " = " + other.text, 1};
}

/// What the failing tensor would be, for another value of a number.
class Solver {
 public:
  Solver(const Evidence& evidence, const Setting& setting)
      : evidence_(evidence), setting_(setting), c_(evidence.c), failing_(*evidence.failing()) {}

  /// The number that explains the failing tensor best, found from the case's own; nullopt where it moves the tensor in
  /// another direction than the error.
  std::optional<double> solve() {
    double at = std::get<Decimal>(setting_.value()).to_double();
    const double step = at == 0 ? 0x1p-20 : at * 0x1p-12;
    for (int i = 0; i < 6; ++i) {
      const auto here = value_at(at), there = value_at(at + step);
      if (!here || !there) return std::nullopt;
      double along = 0, square = 0, rest = 0;
      for (std::size_t k = 0; k < here->size(); ++k) {
        const double move = (*there)[k] - (*here)[k], missing = failing_.got[k] - (*here)[k];
        along += move * missing, square += move * move, rest += missing * missing;
      }
      if (!(square > 0) || !(along * along >= 0.5 * square * rest)) return i > 0 ? std::optional(at) : std::nullopt;
      const double next = at + step * along / square;
      if (next == at) break;
      at = next;
    }
    return at;
  }

  std::vector<std::optional<Values>> left(double value) {
    setting_.set(c_, Decimal{written(value)});
    return what_if(evidence_, c_, evidence_.trace);
  }

 private:
  std::optional<Values> value_at(double value) {
    const auto all = left(value);
    for (std::size_t i = 0; i < all.size(); ++i) {
      if (evidence_.held[i].name == failing_.name) return all[i] ? *all[i] : failing_.expected;
    }
    return std::nullopt;
  }

  const Evidence& evidence_;
  const Setting& setting_;
  Case c_;
  const HeldTensor& failing_;
};

/// The solved number, where one of few digits does as well: options are written with few.
void add_solved(std::vector<Hypothesis>& ways, const Evidence& evidence, const Setting& setting, double rivals) {
  constexpr int most_digits = 4;
  constexpr double decades = 20;
  if (!std::holds_alternative<Decimal>(setting.value())) return;
  Solver solver(evidence, setting);
  const auto solved = solver.solve();
  if (!solved || !std::isfinite(*solved)) return;
  for (int digits = 1; digits <= most_digits; ++digits) {
    const std::string text = written(*solved, digits);
    auto left = solver.left(std::stod(text));
    if (left.empty() || !explained_by(evidence.held, left, false).within) continue;
    ways.push_back(hypothesis_of(setting, {Decimal{text}, text, "solved for"}, std::move(left)));
    ways.back().parameters = 2;
    ways.back().rivals = rivals;
    ways.back().tries = decades * std::pow(10, digits);
    return;
  }
}

/// Whether every layer goes with what it reads: a rotation of half a pair would not.
bool fits(const Model& model) {
  for (std::size_t i = 0; i < model.layers.size(); ++i)
    if (!contract_of("layer", model.layers[i]).input_misfits(model.layers[i], features_read(model, i)).empty())
      return false;
  return true;
}

std::vector<Hypothesis> ways(const Evidence& evidence) {
  std::vector<Hypothesis> all;
  if (!affordable(evidence)) return all;
  for (const Setting& setting : settings_of(evidence)) {
    Case c = evidence.c;
    bool matters = false;
    double rivals = 1;
    for (const Other& other : others(setting)) {
      if (other.value == setting.value()) continue;
      setting.set(c, other.value);
      if (!fits(c.model)) continue;
      all.push_back(hypothesis_of(setting, other, what_if(evidence, c, evidence.trace)));
      all.back().rivals = rivals++;
      matters = matters || says_something(evidence, all.back());
    }
    if (matters) add_solved(all, evidence, setting, rivals);
  }
  return all;
}

std::string text_of(const OptionValue& value) {
  if (const bool* flag = std::get_if<bool>(&value)) return *flag ? "true" : "false";
  if (const Decimal* number = std::get_if<Decimal>(&value)) return number->text;
  return "another value";
}

Restated with_option(const std::string& name, const OptionValue& stated, const OptionValue& done) {
  Restated way;
  way.change = [name, done](Case& c) { c.recipe.optimizer.options[name] = done; };
  way.sentence = "the optimizer uses another value of an option than the case states: " + name;
  way.formula = name + " = " + text_of(done) + " in place of " + text_of(stated);
  return way;
}

/// On for off, none for some, the standard for a given one.
std::vector<Restated> restated(const Case& c, const Trace&) {
  std::vector<Restated> all;
  const Contract* contract = find_contract("optimizer", c.recipe.optimizer.kind);
  for (const Option& option : contract->options) {
    const auto stated = c.recipe.optimizer.options.find(option.name);
    if (stated == c.recipe.optimizer.options.end()) continue;
    if (const bool* flag = std::get_if<bool>(&stated->second)) {
      all.push_back(with_option(option.name, stated->second, !*flag));
      continue;
    }
    if (option.standard && *option.standard != stated->second)
      all.push_back(with_option(option.name, stated->second, *option.standard));
    if (option.name == "dampening")  // as in v = μ v + (1 - μ) g
      all.push_back(with_option(option.name, stated->second, c.recipe.optimizer.number("momentum")));
  }
  return all;
}

const RegisterBug registered{{
    .name = "option-taken-as",
    .stages = {"forward", "running_stats", "loss", "backward", "overflow_check", "unscale", "norm", "clip", "decay",
               "optimizer", "scaler", "schedule"},
    .sentence = "the stage uses another value of an option than the case states",
    .formula = "option = another value",
    .remedy = "set that option in the loop to the value that the case states, or state the loop's value",
    .hypotheses = ways,
    .restated = restated,
}};

}  // namespace
}  // namespace tally::option_taken_as_bug
