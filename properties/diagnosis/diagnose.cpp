#include "properties/diagnosis/diagnose.hpp"

#include <algorithm>
#include <cmath>
#include <tuple>

#include "properties/compare/lens.hpp"
#include "properties/diagnosis/explained.hpp"
#include "properties/diagnosis/suspect.hpp"
#include "properties/diagnosis/telling_factor.hpp"

namespace tally {
namespace {

constexpr double chance_of_a_false_claim = 1e-3;
constexpr double least_share = 0.5;
constexpr std::size_t listed_suspects = 3;

struct Tried {
  const Suspect* suspect;
  Explained found;
  Suspicion suspicion;

  double unexplained() const { return std::max(1 - found.share, found.resolution); }
};

bool may_enter(const Suspect& suspect, const std::string& stage) {
  const auto& stages = suspect.stages;
  return stages.empty() || std::find(stages.begin(), stages.end(), stage) != stages.end();
}

/// A factor that tells something was picked from a short list, and is no longer free.
void name_factor(Tried& tried, const Evidence& evidence) {
  if (!tried.suspect->fits_factor) return;
  const TapName at = tap_name_of(evidence.check.tap);
  Suspicion& s = tried.suspicion;
  s.factor = tried.found.factor;
  s.factor_word = telling_factor(evidence.c, at.window, at.micro_batch, evidence.held.front().dtype, s.factor);
  s.parameters += s.factor_word.empty() ? 2 : 1;
  if (!s.factor_word.empty()) {
    tried.found.chance = std::min(tried.found.chance, std::pow(1 - tried.found.share, tried.found.dimensions / 2));
  }
}

std::optional<Tried> tried(const Suspect& suspect, const Evidence& evidence) {
  std::vector<std::optional<Values>> candidates;
  for (const HeldTensor& held : evidence.held) candidates.push_back(suspect.left(evidence, held));
  if (std::none_of(candidates.begin(), candidates.end(), [](const auto& c) { return c.has_value(); })) return {};
  Tried one{&suspect, explained_by(evidence.held, candidates, suspect.fits_factor), {}};
  one.suspicion.name = suspect.name;
  one.suspicion.share = one.found.share;
  one.suspicion.parameters = suspect.parameters;
  one.suspicion.sentence = suspect.sentence;
  one.suspicion.formula = suspect.formula;
  name_factor(one, evidence);
  return one;
}

/// Nothing but the name puts one before the other.
bool as_good(const Tried& a, const Tried& b) {
  return a.unexplained() == b.unexplained() && a.suspicion.parameters == b.suspicion.parameters;
}

}  // namespace

std::vector<Suspicion> diagnose(const Case& c, const Trace& trace, const std::vector<TensorCheck>& checks) {
  const TensorCheck* failure = first_failure(checks);
  if (failure == nullptr || failure->lens != "local") return {};
  const Evidence evidence(c, trace, *failure);
  if (evidence.held.empty()) return {};
  std::vector<Tried> all;
  for (const Suspect* suspect : suspects()) {
    if (!may_enter(*suspect, failure->stage)) continue;
    if (auto one = tried(*suspect, evidence)) all.push_back(std::move(*one));
  }
  const auto count = static_cast<double>(all.size());
  std::erase_if(all, [&](const Tried& t) {
    return !(t.found.share >= least_share && count * t.found.chance <= chance_of_a_false_claim);
  });
  std::stable_sort(all.begin(), all.end(), [](const Tried& a, const Tried& b) {
    return std::make_tuple(a.unexplained(), a.suspicion.parameters, a.suspicion.name) <
           std::make_tuple(b.unexplained(), b.suspicion.parameters, b.suspicion.name);
  });
  std::vector<Suspicion> listed;
  for (const Tried& each : all) {
    if (listed.size() < listed_suspects || as_good(each, all.front())) listed.push_back(each.suspicion);
  }
  return listed;
}

}  // namespace tally
