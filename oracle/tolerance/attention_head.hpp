// Attention's bounds, one head of one sequence at a time, and which rows a row sees.
#pragma once

#include <algorithm>
#include <stdexcept>
#include <vector>

#include "oracle/layers/heads.hpp"
#include "oracle/real/functions.hpp"
#include "oracle/real/number.hpp"
#include "oracle/tolerance/rule.hpp"

namespace tally::oracle {

// Which rows a row of attention sees: those of its own sequence, with `causal` none behind itself, with a window none
// that is `window` or more away.

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
/// at [i] + j (oracle/case/rows.hpp).
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

// Attention's bounds, one head of one sequence at a time: how far the scores, the weights and what is summed by them
// may lie from the exact ones (oracle/variants.md, "Attention"). Rows are handled whole, as arrays over the keys that a
// row sees, so that a key which it does not see contributes nothing, whatever it holds.

/// What a pass of attention is made of: inputs, sizes, and what its roundings cost.
class AttentionHead {
 public:
  /// Keeps references to the matrices. `operation` is the one whose claim says how exp errs: "attention.forward".
  AttentionHead(const BoundPass& pass, std::string_view operation, const BoundedMatrix& q, const BoundedMatrix& k,
                const BoundedMatrix& v);

  /// A row's scores over the keys that it sees, (attention.1), and how far each may be off.
  struct Scores {
    Eigen::ArrayXd t, tau;
    bool poisoned = false;  // one of them is NaN or +infinity for certain: then all that it is weighed by is NaN
    bool open = false;      // one of them may or may not be finite
  };
  Scores scores(Eigen::Index i, Eigen::Index head, RowRange seen) const;

  /// One row's y, (attention.3), and its logarithm of the sum, (attention.2). With `blocks` of keys, each of which
  /// scales what stands before it.
  struct Row {
    Eigen::ArrayXd y, e;  // over the features of the head
    Bounded lse;
  };
  Row row(Eigen::Index i, Eigen::Index head, RowRange seen) const;

  /// What the weights P_ij = e^(t_ij - L) may be, P + excess at most.
  struct Weights {
    Eigen::ArrayXd p, excess;
  };
  Weights weights(const Scores& scores, Bounded lse) const;

  /// dy_i . v_j over the keys that a row sees, and how far each may be off.
  Scores products_with_values(const BoundedMatrix& dy, Eigen::Index i, Eigen::Index head, RowRange seen) const;

  const HeadSizes& sizes() const { return sizes_; }
  Bounded scale() const { return scale_; }
  /// How far a sum may be off that is multiplied by the scale once, relatively: the scale's own error and one rounding.
  double scaling() const { return scaling_; }
  double u() const { return fp32_.u(); }
  double underflow() const { return fp32_.underflow(); }
  double threshold() const { return fp32_.threshold(); }
  /// What an addend may lose where sums are added by atomics, which flush it and what it is added to.
  double flushed() const;
  /// m f of every key that a row sees, (attention.3): 1 where nothing is dropped; and how far off what it multiplies may
  /// be, relatively, f's own error and one rounding: 0 where nothing is.
  Eigen::ArrayXd kept(Eigen::Index i, Eigen::Index head, RowRange seen) const;
  double keeping() const { return keeping_; }
  bool drops() const { return mask_ != nullptr; }
  /// A value as it is stored in S, how often `times` says: how far it may be then; undecided where S may not hold it.
  Bounded stored(Bounded x, int times = 1) const;
  /// How often a kernel stores weights and their gradients before they weigh.
  int casts() const { return unknown_ ? 2 : casts_after_sum_ ? 1 : 0; }
  /// Whether nothing is claimed: then the largest bound of the family holds.
  bool is_unknown() const { return unknown_; }
  const std::vector<RowRange>& sequences() const { return sequences_; }

 private:
  Row undecided_row(bool certain) const;
  bool fits(double product, double score) const;

  const KernelClaim& claim_;
  const BoundedMatrix &q_, &k_, &v_;
  HeadSizes sizes_;
  Arithmetic fp32_;
  Bounded scale_;
  double scaling_, function_, least_;                     // of exp: relative, and absolute below the normal range
  double u_stored_ = 0, least_stored_ = 0, most_stored_;  // of S: 0 in fp32, where nothing is lost by a store
  bool unknown_ = false;                                  // what the kernel does: the largest bound of its family
  bool stores_scores_ = false, casts_before_sum_ = false, casts_after_sum_ = false, folds_ = false;
  std::vector<RowRange> sequences_;
  const Matrix<long double>* mask_ = nullptr;  // [heads, pairs], where weights are dropped
  std::vector<Eigen::Index> first_pairs_;      // of every row
  double kept_ = 1, keeping_ = 0;
};

/// The gradients of a pass: what a sum of products with weights comes to, element by element.
struct WeightedSums {
  Matrix<double> v;          // the sum
  Matrix<double> passed_on;  // what its factors' errors come to
  Matrix<double> magnitude;  // the sum of the largest its products may be
  Matrix<double> addends;    // how many, [rows, heads]
  /// For the gradient of a matrix of so many heads.
  WeightedSums(const BoundedMatrix& of, Eigen::Index heads)
      : v(Matrix<double>::Zero(of.rows(), of.cols())),
        passed_on(v),
        magnitude(v),
        addends(Matrix<double>::Zero(of.rows(), heads)) {}
};

/// The sums as they are stored: multiplied by the scale where `scaled` says so, rounded n times for n products, and
/// once to the storage format. Beyond the finite: {NaN, 0} where everything that was read is known, else undecided.
BoundedMatrix stored_sums(const AttentionHead& head, const Declared& declared, const WeightedSums& sums, bool scaled,
                          bool known);

}  // namespace tally::oracle
