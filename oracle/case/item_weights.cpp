#include "oracle/case/item_weights.hpp"

#include "oracle/case/kinds.hpp"
#include "oracle/case/sequences.hpp"
#include "oracle/case/sizes.hpp"

namespace tally {
namespace {

constexpr std::int64_t exact_in_binary64 = std::int64_t{1} << 53;

std::optional<std::int64_t> exact_or_none(std::int64_t weight) {
  return weight >= 0 && weight <= exact_in_binary64 ? std::optional(weight) : std::nullopt;
}

/// Rows that have a weight.
std::vector<std::int64_t> items_of_windows(const Case& c) {
  const ItemWeights weights(c);
  std::vector<std::int64_t> found;
  std::int64_t row = 0;
  for (const auto& window : c.windows) {
    found.push_back(0);
    for (const std::int64_t rows : window)
      for (const std::int64_t end = row + rows; row < end; ++row) found.back() += weights.nearest(row) > 0;
  }
  return found;
}
const RegisterSize registered_items{{.name = "items of a window", .in = items_of_windows}};

}  // namespace

ItemWeights::ItemWeights(const Case& c) : case_(c) {
  const Choice& loss = c.model.loss;
  if (has_class_targets(loss)) {
    classes_.emplace(c);
    ignored_ = loss.integer("ignore_index");
    by_class_ = !loss.numbers("weight").empty();
  } else if (!is_opaque(loss) && loss.flag("item_weights")) {
    weights_ = &c.tensors.at("item_weight");
  }
}

std::optional<std::int64_t> ItemWeights::whole(std::int64_t row) const {
  const auto at = static_cast<std::size_t>(row);
  if (weights_ != nullptr) return exact_or_none(weights_->integer(at));
  if (!classes_) return 1;
  if ((**classes_).integer(at) == ignored_) return 0;
  return by_class_ ? std::nullopt : std::optional<std::int64_t>(1);
}

double ItemWeights::nearest(std::int64_t row) const {
  const auto known = whole(row);
  return known ? static_cast<double>(*known) : item_weight(case_, row).to_double();
}

std::optional<std::int64_t> ItemWeights::whole_sum(std::int64_t first_row, std::int64_t rows) const {
  std::int64_t sum = 0;
  for (std::int64_t row = first_row; row < first_row + rows; ++row) {
    const auto weight = whole(row);
    if (!weight || !exact_or_none(sum + *weight)) return std::nullopt;
    sum += *weight;
  }
  return sum;
}

}  // namespace tally
