// The case: one training problem, stated exactly (oracle/case.md). Plain data; reading, writing and checking stand in
// the files beside this one.
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "oracle/case/preemption.hpp"
#include "oracle/case/tensors/tensor.hpp"

namespace tally {

/// A recipe number means exactly the decimal written; the oracle lifts the text, a subject reads the nearest binary64.
struct Decimal {
  std::string text;
  double to_double() const;
  friend bool operator==(const Decimal&, const Decimal&) = default;
};

/// Shapes of tensors by name.
using Shapes = std::map<std::string, std::vector<std::int64_t>>;

using OptionValue =
    std::variant<bool, std::int64_t, Decimal, std::string, std::vector<Decimal>, std::vector<std::string>, Shapes>;

/// A kind with its options, defaults filled in: a layer, a loss, or one section of the recipe.
/// The accessors throw std::logic_error when the option is absent or of another type: a bug, never bad input.
struct Choice {
  std::string kind;
  std::map<std::string, OptionValue> options;

  bool flag(std::string_view option) const;
  std::int64_t integer(std::string_view option) const;
  const Decimal& number(std::string_view option) const;
  const std::string& text(std::string_view option) const;
  const std::vector<Decimal>& numbers(std::string_view option) const;
  const std::vector<std::string>& texts(std::string_view option) const;
  const Shapes& shapes(std::string_view option) const;
  friend bool operator==(const Choice&, const Choice&) = default;
};

struct Layer : Choice {
  std::string name;                      // empty for layers without tensors that were not named
  std::vector<std::string> inputs = {};  // names of the earlier layers that it reads; empty: the one before
  std::string tied = {};                 // the embedding whose table is its weight too; empty: its weight is its own
  bool trainable = true;                 // else its own parameters stand still: frozen
  friend bool operator==(const Layer&, const Layer&) = default;
};

struct Model {
  std::int64_t input = 0;  // features of x; 0: an opaque layer comes first, and there is no x
  std::vector<Layer> layers;
  Choice loss;          // kind cross_entropy | mse
  bool tokens = false;  // it reads tokens, whole numbers below `input`, in place of x
  friend bool operator==(const Model&, const Model&) = default;
};

enum class Normalisation { window_items, mean_of_means, mean_of_means_configured, sum, rank_means };

struct Precision {
  Dtype storage = Dtype::fp32;     // activations, weights as kernels see them, their gradients
  Dtype compute = Dtype::fp32;     // GEMM accumulator
  Dtype accumulate = Dtype::fp32;  // gradient buffer across micro-batches
  Dtype master = Dtype::fp32;      // parameters that the optimizer updates
  bool tf32 = false;
  friend bool operator==(const Precision&, const Precision&) = default;
};

/// The five sections of the recipe; kinds and options as in oracle/case.md.
struct Recipe {
  Choice optimizer;      // sgd | adam
  Choice learning_rate;  // constant | step | warmup_cosine
  Choice weight_decay;   // none | l2 | decoupled
  Choice clip;           // none | global_norm | value
  Choice loss_scale;     // none | static | dynamic
  friend bool operator==(const Recipe&, const Recipe&) = default;
};

/// How a subject is to run it. No exact number depends on this; another subject than the built-in one may ignore all of
/// it but `recompute`.
struct Execution {
  bool recompute = false;                    // the forward pass runs again in backward
  std::vector<std::string> recomputed = {};  // of these layers alone, by label, where `recompute`; empty: of all
  std::int64_t order = 0;                    // draws the host GEMM's order of additions for every shape; 0: sequential
  std::int64_t schedule = 0;  // draws the order in which the host executor runs ready threads; 0: in order
  std::vector<Preemption> preemptions = {};         // "schedule" as a list: these choices, otherwise the default ones
  std::map<std::string, std::string> kernels = {};  // operation -> variant; the shipped default where none is named
  Choice ranks = {};  // of kind "ranks" where it says how they work together (rank_keys.hpp); else empty
  friend bool operator==(const Execution&, const Execution&) = default;
};

struct Case {
  // Defined once, in case.cpp: most files that hold one would compile their own copy of these.
  Case();
  Case(const Case&);
  Case(Case&&) noexcept;
  Case& operator=(const Case&);
  Case& operator=(Case&&) noexcept;
  ~Case();

  std::string name;
  Model model;
  std::vector<std::vector<std::int64_t>> windows;  // [w][k] rows of micro-batch k of window w
  std::vector<std::vector<std::int64_t>> dealt =
      {};                                    // [w][r] how many of them rank r has, rank 0 the first; empty: one
  std::vector<std::int64_t> sequences = {};  // their lengths in rows, in order; empty: each row is its own
  Normalisation normalisation = Normalisation::window_items;
  Precision precision;
  Recipe recipe;
  Execution execution;
  std::map<std::string, Tensor> tensors;
  const Case* whole = nullptr;  // what this is one rank's part of (ranks.hpp); never in a file
  std::size_t rank = 0;         // which rank's, where it is a part
  friend bool operator==(const Case&, const Case&) = default;
};

std::string_view name_of(Normalisation normalisation);

/// The name taps and reports use for layer i: its own, or `<kind>#<i>`.
std::string label_of(const Model& model, std::size_t i);

/// Features entering layer i, by its first input; i = layers.size() gives the model's output features. Throws
/// std::logic_error for an input that is no earlier layer.
std::int64_t features_before(const Model& model, std::size_t i);
/// Features of each input of layer i, in the order of its list.
std::vector<std::int64_t> features_read(const Model& model, std::size_t i);
/// Features leaving layer i.
std::int64_t features_after(const Model& model, std::size_t i);

/// The tensor that the model reads: "x", or "tokens".
const char* input_tensor(const Model& model);

/// Names of the parameters that train ("fc1.weight", ...) in model order: they have a gradient, a buffer and state.
std::vector<std::string> parameters_of(const Model& model);
/// Those, and the frozen ones, which are read alone; in model order.
std::vector<std::string> weights_of(const Model& model);

/// First row of window w, and of micro-batch k in it.
std::int64_t first_row(const Case& c, std::size_t window, std::size_t micro_batch = 0);

/// Item weight of one row: 0 when ignored, the class or item weight's exact decimal otherwise, "1" by default.
/// (mse with item_weights: the integer; cross_entropy: w_t.)
Decimal item_weight(const Case& c, std::int64_t row);

/// The same training with each window as one micro-batch of one rank; micro_batch statistics become window statistics.
Case full_batch_of(const Case& c);

}  // namespace tally
