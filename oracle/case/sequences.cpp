#include "oracle/case/sequences.hpp"

#include "oracle/case/expected_tensors.hpp"

namespace tally {
namespace {

/// Whether no row of the same sequence follows.
bool is_last(const std::vector<std::int64_t>& sequences, std::int64_t row) {
  std::int64_t end = 0;
  for (const std::int64_t length : sequences)
    if (end += length; row < end) return row == end - 1;
  return true;
}

}  // namespace

std::vector<std::int64_t> places_in_sequences(const Case& c) {
  std::vector<std::int64_t> places;
  for (const std::int64_t length : c.sequences)
    for (std::int64_t place = 0; place < length; ++place) places.push_back(place);
  places.resize(static_cast<std::size_t>(rows_of(c)), 0);
  return places;
}

Tensor places_of(const Case& c) {
  const std::vector<std::int64_t> places = places_in_sequences(c);
  Tensor column(Dtype::i64, {static_cast<std::int64_t>(places.size()), 1});
  for (std::size_t row = 0; row < places.size(); ++row) column.set_bits(row, static_cast<std::uint64_t>(places[row]));
  return column;
}

SequenceRows sequence_rows(const Case& c) {
  const std::vector<std::int64_t> places = places_in_sequences(c);
  SequenceRows rows;
  std::size_t first = 0;
  for (const auto& window : c.windows) {
    for (const std::int64_t size : window) {
      const std::size_t last = first + static_cast<std::size_t>(size);
      for (std::size_t row = first; row < last; ++row)
        rows.begin.push_back(static_cast<std::int64_t>(row - first) - places[row]);
      rows.end.resize(last);
      std::size_t end = last;
      for (std::size_t row = last; row-- > first;) {
        rows.end[row] = static_cast<std::int64_t>(end - first);
        if (places[row] == 0) end = row;
      }
      first = last;
    }
  }
  return rows;
}

Tensor positions_of(const Case& c) {
  if (const auto given = c.tensors.find("positions"); given != c.tensors.end()) return given->second;
  Tensor positions(Dtype::i64, {rows_of(c)});
  const std::vector<std::int64_t> places = places_in_sequences(c);
  for (std::size_t row = 0; row < places.size(); ++row)
    positions.set_bits(row, static_cast<std::uint64_t>(places[row]));
  return positions;
}

bool shifts_labels(const Choice& loss) { return loss.options.contains("shift") && loss.flag("shift"); }

std::int64_t scored_class(const Case& c, std::int64_t row) {
  const Tensor& target = c.tensors.at("target");
  if (!shifts_labels(c.model.loss)) return target.integer(static_cast<std::size_t>(row));
  if (is_last(c.sequences, row)) return c.model.loss.integer("ignore_index");
  return target.integer(static_cast<std::size_t>(row) + 1);
}

ScoredTarget::ScoredTarget(const Case& c) : given_(c.tensors.at("target")) {
  if (!shifts_labels(c.model.loss)) return;
  Tensor& scored = shifted_.emplace(given_.dtype, given_.shape);
  const std::vector<std::int64_t> places = places_in_sequences(c);
  for (std::size_t row = 0; row < places.size(); ++row) {
    const bool last = row + 1 == places.size() || places[row + 1] == 0;
    const std::int64_t label = last ? c.model.loss.integer("ignore_index") : given_.integer(row + 1);
    scored.set_bits(row, static_cast<std::uint64_t>(label));
  }
}

}  // namespace tally
