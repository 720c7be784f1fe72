// Which rows a row of attention sees: those of its own sequence, with `causal` none behind itself, with a window none
// that is `window` or more away.
#pragma once

#include <algorithm>
#include <stdexcept>
#include <vector>

#include "oracle/layers/attention.hpp"
#include "oracle/real/functions.hpp"
#include "oracle/real/matrix.hpp"

namespace tally::oracle {

/// Rows [first, last).
struct RowRange {
  Eigen::Index first, last;
  Eigen::Index size() const { return last - first; }
};

/// The sequences among rows of which each has its place in its own, [rows, 1].
template <class T>
std::vector<RowRange> sequences_by(const Matrix<T>& places) {
  std::vector<RowRange> sequences;
  for (Eigen::Index row = 0; row < places.rows(); ++row) {
    if (sequences.empty() || to_integer(places(row, 0)) == 0) sequences.push_back({row, row});
    sequences.back().last = row + 1;
  }
  return sequences;
}

/// Where the pairs of every row with rows of its sequence begin, less the first row of the sequence: pair (i, j) stands
/// at [i] + j (oracle/case/pairs.hpp).
inline std::vector<Eigen::Index> first_pairs_of(const std::vector<RowRange>& sequences) {
  std::vector<Eigen::Index> first;
  Eigen::Index pairs = 0;
  for (const RowRange& sequence : sequences) {
    for (Eigen::Index row = sequence.first; row < sequence.last; ++row) {
      first.push_back(pairs - sequence.first);
      pairs += sequence.size();
    }
  }
  return first;
}

/// What a row of the sequence sees; always itself.
inline RowRange seen_by(const Choice& attention, RowRange sequence, Eigen::Index row) {
  RowRange seen = sequence;
  const Eigen::Index window = attention.integer("window");
  if (attention.flag("causal")) seen.last = row + 1;
  if (window == 0) return seen;
  return {std::max(seen.first, row - window + 1), std::min(seen.last, row + window)};
}

/// Sizes of a pass: heads of q, heads of k and v, features of each.
struct HeadSizes {
  Eigen::Index heads, groups, size;
  /// By the features of q and of k and v. Throws std::logic_error where the heads do not fit into them.
  HeadSizes(const Choice& attention, Eigen::Index q_features, Eigen::Index k_features, Eigen::Index v_features)
      : heads(attention.integer("heads")), groups(key_heads_of(attention)), size(q_features / heads) {
    const bool fit = q_features == heads * size && k_features == groups * size && v_features == k_features;
    if (!fit || heads % groups != 0) throw std::logic_error("the heads of an attention do not fit into its inputs");
  }
  /// The head of k and v that a head of q reads.
  Eigen::Index group_of(Eigen::Index head) const { return head * groups / heads; }
  /// The first head of q that reads this one.
  Eigen::Index first_of(Eigen::Index group) const { return group * (heads / groups); }
};

}  // namespace tally::oracle
