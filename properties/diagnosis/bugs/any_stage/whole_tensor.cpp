// Bugs of any stage: nothing left, zero throughout, or the right tensor times a number.
#include <algorithm>
#include <cmath>
#include <cstdio>

#include "oracle/graph/stage.hpp"
#include "properties/diagnosis/bug.hpp"
#include "properties/diagnosis/formulas.hpp"
#include "properties/diagnosis/settings.hpp"

// The stage left nothing at all. diagnose() names it where a tap that must be there is not: no formula is needed.
namespace tally::stage_not_run_bug {
namespace {

const RegisterBug registered{{
    .name = "stage-not-run",
    .stages = {"decay", "clip", "norm", "unscale", "optimizer", "schedule", "scaler", "cast", "accumulate", "backward",
               "forward", "loss", "running_stats"},
    .sentence = "the stage was not run: the recipe requires it, but it left no tensor",
    .formula = "no tap of it",
    .remedy = "run the stage that the recipe states, or state the recipe without it",
    .left = [](const Evidence&, const HeldTensor&) { return std::optional<Values>(); },
}};

}  // namespace
}  // namespace tally::stage_not_run_bug

// The tensor is zero throughout.
namespace tally::all_zero_bug {
namespace {

/// Zeros; nothing for a tensor that should be zero in most places: other suspects name its lost part.
std::optional<Values> left(const Evidence&, const HeldTensor& held) {
  const auto zeros = static_cast<std::size_t>(std::ranges::count(held.expected, 0.0));
  if (2 * zeros > held.expected.size()) return std::nullopt;
  return Values(held.expected.size(), 0.0);
}

const RegisterBug registered{{
    .name = "all-zero",
    .sentence = "the tensor is all zeros: it was never written, or was cleared afterwards",
    .formula = "got = 0",
    .remedy = "find why the tensor is not written or is cleared: a `zero_grad()` before it is read, or a parameter "
              "that the graph does not reach",
    .left = left,
    .parameters = 1,
}};

}  // namespace
}  // namespace tally::all_zero_bug

// The tensor is the right one times a number.
namespace tally::off_by_a_factor_bug {
namespace {

std::optional<Values> left(const Evidence&, const HeldTensor& held) { return held.expected; }

const RegisterBug registered{{
    .name = "off-by-a-factor",
    .sentence = "the tensor is the right one times a factor",
    .formula = "got = f expected",
    .remedy = "find the factor that is missing, or applied once too often, where this tensor is computed",
    .left = left,
    .fits_factor = true,
}};

}  // namespace
}  // namespace tally::off_by_a_factor_bug

