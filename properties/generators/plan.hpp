// A plan: the few choices a case is drawn from, the case without its tensors, and the tensors drawn for it. Defined in
// plan.cpp, tensors.cpp.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "oracle/case/case.hpp"

namespace tally {

// A plan: the few choices a case is drawn from. RapidCheck draws and shrinks plans; case_of() turns one into a case,
// always the same one.

/// Values of the tensors: ordinary random data, or dyadic data for which every sum is exact in any order; of few bits,
/// or of as many as the formats hold, cancelling (exact_cases.hpp).
enum class Data { ordinary, exact, cancelling };

/// A model over tokens: `input` is its vocabulary, and before the hidden layers come an embedding, "wte", and maybe
/// learned positions, "wpe". The rows of a micro-batch are cut into sequences of 1 to `longest` rows.
struct TokenPlan {
  std::int64_t width = 0;  // of the embedding; 0: no tokens
  std::int64_t longest = 1;
  bool positions = false;
  bool tied = false;                              // the last layer's weight is the embedding's table
  bool frozen = false, frozen_positions = false;  // the table, and that of the positions, stand still
  friend bool operator==(const TokenPlan&, const TokenPlan&) = default;
};

struct Plan {
  std::int64_t input = 4;
  TokenPlan tokens;
  std::vector<Layer> hidden;  // before the last linear layer; options filled in
  std::int64_t outputs = 3;
  bool output_bias = true;  // of the last linear layer
  bool has_head = true;     // that layer; else the loss reads what `hidden` leaves, `outputs` features
  bool head_trains = true;
  Choice loss;
  int ignored_percent = 0;         // cross_entropy: share of rows that carry ignore_index
  bool empty_micro_batch = false;  // the second micro-batch of every window has only ignored rows (or weight 0)
  bool empty_window = false;       // so has all of the last window, of several
  std::vector<std::vector<std::int64_t>> windows = {{2}};
  int stages = 1, chunks = 1;  // of a pipeline: as many as the layers can be cut into, by the seed
  int ranks = 1;               // that every window's micro-batches are dealt to, by the seed; some may have none
  int next_ranks = 0;          // the same of some later windows, by the seed; 0: the number never changes
  Normalisation normalisation = Normalisation::window_items;
  Precision precision;
  Recipe recipe;
  Execution execution;
  bool recomputes_some = false;  // with execution.recompute: of some layers alone, drawn from the seed
  Data data = Data::ordinary;
  double gradient_magnitude = 1;  // multiplies x of one row in the window's first micro-batch: overflow on purpose
  std::string
      values;  // of x: a family of drawings, "tiny"; as in properties/generators/ordinary/ordinary_plan.hpp, "pytorch/digits"; empty: normal
  bool far_mean = false;  // biases of hidden layers of 2^10: what a norm after them sees is far from zero
  bool constant = false;  // what a norm behind a linear layer sees of each row, or column, is one large number
  std::uint64_t seed = 1;
};

/// Builds the case; every tensor is drawn from (1, seed of plan and name, family). Throws std::logic_error when the
/// plan makes an invalid case: a bug of the generator.
Case case_of(const Plan& plan);

/// The layers before the last one.
std::vector<Layer> earlier_layers(const Plan& plan);
/// Features entering the last layer.
std::int64_t hidden_features(const Plan& plan);

// A planned case without its tensors, so that a rule may be asked before they are drawn.

Case case_frame(const Plan& plan);

// Draws every tensor of a planned case.

/// Fills c.tensors; the rest of the case must stand already.
void draw_tensors(const Plan& plan, Case& c);

}  // namespace tally
