// Bugs of models over tokens: which labels are counted, and what becomes of the gradient of a table.
#include <algorithm>

#include "oracle/case/contract.hpp"
#include "oracle/case/graph.hpp"
#include "oracle/case/rows.hpp"
#include "oracle/graph/stage.hpp"
#include "properties/diagnosis/bug.hpp"

// Bugs of models over tokens: which labels are counted, and which label a row is scored by.
namespace tally::token_counts_bug {
namespace {

/// The labels of the rows themselves in a micro-batch, those that are not ignored; and its sequences. -1: of the window.
struct OwnLabels {
  double counted = 0, sequences = 0;
};

OwnLabels own_labels(const Evidence& evidence, int window, int micro_batch = -1) {
  const Case& c = evidence.c;
  const std::vector<std::int64_t> places = places_in_sequences(c);
  const Tensor& target = c.tensors.at("target");
  const auto w = static_cast<std::size_t>(window), k = static_cast<std::size_t>(std::max(micro_batch, 0));
  const auto first = static_cast<std::size_t>(first_row(c, w, k));
  const std::int64_t rows = micro_batch < 0 ? evidence.rows(window) : evidence.rows(window, micro_batch);
  OwnLabels own;
  for (std::size_t row = first; row < first + static_cast<std::size_t>(rows); ++row) {
    own.counted += target.integer(row) != c.model.loss.integer("ignore_index");
    own.sequences += places[row] == 0;
  }
  return own;
}

/// c for so many items.
std::optional<Values> factor_of(const Evidence& evidence, const HeldTensor& held, double items) {
  return Values{items == 0 ? 0.0 : evidence.scale(held.name.window) / items};
}

/// A count, or c for the window's: `items` gives the count of a micro-batch, of the window for -1.
template <class Items>
std::optional<Values> left_by(const Evidence& evidence, const HeldTensor& held, Items items) {
  if (!shifts_labels(evidence.c.model.loss)) return std::nullopt;
  if (held.name.stage == StageName::count) return Values{items(held.name.micro_batch)};
  if (held.name.tensor != "in.factor") return std::nullopt;
  return factor_of(evidence, held, items(-1));
}

/// The rows of the micro-batch from what all rows would be scored by.
std::optional<Values> scored_by(const Evidence& evidence, const HeldTensor& held, const Tensor& labels) {
  if (held.name.tensor != "in.target") return std::nullopt;
  const auto window = static_cast<std::size_t>(held.name.window), k = static_cast<std::size_t>(held.name.micro_batch);
  const auto first = static_cast<std::size_t>(first_row(evidence.c, window, k));
  Values values;
  for (std::size_t i = 0; i < static_cast<std::size_t>(evidence.rows(held.name.window, held.name.micro_batch)); ++i)
    values.push_back(labels.value(first + i));
  return values;
}

// The labels are counted before they are shifted.
namespace counted_before_the_shift {

std::optional<Values> left(const Evidence& evidence, const HeldTensor& held) {
  return left_by(evidence, held, [&](int k) { return own_labels(evidence, held.name.window, k).counted; });
}

const RegisterBug registered{{
    .name = "tokens-counted-before-shift",
    .stages = {"count", "loss"},
    .sentence = "labels are counted before the shift, which drops each sequence's first label",
    .formula = "N = labels that are not ignored",
    .remedy = "count the labels after the shift: `(labels[:, 1:] != -100).sum()`",
    .left = left,
}};

}  // namespace counted_before_the_shift

// A sequence's boundary is taken off the count that the shift has left it out of.
namespace boundaries_twice {

std::optional<Values> left(const Evidence& evidence, const HeldTensor& held) {
  return left_by(evidence, held, [&](int k) {
    const int window = held.name.window;
    const double items = k < 0 ? evidence.items(window) : evidence.items(window, k);
    return items - own_labels(evidence, window, k).sequences;
  });
}

const RegisterBug registered{{
    .name = "boundaries-subtracted-twice",
    .stages = {"count", "loss"},
    .sentence = "one label per sequence is subtracted from the count, although the shift already drops it",
    .formula = "N - sequences for N",
    .remedy = "count the labels after the shift, and subtract nothing",
    .left = left,
}};

}  // namespace boundaries_twice

// Every row is scored by its own label.
namespace not_shifted {

std::optional<Values> left(const Evidence& evidence, const HeldTensor& held) {
  if (!shifts_labels(evidence.c.model.loss)) return std::nullopt;
  return scored_by(evidence, held, evidence.c.tensors.at("target"));
}

const RegisterBug registered{{
    .name = "labels-not-shifted",
    .stages = {"loss"},
    .sentence = "labels are not shifted: every token is scored against itself",
    .formula = "t_i = label i",
    .remedy = "score each token against the next label, `logits[:, :-1]` against `labels[:, 1:]`; pass unshifted "
              "labels to a model that shifts them",
    .left = left,
}};

}  // namespace not_shifted

// Labels that were shifted are shifted again.
namespace shifted_again {

std::optional<Values> left(const Evidence& evidence, const HeldTensor& held) {
  if (held.name.tensor != "in.target" || !shifts_labels(evidence.c.model.loss)) return std::nullopt;
  Case once = evidence.c;
  once.tensors.at("target") = *ScoredTarget(evidence.c);
  return scored_by(evidence, held, *ScoredTarget(once));
}

const RegisterBug registered{{
    .name = "shifted-twice",
    .stages = {"loss"},
    .sentence = "labels are shifted twice: every token is scored against the one after the next",
    .formula = "t_i = label i + 2",
    .remedy = "pass unshifted labels to a model that shifts them itself",
    .left = left,
}};

}  // namespace shifted_again

// The last row of a sequence is scored by the first label of the next.
namespace over_the_boundary {

std::optional<Values> left(const Evidence& evidence, const HeldTensor& held) {
  if (held.name.tensor != "in.target" || !shifts_labels(evidence.c.model.loss)) return std::nullopt;
  Case joined = evidence.c;
  joined.sequences.clear();
  for (const auto& window : evidence.c.windows)
    joined.sequences.insert(joined.sequences.end(), window.begin(), window.end());
  return scored_by(evidence, held, *ScoredTarget(joined));
}

const RegisterBug registered{{
    .name = "shift-crosses-sequences",
    .stages = {"loss"},
    .sentence = "the shift crosses sequences: the last token of one is scored against the first label of the next",
    .formula = "t_i = label i + 1, of whatever sequence",
    .remedy = "shift labels within each sequence, and ignore each one's last token",
    .left = left,
}};

}  // namespace over_the_boundary
}  // namespace
}  // namespace tally::token_counts_bug

