// Plans of ordinary networks: what a reader of PyTorch's tutorials would train, with its model, initial values and
// images. Defined in ordinary_plan.cpp, ordinary_model.cpp.
#pragma once

#include <cstdint>
#include <initializer_list>
#include <string>
#include <utility>
#include <vector>

#include "kernels/device/executor/schedule.hpp"
#include "oracle/case/contract.hpp"
#include "properties/generators/plan.hpp"

namespace tally {

// Choices drawn from a seed.

class Lots {
 public:
  explicit Lots(std::uint64_t seed) : random_(seed) {}

  bool one_in(std::uint64_t n) { return random_.below(n) == 0; }
  std::int64_t between(std::int64_t least, std::int64_t most) {
    return least + static_cast<std::int64_t>(random_.below(static_cast<std::uint64_t>(most - least + 1)));
  }
  /// Any of them, each as often; one that stands twice comes twice as often.
  template <class T>
  T any(std::initializer_list<T> choices) {
    return choices.begin()[random_.below(choices.size())];
  }
  std::string word(std::initializer_list<const char*> choices) { return any(choices); }

 private:
  executor::Schedule random_;
};

// What training starts from in practice: inputs and initial parameters, as families of drawings. Plan::values names
// both, "pytorch/unit"; without a slash it names a family of x alone.

/// "pytorch"     linear layers uniform within 1/√fan-in, weights and biases (kaiming_uniform with a = √5); norms 1 and
/// 0 "he"          linear weights normal with variance 2/fan-in, biases 0; norms 1 and 0 "constant"    every linear
/// weight 1/100, biases 0; norms 1 and 0: all elements of a tensor are the same "near_one"    linear layers as in
/// PyTorch, norms between 1/2 and 3/2 and biases of them in [-1, 1): in mid-training
const std::vector<std::string>& initialisations();

/// One of those, or empty: parameters are drawn by their role.
std::string initialisation_of(const Plan& plan);
/// A family of drawings, "one_hot" over all columns, "digits", or empty: normal values.
std::string input_of(const Plan& plan);

/// The family of one tensor of a layer that `features` enter. Running means begin at 0, variances at 1.
std::string initial_family(const std::string& initialisation, const Layer& layer, const LayerTensor& tensor,
                           std::int64_t features);

// Images of the handwritten digits as a case's rows.

/// Writes consecutive images, from one that the plan's seed chooses, into x, grey values 0 … 1; and where the loss has
/// classes for all ten digits, the digits they show into target.
void show_digits(const Plan& plan, Case& c);

// Plans of ordinary networks: what a reader of PyTorch's tutorials would train, at the sizes, with the initial values,
// inputs and recipes of such code. Nothing in them is chosen to hurt.

/// Widths of the hidden layers, and what goes with them: layers, rows, windows.
enum class OrdinarySize {
  small,      // 10 to 64, two to six linear layers, batches of 4 to 64 rows, up to three windows
  medium,     // 96 to 256, two to four
  large,      // 300 to 512, two or three, up to 16 rows
  true_size,  // weights of 10^5 to 10^6 elements, one or two layers, up to 8 rows, one window
  huge        // one stage after another on 10^7 elements: a weight, or the features of 10^4 rows
};

std::string name_of(OrdinarySize size);

/// Everything but size and storage is drawn from the seed. Input, initial values and structure go together as they do
/// in practice; buffers, masters and accumulators of other formats come in one plan of four.
Plan ordinary_plan(Dtype storage, OrdinarySize size, std::uint64_t seed);

/// What evidence is counted by: {"structure", "layer_norm"}, {"optimizer", "adam, decoupled"}, …
std::vector<std::pair<std::string, std::string>> traits_of(const Plan& plan);

// The model of an ordinary plan: input, layers, loss and initial values.

void choose_ordinary_model(Plan& plan, OrdinarySize size, Lots& lots);

/// Whether rows of a micro-batch are normalised together.
bool has_batch_statistics(const Plan& plan);

}  // namespace tally
