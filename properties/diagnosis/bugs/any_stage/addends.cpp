// Bugs of any stage: an addend or a tensor left out, taken twice, or taken with another factor.
#include <algorithm>
#include <array>
#include <cmath>

#include "oracle/case/graph.hpp"
#include "oracle/graph/stage.hpp"
#include "oracle/tolerance/format.hpp"
#include "properties/diagnosis/bug.hpp"
#include "properties/diagnosis/formulas.hpp"
#include "properties/diagnosis/settings.hpp"

// A sum of layers' outputs or gradients lacks an addend, consists of one only, or counts one twice: (add.1) of a layer,
// (add.3) of a gradient.
namespace tally::addend_left_out_bug {
namespace {

/// What was added to give a held tensor, by the order of the layers or of the list of inputs. None of any other tensor.
struct Addends {
  std::vector<Values> all;
  bool last_first = false;  // added from the last to the first
};

std::vector<std::string> given_for(const Model& model, std::size_t layer) {
  std::vector<std::string> names;
  for (const LayerReader& reader : readers_of(model, layer)) {
    const std::string word =
        input_word(model.layers[reader.layer], inputs_of(model, reader.layer).size(), reader.input);
    names.push_back("in.d." + label_of(model, reader.layer) + "." + word);
  }
  return names;
}

std::vector<std::string> read_by(const Model& model, std::size_t layer) {
  std::vector<std::string> names;
  const std::size_t inputs = inputs_of(model, layer).size();
  for (std::size_t j = 0; j < inputs; ++j)
    names.push_back("in." + label_of(model, layer) + "." + input_word(model.layers[layer], inputs, j));
  return names;
}

Addends addends_of(const Evidence& evidence, const HeldTensor& held) {
  const Model& model = evidence.c.model;
  const TapName& at = held.name;
  const bool fork = at.stage == StageName::fork;
  const auto layer = fork ? layer_at(evidence, held, "d.", "", ".y") : layer_at(evidence, held, "", "add", ".y");
  if (!layer) return {};
  Addends addends{{}, fork};
  for (const std::string& tensor : fork ? given_for(model, *layer) : read_by(model, *layer)) {
    auto read = evidence.tap(at.window, at.micro_batch, at.stage, tensor);
    if (!read || read->size() != held.got.size()) return {};
    addends.all.push_back(std::move(*read));
  }
  return addends;
}

/// How often each addend counts, where something is wrong with one of them.
struct Mistake {
  std::string words, formula;
  std::size_t times_it, times_others;
};

const std::array<Mistake, 3>& mistakes() {
  static const std::array<Mistake, 3> all{{{" is left out of the sum", "Σ of all addends but one", 0, 1},
                                           {" is added twice", "Σ of all addends + one of them", 2, 1},
                                           {" is the whole sum", "one addend of Σ alone", 1, 0}}};
  return all;
}

/// Which addend, counted from the first or from the last: sums of other lengths have the mistake there too.
struct Place {
  std::size_t number;
  bool from_last;

  std::string word() const {
    static const std::array first{"first", "second", "third", "fourth"};
    static const std::array last{"last", "last but one", "last but two", "last but three"};
    if (number >= first.size()) return (from_last ? "last but " : "number ") + std::to_string(number + !from_last);
    return from_last ? last[number] : first[number];
  }
  std::size_t of(std::size_t addends) const { return from_last ? addends - 1 - number : number; }
};

/// In the order of the additions, every sum stored.
std::optional<Values> left(const Addends& addends, const Place& place, const Mistake& mistake, Dtype dtype) {
  const std::size_t count = addends.all.size();
  if (place.number >= count) return std::nullopt;
  std::vector<const Values*> counted;
  for (std::size_t j = 0; j < count; ++j)
    counted.insert(counted.end(), j == place.of(count) ? mistake.times_it : mistake.times_others, &addends.all[j]);
  if (addends.last_first) std::ranges::reverse(counted);
  if (counted.empty()) return std::nullopt;
  Values sum = *counted.front();
  for (std::size_t j = 1; j < counted.size(); ++j)
    for (std::size_t i = 0; i < sum.size(); ++i)
      sum[i] = rounded_to(dtype, rounded_to(Dtype::fp32, sum[i] + (*counted[j])[i]));
  return sum;
}

Hypothesis way_of(const Evidence& evidence, const std::vector<Addends>& addends, const Place& place,
                  const Mistake& mistake) {
  const bool fork = tap_name_of(evidence.check.tap).stage == StageName::fork;
  const std::string addend = "the " + place.word() + (fork ? " reader's gradient" : " input");
  Hypothesis way{{}, addend + mistake.words, mistake.formula, 1};
  for (std::size_t t = 0; t < addends.size(); ++t)
    way.left.push_back(left(addends[t], place, mistake, evidence.held[t].dtype));
  return way;
}

/// Ways that leave the same values are listed once: with two addends, the first is left out if only the last is there.
std::vector<Hypothesis> ways(const Evidence& evidence) {
  std::vector<Addends> addends;
  std::size_t most = 0;
  for (const HeldTensor& held : evidence.held) {
    addends.push_back(addends_of(evidence, held));
    most = std::max(most, addends.back().all.size());
  }
  std::vector<Hypothesis> all;
  for (const bool from_last : {false, true})
    for (std::size_t number = 0; number < most; ++number)
      for (const Mistake& mistake : mistakes()) {
        Hypothesis way = way_of(evidence, addends, {number, from_last}, mistake);
        const bool known = std::ranges::any_of(all, [&](const Hypothesis& other) { return other.left == way.left; });
        if (!known) all.push_back(std::move(way));
      }
  return all;
}

const RegisterBug registered{{
    .name = "addend-left-out",
    .stages = {"forward", "fork"},
    .sentence = "a sum over layers lacks an addend, consists of one addend only, or counts one twice",
    .formula = "Σ of all addends but one, of one alone, or of one twice",
    .remedy = "add each branch of the sum once: `x + f(x)` forward, the gradient of every reader backward",
    .hypotheses = ways,
}};

}  // namespace
}  // namespace tally::addend_left_out_bug

// One of the tensors that the stage reads is left out, taken twice, or enters with another factor.
namespace tally::term_added_bug {
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

const RegisterBug registered{{
    .name = "term-added",
    .sentence = "an input of the stage is left out or added once too often",
    .formula = "got = expected + f input, f a number of the recipe",
    .remedy = "check that input of the stage: it is left out or added once too often",
    .hypotheses = ways,
}};

}  // namespace
}  // namespace tally::term_added_bug