namespace tally::token_tables_bug {
namespace {

// The gradient of a row is that of the last token alone.
namespace last_occurrence {

/// The layer whose table's gradient this is; nullopt: none.
std::optional<std::size_t> table_of(const Evidence& evidence, const HeldTensor& held) {
  const Model& model = evidence.c.model;
  for (std::size_t i = 0; i < model.layers.size(); ++i) {
    const Contract& contract = contract_of("layer", model.layers[i]);
    if (!looks_up(contract)) continue;
    if (held.name.tensor == gradient_name(model, i, "weight")) return i;
  }
  return std::nullopt;
}

std::optional<Values> left(const Evidence& evidence, const HeldTensor& held) {
  const auto layer = table_of(evidence, held);
  if (!layer) return std::nullopt;
  const bool by_token = contract_of("layer", evidence.c.model.layers[*layer]).reads_tokens;
  const auto read = [&](const std::string& tensor) {
    return evidence.tap(held.name.window, held.name.micro_batch, "backward", "in." + tensor);
  };
  const auto index = read(by_token ? "tokens" : "positions");
  const auto dy = read("d." + label_of(evidence.c.model, *layer) + ".y");
  if (!index || !dy || index->empty()) return std::nullopt;
  const std::size_t width = dy->size() / index->size();
  Values last(held.expected.size(), 0.0);
  for (std::size_t row = 0; row < index->size(); ++row)
    for (std::size_t column = 0; column < width; ++column)
      if (const std::size_t place = static_cast<std::size_t>((*index)[row]) * width + column; place < last.size())
        last[place] = (*dy)[row * width + column];
  return last;
}

const RegisterBug registered{{
    .name = "embedding-last-occurrence",
    .stages = {"backward"},
    .sentence = "rows with the same token overwrite each other's gradient: only the last one counts",
    .formula = "dW_t = dy of the last row of t",
    .remedy = "add the gradients of all rows with the same token: `index_add_`, not an indexed assignment",
    .left = left,
}};

}  // namespace last_occurrence

/// What one of the layers that share the weight gave for it, in the order of execution.
std::optional<Values> given_by(const Evidence& evidence, const HeldTensor& held, bool first) {
  for (const SharedParameter& shared : shared_parameters(evidence.c.model)) {
    if (held.name.tensor != "d." + shared.name) continue;
    const std::size_t user = first ? shared.users.front() : shared.users.back();
    return evidence.tap(held.name.window, held.name.micro_batch, "fork",
                        "in." + gradient_name(evidence.c.model, user, "weight"));
  }
  return std::nullopt;
}

// A tied weight takes the gradient of its product alone.
namespace product_alone {

std::optional<Values> left(const Evidence& evidence, const HeldTensor& held) { return given_by(evidence, held, false); }

const RegisterBug registered{{
    .name = "tied-head-gradient-only",
    .stages = {"fork"},
    .sentence = "a tied weight gets only the output layer's gradient, not the embedding's",
    .formula = "dW = dW of the product",
    .remedy = "add the embedding's gradient to the tied weight's",
    .left = left,
}};

}  // namespace product_alone

// A tied weight takes the gradient of its look-ups alone.
namespace look_ups_alone {

std::optional<Values> left(const Evidence& evidence, const HeldTensor& held) { return given_by(evidence, held, true); }

const RegisterBug registered{{
    .name = "tied-cleared-twice",
    .stages = {"fork"},
    .sentence = "a tied weight gets only the embedding's gradient: the output layer's is cleared before it",
    .formula = "dW = dW of the look-ups",
    .remedy = "add both gradients of the tied weight: clear it only before the first",
    .left = left,
}};

}  // namespace look_ups_alone

}  // namespace
}  // namespace tally::token_tables_bug
