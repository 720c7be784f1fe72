// Contracts: what a layer, a loss or a recipe section promises as plain data, and what the contracts of a case's kinds
// say of it: what they do to a window, which tensors there are.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <set>
#include <source_location>
#include <string>
#include <string_view>
#include <vector>

#include "oracle/case/case.hpp"
#include "oracle/registered_files.hpp"

namespace tally {

// What a layer, a loss or a recipe section promises: its options and its tensors, as plain data. The reader, the
// validator, the JSON Schema, the generators and the kernels all read this one table; adding a kind adds a file.

enum class OptionType { boolean, integer, number, text, number_list, text_list, shapes };

/// Allowed range of a number, as decimal text; an empty text leaves that side open.
struct Range {
  std::string above = {};     // value > above
  std::string at_least = {};  // value >= at_least
  std::string below = {};     // value < below
  std::string at_most = {};   // value <= at_most
};

struct Option {
  std::string name;
  OptionType type;
  std::optional<OptionValue> standard;  // absent: the option is required
  Range range = {};
  std::vector<std::string> words = {};  // text and text_list: the allowed words
  bool parameters = false;              // text_list: names of the model's parameters are allowed too
  /// The version of a case file that has it. From 2 on it is written only where it is not at its default.
  std::int64_t since = 1;
};

/// frozen: a parameter of a layer that does not train; no contract says so, tensors_of does.
enum class Role { parameter, frozen, running, mask };

/// A tensor of a layer. Its shape comes from the layer and the features entering it; `rows` stands for rows of x as -1.
struct LayerTensor {
  std::string name;
  Role role;
  std::function<std::vector<std::int64_t>(const Choice& layer, std::int64_t features)> shape;
  std::function<bool(const Choice& layer)> present = [](const Choice&) { return true; };
};

/// fp32 numbers that a layer leaves for every row: [rows], or [rows, n] with n by an option of the layer, a head each.
struct RowStatistic {
  std::string name;      // "rstd"
  std::string per = {};  // the integer option that says how many a row has, "heads"; empty: one
};

/// A tensor that an optimizer keeps beside each parameter, of its shape and in the master format. Beside the parameter
/// "fc1.weight" it is "exp_avg.fc1.weight".
struct StateTensor {
  std::string name;  // "exp_avg"
  std::string word;  // for people: "momentum"
  bool begins_with_gradient =
      false;  // there is none before the first step, which takes the gradient or the parameter; else it begins at 0
  bool never_negative = false;
  std::function<bool(const Choice& optimizer)> present = [](const Choice&) { return true; };
};

/// Options that each may have, and not together.
struct Misfit {
  std::string option, found, expected;
};

/// A finding for every input that has another size than the first.
std::vector<Misfit> other_sizes(const Choice& layer, const std::vector<std::int64_t>& features);

struct Contract {
  std::string section;  // "layer", "loss", "optimizer", "learning_rate", "weight_decay", "clip", "loss_scale"
  std::string kind;
  std::vector<Option> options;
  std::vector<LayerTensor> tensors = {};  // layers only
  /// Layers only: the option whose shapes are those of its parameters, where each layer of the kind has its own.
  std::string parameters_by = {};
  /// Layers and losses only: what it computes is not stated. A capture's own tensors stand for it; nothing draws, runs
  /// or differentiates it.
  bool opaque = false;
  bool drawn = true;  // generators draw it; else only captures and cases written by hand have it
  /// Layers only: how many outputs it reads. Where the least is 1 it may leave its list of inputs out.
  std::size_t least_inputs = 1, most_inputs = 1;
  /// Layers only: its inputs are of one size, and the gradient of each is that of its output, bit for bit. It computes
  /// nothing in backward and leaves no tap there: those that it reads take its gradient.
  bool hands_gradient_on = false;
  /// Layers only: what taps call its inputs, where these are not alike: {"q", "k", "v"}. Empty: "x", or "x0", "x1", ….
  std::vector<std::string> input_words = {};
  /// Layers only: what is wrong with the sizes of its inputs, the features of each; the option is what its path ends
  /// with: "heads", "inputs[1]". Standard: all are as the first.
  std::function<std::vector<Misfit>(const Choice& layer, const std::vector<std::int64_t>& features)> input_misfits =
      other_sizes;
  /// Layers only: what a row comes to depends on other rows of its sequence.
  bool reads_sequences = false;
  /// Layers only: what weight_decay's "norm" excludes.
  bool norm = false;
  /// Layers only: what forward leaves of every row beside y, and what backward works out of every row before the
  /// gradients of its inputs.
  std::vector<RowStatistic> row_statistics = {}, backward_statistics = {};
  /// Layers only: which of forward's outputs backward reads again: "y", "lse".
  std::vector<std::string> kept_for_backward = {};
  /// Layers only: it reads the model's tokens, and looks its rows up by them; each row's place in its sequence.
  bool reads_tokens = false, reads_positions = false;
  /// Layers only: the option that says how many places its table has rows for. Empty: it looks nothing up by them.
  std::string table_length = {};
  /// Layers only: its weight may be the table of an embedding, which then says this option.
  std::string tied_sets = {};
  /// Layers only: features leaving, given features entering.
  std::function<std::int64_t(const Choice& layer, std::int64_t features)> out_features =
      [](const Choice&, std::int64_t features) { return features; };
  std::vector<StateTensor> state = {};  // optimizers only
  bool counts_steps = false;            // optimizers only: a step depends on how many were taken before it
  bool class_targets = false;           // losses only: a row's target is the number of its class
  bool does_nothing = false;            // clips, decays and loss scales: the recipe goes on without
  bool reads_norm = false;              // clips only: by a norm of all gradients
  bool decays_gradient = false;         // decays only: into the gradient, else into the parameter
  std::string first_scale = {};         // loss scales only: the option that scales the first window
  bool checks_overflow = false;         // loss scales only: skips a window that is not finite, and moves the scale
  std::int64_t passes = 1;              // optimizers and clips only: windows that read the same rows, one after another
  std::function<std::vector<Misfit>(const Choice&)> misfits = [](const Choice&) { return std::vector<Misfit>{}; };
  std::string definition = {};  // one line for people
  /// Layers only: the text option whose word chooses between kernels, as `approximate` between gelu_none and gelu_tanh.
  std::string kernels_by = {};
};

/// What becomes of a `Register<Contract>`. Throws std::logic_error for a kind that has its contract.
void enter_record(Contract contract, std::source_location at);

/// All contracts of a section, sorted by kind.
std::vector<const Contract*> contracts_of(std::string_view section);
/// Those of them that are drawn.
std::vector<const Contract*> drawn_contracts_of(std::string_view section);
/// nullptr when there is none.
const Contract* find_contract(std::string_view section, std::string_view kind);
/// Throws std::logic_error when there is none, naming section and kind.
const Contract& contract_of(std::string_view section, const Choice& choice);

/// The tensors that this layer has, those of its contract that are present and its own; a tied weight is another
/// layer's. Throws std::logic_error for an unknown kind.
std::vector<LayerTensor> tensors_of(const Layer& layer);

/// Whether it reads rows of a table of its own, by tokens or by places.
bool looks_up(const Contract& contract);

/// How many numbers a row has of it.
std::int64_t width_of(const RowStatistic& statistic, const Choice& layer);
/// Its shape, over so many rows.
std::vector<std::int64_t> shape_of(const RowStatistic& statistic, const Choice& layer, std::int64_t rows);

/// What the operations of a layer's kernels begin with: "relu", "gelu_tanh".
std::string kernel_family_of(const Layer& layer);

// What the kinds of a case's sections do to a window, as their contracts say (oracle/losses, oracle/recipe). Each
// throws std::logic_error for a kind without a contract, naming section and kind.

/// Whether what the layer, or the loss, computes is not stated.
bool is_opaque(const Layer& layer);
bool is_opaque(const Choice& loss);
/// Whether the model is one opaque layer: its outputs and gradients are a capture's.
bool is_opaque(const Model& model);
/// Whether some layer looks up rows by each row's place in its sequence.
bool reads_positions(const Model& model);
/// Whether some layer reads other rows of a row's sequence.
bool reads_sequences(const Model& model);
/// Whether it is what weight_decay's "norm" excludes.
bool is_norm(const Layer& layer);
/// Throws InvalidCase where something of the model is not stated, so that it can be judged and neither run nor
/// differentiated.
void require_stated(const Case& c);

/// Whether a row's target is the number of its class; else it is a row of the model's outputs.
bool has_class_targets(const Choice& loss);

/// The number of the case that scales the loss of the first window; nullptr where the loss is not scaled.
const Decimal* written_scale(const Choice& loss_scale);
/// Whether a window whose gradients are not finite is skipped, and the scale moves from window to window: the stages
/// overflow_check and scaler are there.
bool checks_overflow(const Choice& loss_scale);

/// Whether gradients are clipped: the stage clip is there.
bool clips(const Choice& clip);
/// Whether they are clipped by a norm of all of them: the stage norm is there.
bool clips_by_norm(const Choice& clip);

/// Whether parameters decay: the stage decay is there.
bool decays(const Choice& weight_decay);
/// Whether the decay goes into the gradient; else it goes into the parameter.
bool decays_gradient(const Choice& weight_decay);

// The tensors that optimizers keep from step to step, by the contracts of the optimizers (oracle/recipe).

/// Those of this optimizer with these options, in the order of its contract.
std::vector<const StateTensor*> state_of(const Choice& optimizer);

/// Whether a step of this optimizer depends on how many were taken before it.
bool counts_steps(const Choice& optimizer);

/// Those of every optimizer, by name.
const std::set<std::string>& state_names();

/// "fc1.weight" of "exp_avg.fc1.weight"; empty for a name that is no optimizer's state.
std::string_view parameter_of_state(std::string_view tensor);

// The weight of (cross_entropy.4): what multiplies the square of each row's log of the sum.

/// 0 of a loss that says nothing of it.
inline Decimal z_loss_of(const Choice& loss) {
  return loss.options.contains("z_loss") ? loss.number("z_loss") : Decimal{"0"};
}

// Which tensors a case has: names, formats, shapes.

struct ExpectedTensor {
  Dtype dtype;
  std::vector<std::int64_t> shape;
  bool required;  // optimizer state may be absent, all of it
};

/// Rows of all windows.
std::int64_t rows_of(const Case& c);

/// Whether a tensor of this name has a row for each row of the batch: x, tokens, positions, target, item weights, masks.
bool has_rows(const std::string& tensor);

/// Model, windows, precision and optimizer must be sound (see rules.hpp); tensors are not looked at.
std::map<std::string, ExpectedTensor> expected_tensors(const Case& c);

}  // namespace tally