// Every tensor is the right one times a number of its own: of its rows, its features, the window's items.
namespace tally::factor_of_counts_bug {
namespace {

/// A number that is known of every tensor; not positive where it is not.
struct Count {
  std::string word;
  std::function<double(const Evidence& evidence, const HeldTensor& held)> of;
};

/// Features of the layer that the tensor belongs to; the model's own output at the loss.
double features_of(const Evidence& evidence, const HeldTensor& held, bool in) {
  const Model& model = evidence.c.model;
  if (held.name.stage == StageName::loss) return static_cast<double>(features_before(model, model.layers.size()));
  for (std::size_t i = 0; i < model.layers.size(); ++i) {
    if (held.name.tensor.find(label_of(model, i) + ".") == std::string::npos) continue;
    return static_cast<double>(in ? features_before(model, i) : features_after(model, i));
  }
  return 0;
}

const std::vector<Count>& counts() {
  static const std::vector<Count> all{
      {"the rows of the micro-batch",
       [](const Evidence& e, const HeldTensor& h) {
         return h.name.micro_batch < 0 ? 0.0 : static_cast<double>(e.rows(h.name.window, h.name.micro_batch));
       }},
      {"the rows of the window",
       [](const Evidence& e, const HeldTensor& h) { return static_cast<double>(e.rows(h.name.window)); }},
      {"the items of the micro-batch",
       [](const Evidence& e, const HeldTensor& h) {
         return h.name.micro_batch < 0 ? 0.0 : e.items(h.name.window, h.name.micro_batch);
       }},
      {"the items of the window", [](const Evidence& e, const HeldTensor& h) { return e.items(h.name.window); }},
      {"K", [](const Evidence& e, const HeldTensor& h) { return static_cast<double>(e.micro_batches(h.name.window)); }},
      {"the input features", [](const Evidence& e, const HeldTensor& h) { return features_of(e, h, true); }},
      {"the output features", [](const Evidence& e, const HeldTensor& h) { return features_of(e, h, false); }},
      {"the loss scale", [](const Evidence& e, const HeldTensor& h) { return e.scale(h.name.window); }},
      {"the elements of the tensor",
       [](const Evidence&, const HeldTensor& h) { return static_cast<double>(h.got.size()); }}};
  return all;
}

struct Form {
  std::string before, after;
  double (*of)(double count);
  bool one_apart = false;  // also one off, as n / (n - 1): only for counts, where this is no coincidence
};

const std::vector<Form>& forms() {
  static const std::vector<Form> all{
      {"", "", [](double n) { return n; }},
      {"1 / ", "", [](double n) { return 1 / n; }},
      {"(n-1)/n of ", "", [](double n) { return (n - 1) / n; }, true},
      {"n/(n-1) of ", "", [](double n) { return n / (n - 1); }, true},
      {"n/(n+1) of ", "", [](double n) { return n / (n + 1); }, true},
      {"the root of ", "", [](double n) { return std::sqrt(n); }},
      {"1 over the root of ", "", [](double n) { return 1 / std::sqrt(n); }},
      {"the root of (n-1)/n of ", "", [](double n) { return std::sqrt((n - 1) / n); }, true},
      {"the root of n/(n-1) of ", "", [](double n) { return std::sqrt(n / (n - 1)); }, true}};
  return all;
}

/// Options of the stage: every tensor by the same number.
std::vector<Count> options_of(const Evidence& evidence) {
  std::vector<Count> all;
  for (const Setting& setting : settings_of(evidence)) {
    const Decimal* number = std::get_if<Decimal>(&setting.value());
    if (number == nullptr) continue;
    const double v = number->to_double();
    const std::string word = setting.option->name + " of " + setting.of;
    all.push_back({word, [v](const Evidence&, const HeldTensor&) { return v; }});
    all.push_back({"1 - " + word, [v](const Evidence&, const HeldTensor&) { return 1 - v; }});
  }
  for (const double v : {2.0, 3.0, 4.0}) {
    all.push_back({std::to_string(static_cast<int>(v)), [v](const Evidence&, const HeldTensor&) { return v; }});
  }
  return all;
}

/// A count of one tells nothing: half of anything would be n/(n+1) of it.
void add(std::vector<Hypothesis>& all, const Evidence& evidence, const Count& count, const Form& form) {
  const bool is_difference = !form.before.empty() && count.word.starts_with("1 - ");
  const std::string word = form.before + (is_difference ? "(" + count.word + ")" : count.word) + form.after;
  Hypothesis way{{}, "the right tensor times " + word, "got = expected times " + word, 1};
  for (const HeldTensor& held : evidence.held) {
    const double n = count.of(evidence, held), factor = n > 0 && n != 1 ? form.of(n) : 1;
    const bool other = std::isfinite(factor) && factor != 1;
    way.left.push_back(other ? std::optional(times(held.expected, factor)) : std::nullopt);
  }
  all.push_back(std::move(way));
}

std::vector<Hypothesis> ways(const Evidence& evidence) {
  std::vector<Hypothesis> all;
  for (const Count& count : counts())
    for (const Form& form : forms()) add(all, evidence, count, form);
  for (const Count& number : options_of(evidence))
    for (const Form& form : forms())
      if (!form.one_apart) add(all, evidence, number, form);
  return all;
}

const RegisterBug registered{{
    .name = "factor-of-counts",
    .sentence = "every tensor is the right one times a count of its own rows, features or items",
    .formula = "got = expected times a count",
    .remedy =
        "look for a mean that should be a sum, or a sum that should be a mean, over those rows, features or items",
    .hypotheses = ways,
}};

}  // namespace
}  // namespace tally::factor_of_counts_bug
