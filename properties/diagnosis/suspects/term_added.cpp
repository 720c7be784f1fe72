// One of the tensors that the stage reads is left out, taken twice, or enters with another factor.
#include <algorithm>
#include <cmath>

#include "oracle/tolerance/format.hpp"
#include "properties/diagnosis/settings.hpp"
#include "properties/diagnosis/suspect.hpp"
#include "properties/diagnosis/suspects/tensor_roles.hpp"

namespace tally::term_added_suspect {
namespace {

/// One input of the stage in all held tensors' runs, stretched to their size: a bias is added to every row.
struct Term {
  std::string word;  // "momentum", "the gradient d"
  std::vector<std::optional<Values>> of;
};

std::optional<Values> stretched(const Values& values, std::size_t size) {
  if (values.empty() || size % values.size() != 0) return std::nullopt;
  Values all(size);
  for (std::size_t i = 0; i < size; ++i) all[i] = values[i % values.size()];
  return all;
}

std::vector<Term> terms_of(const Evidence& evidence) {
  std::vector<Term> terms;
  for (const std::string& role : input_roles(evidence)) {
    Term term{words_of_role(role), {}};
    bool any = false;
    for (const HeldTensor& held : evidence.held) {
      TapName name = held.name;
      name.tensor = in_role(evidence.c, role, held.name);
      // A tensor is no term of itself.
      const bool same_kind = role_of(evidence.c, name) == role && name.tensor != held.name.tensor;
      auto read = same_kind ? evidence.tap(name.window, name.micro_batch, name.stage, name.tensor) : std::nullopt;
      if (read && read->size() == 1 && held.got.size() > 1) read.reset();  // a number is no term of a tensor
      term.of.push_back(read ? stretched(*read, held.got.size()) : std::nullopt);
      any = any || term.of.back().has_value();
    }
    if (any) terms.push_back(std::move(term));
  }
  return terms;
}

/// got = expected + f term, over every held tensor that has the term.
std::optional<double> fitted(const Evidence& evidence, const Term& term) {
  long double along = 0, square = 0;
  for (std::size_t t = 0; t < evidence.held.size(); ++t) {
    const HeldTensor& held = evidence.held[t];
    if (!term.of[t]) continue;
    for (std::size_t i = 0; i < held.got.size(); ++i) {
      const long double x = (*term.of[t])[i], error = static_cast<long double>(held.got[i]) - held.expected[i];
      if (!std::isfinite(static_cast<double>(x)) || !std::isfinite(static_cast<double>(error))) continue;
      along += x * error, square += x * x;
    }
  }
  if (!(square > 0)) return std::nullopt;
  return static_cast<double>(along / square);
}

using Named = std::pair<double, std::string>;

/// Numbers that an error may carry: of the recipe, and their complements.
std::vector<Named> factors_of(const Evidence& evidence) {
  std::vector<Named> all{{1, "1"}, {2, "2"}, {0.5, "1/2"}};
  for (const Setting& setting : settings_of(evidence)) {
    const Decimal* number = std::get_if<Decimal>(&setting.value());
    if (number == nullptr) continue;
    const double v = number->to_double();
    const std::string& name = setting.option->name;
    all.push_back({v, name}), all.push_back({1 - v, "(1 - " + name + ")"});
    all.push_back({v / 2, name + "/2"}), all.push_back({v * v, name + "²"}), all.push_back({2 * v, "2 " + name});
  }
  const auto rate = evidence.tap(0, -1, "optimizer", "in.learning_rate");
  const std::size_t known = all.size();
  for (std::size_t i = 0; rate && i < known; ++i)
    all.push_back({all[i].first * rate->front(), all[i].second + " rate"});
  return all;
}

std::string sentence_of(const Term& term, double factor, const std::string& word) {
  if (factor == -1) return term.word + " is left out";
  if (factor == 1) return term.word + " is added once more";
  if (factor == -2) return term.word + " enters with the other sign";
  return term.word + " is " + (factor < 0 ? "subtracted" : "added") + ", times " + word;
}

std::vector<Hypothesis> ways(const Evidence& evidence) {
  std::vector<Hypothesis> all;
  const std::vector<Term> terms = terms_of(evidence);
  const std::vector<Named> factors = factors_of(evidence);
  for (const Term& term : terms) {
    const auto fit = fitted(evidence, term);
    if (!fit) continue;
    for (const auto& [size, word] : factors) {
      const double factor = std::copysign(size, *fit);
      const double near = oracle::format_of(Dtype::bf16).unit_roundoff();
      if (size == 0 || !(std::fabs(*fit - factor) <= near * std::fabs(factor))) continue;
      Hypothesis way{{}, sentence_of(term, factor, word), "got = expected + f " + term.word, 1};
      for (std::size_t t = 0; t < evidence.held.size(); ++t) {
        std::optional<Values> left;
        if (term.of[t]) {
          left = evidence.held[t].expected;
          for (std::size_t i = 0; i < left->size(); ++i) (*left)[i] += factor * (*term.of[t])[i];
        }
        way.left.push_back(std::move(left));
      }
      const bool plain = factor == -1 || factor == 1 || factor == -2;
      way.rivals = static_cast<double>(terms.size() * (plain ? 3 : 2 * factors.size()));
      all.push_back(std::move(way));
    }
  }
  return all;
}

const RegisterSuspect registered{{
    .name = "term-added",
    .faults = {},
    .stages = {},
    .sentence = "one of the tensors that the stage reads is left out or enters once more",
    .formula = "got = expected + f input, f a number of the recipe",
    .remedy = "look at that input of the stage: it is added once too often, or left out",
    .ways = ways,
}};

}  // namespace
}  // namespace tally::term_added_suspect
