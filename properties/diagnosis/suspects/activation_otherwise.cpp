// An activation or its derivative with one thing done otherwise.
#include "properties/diagnosis/suspects/activation_otherwise.hpp"

#include "oracle/registered_files.hpp"
#include "properties/diagnosis/settings.hpp"
#include "properties/diagnosis/suspect.hpp"
#include "properties/diagnosis/suspects/layer_at.hpp"

namespace tally {
namespace {

std::vector<ActivationOtherwise>& all_ways() {
  static std::vector<ActivationOtherwise> all;
  return all;
}

/// The elements of the tensor's layer as the stage read them; empty where it is no activation's.
std::vector<ActivationElement> elements_of(const Evidence& evidence, const HeldTensor& held, const std::string& kind) {
  const bool backward = held.name.stage == "backward";
  const auto layer = backward ? layer_at(evidence, held, "d.", kind, ".x") : layer_at(evidence, held, "", kind, ".y");
  if (!layer) return {};
  const std::string label = label_of(evidence.c.model, *layer);
  const int w = held.name.window, k = held.name.micro_batch;
  const auto x = evidence.tap(w, k, held.name.stage, "in." + label + ".x");
  const auto dy = backward ? evidence.tap(w, k, "backward", "in.d." + label + ".y") : std::nullopt;
  const auto mask = kind == "dropout" ? evidence.tap(w, k, "forward", "in." + label + ".mask") : std::nullopt;
  const auto fits = [&](const std::optional<Values>& read) { return read && read->size() == held.got.size(); };
  if (!fits(x) || (backward && !fits(dy)) || (kind == "dropout" && !fits(mask))) return {};
  const double p = kind == "dropout" ? evidence.c.model.layers[*layer].number("p").to_double() : 0;
  std::vector<ActivationElement> all(x->size());
  for (std::size_t i = 0; i < all.size(); ++i) {
    all[i] = {kind == "dropout" && backward ? (*dy)[i] : (*x)[i], backward ? (*dy)[i] : 0, !mask || (*mask)[i] != 0, p};
  }
  return all;
}

std::vector<Hypothesis> ways(const Evidence& evidence) {
  const std::string kind = layer_kind_of(evidence.c, tap_name_of(evidence.check.tap).tensor);
  std::vector<std::vector<ActivationElement>> elements;
  for (const HeldTensor& held : evidence.held) elements.push_back(elements_of(evidence, held, kind));
  std::vector<Hypothesis> all;
  for (const ActivationOtherwise& other : all_ways()) {
    const std::string stage = other.stage;
    if (kind != other.kind || (!stage.empty() && stage != evidence.check.stage)) continue;
    Hypothesis way{{}, other.sentence, other.formula, 0};
    for (const auto& tensor : elements) {
      Values left;
      for (const ActivationElement& a : tensor) left.push_back(other.left(a));
      way.left.push_back(left.empty() ? std::nullopt : std::optional(std::move(left)));
    }
    all.push_back(std::move(way));
  }
  return all;
}

const RegisterSuspect registered{{
    .name = "activation-otherwise",
    .faults = {},
    .stages = {"forward", "backward"},
    .sentence = "a term of the activation or of its derivative is missing or another's",
    .formula = "y = f(x), dx = dy f'(x), with one thing done otherwise",
    .remedy = "correct that term of the activation, or call PyTorch's own (`F.relu`, `F.gelu`, `F.silu`) in its place",
    .ways = ways,
}};

}  // namespace

RegisterActivationOtherwise::RegisterActivationOtherwise(std::vector<ActivationOtherwise> ways,
                                                         std::source_location at) {
  note_registered(at);
  all_ways().insert(all_ways().end(), ways.begin(), ways.end());
}

}  // namespace tally
