// A suspect: a known bug as a formula; the options that a stage works by, the factors that tell a story, and how well a
// formula explains an error. Defined in suspect.cpp, explained.cpp.
#pragma once

#include <functional>
#include <optional>
#include <source_location>
#include <string>
#include <string_view>
#include <vector>

#include "oracle/case/contract.hpp"
#include "properties/diagnosis/evidence.hpp"

namespace tally {

// The options of a case that the failing stage works by, each with a way to change it.

struct Setting {
  std::string of;          // "adam", "layer_norm"
  const Option* option;    // of the contract
  const Choice* as_given;  // the case's own
  std::function<void(Case& c, const OptionValue& value)> set;

  const OptionValue& value() const { return as_given->options.at(option->name); }
};

/// The settings at work. Options that give tensors their shapes are left out. Layers give those of the kind that the
/// failing tensor belongs to, for all its layers at once.
std::vector<Setting> settings_of(const Evidence& evidence);

/// Whether the trace is small enough to be evaluated again so often: by default for every option of a stage.
bool affordable(const Trace& trace, std::size_t evaluations = 128);
inline bool affordable(const Evidence& evidence, std::size_t evaluations = 128) {
  return affordable(evidence.trace, evaluations);
}

/// The kind of the layer that a tap belongs to; empty for none.
std::string layer_kind_of(const Case& c, const std::string& tensor);

// How well a formula explains an error, and what of that chance alone would do.

/// The share of the squared error |got - expected|^2, both rounded to the tensor's format, that a candidate explains in
/// place of the expectation:
///   share = 1 - |got - f candidate|^2 / |got - expected|^2,   f = 1, or fitted: <got, candidate> / |candidate|^2
/// Where elements are not finite that should be (or the other way round), the share is that of these elements: both
/// sets' intersection over their union, and f is 1.
struct Explained {
  double share = 0, factor = 1;
  /// Elements that count: (sum r^2)^2 / sum r^4 of the error r, so that one wild element counts as one.
  double dimensions = 0;
  /// What rounding to the formats of the tensors may leave unexplained: shares nearer than this to 1 are equally good.
  double resolution = 0;
  /// The rest of the squared error, at least that of half a rounding.
  double rest = 1;
  /// Whether every element is what the candidate says, as far as rounding lets it be told: a few roundings of the
  /// format, and the bound of the right value. A formula that comes near without being within is another bug's.
  bool within = false;
  /// The chance that a candidate without a reason does as well, where no rest counts as less than half a
  /// rounding of the format: a tensor of one 16-bit element shows next to nothing. Fixed: uniform in the ball around
  /// `got` that reaches to the expectation, (1 - share)^(n/2). Fitted: a random direction in n dimensions, whose share
  /// of the energy is Beta(1/2, (n - 1)/2), of mean 1/n; 1 for n <= 1, where any factor fits.
  double chance = 1;
};

/// `candidates[i]` stands for `held[i]`; where it is empty, the expectation itself does. So does `bounds[i]` for its
/// bounds, where a candidate has those of other places.
Explained explained_by(const std::vector<HeldTensor>& held, const std::vector<std::optional<Values>>& candidates,
                       bool fits_factor, const std::vector<std::optional<Values>>& bounds = {});

// Factors that a window's counts give: K, 1/K, n_k/N, N/(K n_k) and their like.

struct NamedFactor {
  double value;
  std::string name, with;  // "N/(K n_k)", " with n_k = 4, N = 14, K = 4"
};

/// The factors of a window of so many micro-batches and items, for the micro-batch with `own` of these items; 0: for
/// none of them.
std::vector<NamedFactor> factors_of_counts(double micro_batches, double own, double items);

// Factors that tell a story: 1/K, n_k/N, the loss scale, a half.

/// "(K-1)/K with K = 6" for a factor that is one of those of this window (and micro-batch, -1 for none), to within the
/// rounding of `dtype`; empty for any other, for 1, and for what is not finite.
std::string telling_factor(const Case& c, int window, int micro_batch, Dtype dtype, double factor);

// A suspect: a known bug as a formula. Given the trace's own bits before the stage, it says what that bug would have
// left, element by element. One file a suspect; it registers itself.

struct Suspect {
  std::string name;
  std::vector<std::string> faults;  // the seeded faults it stands for; those of one formula share a suspect
  std::vector<std::string> stages;  // where it may enter; empty: anywhere
  std::string sentence;             // what the bug does, for people
  std::string formula;              // "c = S / (K n_k)"
  /// What to change, in the words of a training loop, without a full stop; counts stand as {n_k}, {N}, {K}
  /// (sentences.hpp).
  std::string remedy;
  /// The kind of call (kernels/trace/recorder_notes.hpp) that it stands at, where that is not its stage's.
  std::string call = {};
  /// What the bug would have left in this tensor; nullopt where it leaves it right. Nothing is judged where it leaves
  /// every tensor right.
  std::optional<Values> (*left)(const Evidence& evidence, const HeldTensor& held) = nullptr;
  /// Numbers that `left` itself chose by looking at what came.
  int parameters = 0;
  /// got = f * left, with one f for all tensors, fitted by least squares: one more parameter.
  bool fits_factor = false;
  /// In place of `left`: many ways of one sort, each with its own sentence and formula, under one name.
  std::vector<Hypothesis> (*ways)(const Evidence& evidence) = nullptr;
};

struct RegisterSuspect {
  explicit RegisterSuspect(Suspect suspect, std::source_location at = std::source_location::current());
};

/// All suspects, sorted by name.
std::vector<const Suspect*> suspects();
const Suspect* find_suspect(std::string_view name);
/// Whether the suspect stands for this fault.
bool stands_for(const Suspect& suspect, std::string_view fault);

}  // namespace tally
