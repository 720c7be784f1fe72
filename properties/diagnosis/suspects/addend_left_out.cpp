// A sum over layers, of what they leave or of the gradients that they give, is one of its addends short, holds one
// alone, or counts one twice: (add.1) of a layer, (add.3) of a gradient.
#include <algorithm>
#include <array>

#include "oracle/case/graph.hpp"
#include "properties/diagnosis/suspect.hpp"
#include "properties/diagnosis/suspects/layer_at.hpp"

namespace tally::addend_left_out_suspect {
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
  const bool fork = at.stage == "fork";
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
                                           {" is all there is of the sum", "one addend of Σ alone", 1, 0}}};
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
  const bool fork = tap_name_of(evidence.check.tap).stage == "fork";
  const std::string addend =
      fork ? "what the " + place.word() + " of its readers gives" : "the " + place.word() + " of its inputs";
  Hypothesis way{{}, addend + mistake.words, mistake.formula, 1};
  for (std::size_t t = 0; t < addends.size(); ++t)
    way.left.push_back(left(addends[t], place, mistake, evidence.held[t].dtype));
  return way;
}

/// A way that says what an earlier one says is no other: of two addends the first is left out where the last is alone.
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

const RegisterSuspect registered{{
    .name = "addend-left-out",
    .faults = {"fork-reader-dropped", "fork-added-twice", "residual-not-added", "residual-gradient-dropped"},
    .stages = {"forward", "fork"},
    .sentence = "a sum over layers misses one of its addends, holds one alone, or counts one twice",
    .formula = "Σ of all addends but one, of one alone, or of one twice",
    .remedy = "add each branch of the sum once: forward `x + f(x)`, and backward the gradient of every reader",
    .ways = ways,
}};

}  // namespace
}  // namespace tally::addend_left_out_suspect
