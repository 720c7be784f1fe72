// Of head h of H, which reads head g = floor(h G / H) of the G of k and v; d features a head; s the scale, 1 / sqrt(d)
// unless it is given; A(i) the rows that row i sees (attention_rows.hpp), i among them; m_ij the mask of the head, 1 where
// a weight is kept and 0 where it is dropped, f = 1 / (1 - p), without a mask both 1.
// (attention.1)  t_ij = s q_i . k_j
// (attention.2)  L_i = log(sum_{j in A(i)} e^t_ij),  P_ij = e^(t_ij - L_i) on A(i), else 0
// (attention.3)  y_i = sum_j P_ij m_ij f v_j
// (attention.4)  D_i = dy_i . y_i
// (attention.5)  dv_j = sum over the heads of g and over i of P_ij m_ij f dy_i
// (attention.6)  dS_ij = P_ij (m_ij f dy_i . v_j - D_i)
//                  exactly 0 where A(i) is i alone
// (attention.7)  dq_i = s sum_j dS_ij k_j,  dk_j = s sum over the heads of g and over i of dS_ij q_i
// Where the pass has "lse" and "delta", backward takes L and D from there: so a lens holds it to what it read.
#include <type_traits>

#include "oracle/layers/attention_rows.hpp"
#include "oracle/layers/register_exact.hpp"
#include "oracle/real/number.hpp"
#include "oracle/real/threads_of_rules.hpp"

namespace tally::oracle::attention_exact {
namespace {

template <class T>
T scale_of(const Choice& attention, Eigen::Index size) {
  if (attention.number("scale").to_double() != 0) return number<T>(attention.number("scale"));
  return T(1) / sqrt(T(static_cast<double>(size)));
}

/// One head over some rows.
template <class T>
struct Heads {
  const Pass<T>& pass;
  const Matrix<T>&q, &k, &v;
  HeadSizes sizes;
  T scale;
  std::vector<RowRange> sequences;
  const Matrix<T>* mask = nullptr;        // [heads, pairs]
  std::vector<Eigen::Index> first_pairs;  // of every row
  T kept = 1;

  Heads(const Pass<T>& the_pass, const Matrix<T>& x)
      : pass(the_pass),
        q(x),
        k(*the_pass.others.at(0)),
        v(*the_pass.others.at(1)),
        sizes(the_pass.layer, x.cols(), k.cols(), v.cols()),
        scale(scale_of<T>(the_pass.layer, sizes.size)),
        sequences(sequences_by(the_pass.tensors.at("places"))) {
    if (!drops_weights(the_pass.layer)) return;
    mask = &the_pass.tensors.at("mask");
    first_pairs = first_pairs_of(sequences);
    kept = T(1) / (1 - number<T>(the_pass.layer.number("p")));
  }

  /// m_ij f.
  T factor(Eigen::Index i, Eigen::Index h, Eigen::Index j) const {
    if (mask == nullptr) return T(1);
    return (*mask)(h, first_pairs[static_cast<std::size_t>(i)] + j) * kept;
  }

  T dot(const Matrix<T>& a, Eigen::Index i, Eigen::Index head_a, const Matrix<T>& b, Eigen::Index j,
        Eigen::Index head_b) const {
    T sum = 0;
    for (Eigen::Index c = 0; c < sizes.size; ++c) sum += a(i, head_a * sizes.size + c) * b(j, head_b * sizes.size + c);
    return sum;
  }
  T score(Eigen::Index i, Eigen::Index h, Eigen::Index j) const {
    return scale * dot(q, i, h, k, j, sizes.group_of(h));
  }

  /// `of(i, h, seen)` for every row and head; in long double by several threads, as each_row of the bounds.
  template <class Of>
  void each(Of of) const {
    const auto of_group = [&](Eigen::Index group) {
      for (const RowRange& sequence : sequences)
        for (Eigen::Index i = sequence.first; i < sequence.last; ++i)
          for (Eigen::Index h = sizes.first_of(group); h < sizes.first_of(group + 1); ++h)
            of(i, h, seen_by(pass.layer, sequence, i));
    };
    if constexpr (std::is_same_v<T, long double>)
      over_groups(sizes.groups, of_group);
    else
      for (Eigen::Index group = 0; group < sizes.groups; ++group) of_group(group);
  }

  /// The weights of a row, less the largest's logarithm, and L.
  struct Row {
    Matrix<T> weights;
    T lse;
  };
  Row row(Eigen::Index i, Eigen::Index h, RowRange seen) const {
    Matrix<T> t(1, seen.size());
    Eigen::Index largest = 0;
    for (Eigen::Index j = 0; j < seen.size(); ++j) {
      t(j) = score(i, h, seen.first + j);
      if (surely_greater(t(j), t(largest))) largest = j;
    }
    Row result{Matrix<T>(1, seen.size()), T(0)};
    T rest = 0;
    for (Eigen::Index j = 0; j < seen.size(); ++j) {
      result.weights(j) = exp(T(t(j) - t(largest)));
      if (j != largest) rest += result.weights(j);
    }
    const T total = result.weights(largest) + rest;
    result.lse = t(largest) + log1p(T(rest + (result.weights(largest) - 1)));
    for (Eigen::Index j = 0; j < seen.size(); ++j) result.weights(j) = result.weights(j) / total;
    return result;
  }
};

template <class T>
ForwardResult<T> forward(const Pass<T>& pass, const Matrix<T>& x) {
  const Heads<T> heads(pass, x);
  ForwardResult<T> result{Matrix<T>::Zero(x.rows(), x.cols()), {}, {}, Matrix<T>(x.rows(), heads.sizes.heads)};
  heads.each([&](Eigen::Index i, Eigen::Index h, RowRange seen) {
    const auto row = heads.row(i, h, seen);
    const Eigen::Index size = heads.sizes.size, g = heads.sizes.group_of(h);
    result.lse(i, h) = row.lse;
    for (Eigen::Index j = 0; j < seen.size(); ++j) {
      const T weight = row.weights(j) * heads.factor(i, h, seen.first + j);
      for (Eigen::Index c = 0; c < size; ++c)
        result.y(i, h * size + c) += weight * heads.v(seen.first + j, g * size + c);
    }
  });
  return result;
}

/// D of every row and head, (attention.4): by the output that the pass was given, else by the output itself.
template <class T>
Matrix<T> delta(const Pass<T>& pass, const Matrix<T>& x, const Matrix<T>& dy, const HeadSizes& sizes) {
  const auto given = pass.tensors.find("y");
  const Matrix<T> y = given == pass.tensors.end() ? forward(pass, x).y : given->second;
  Matrix<T> sums = Matrix<T>::Zero(x.rows(), sizes.heads);
  for (Eigen::Index i = 0; i < x.rows(); ++i)
    for (Eigen::Index c = 0; c < x.cols(); ++c) sums(i, c / sizes.size) += dy(i, c) * y(i, c);
  return sums;
}

template <class T>
BackwardResult<T> backward(const Pass<T>& pass, const Matrix<T>& x, const Matrix<T>& dy) {
  const Heads<T> heads(pass, x);
  const Eigen::Index size = heads.sizes.size;
  BackwardResult<T> result{Matrix<T>::Zero(x.rows(), x.cols()), {}};
  result.more_dx.assign(2, Matrix<T>::Zero(heads.k.rows(), heads.k.cols()));
  Matrix<T>&dk = result.more_dx[0], &dv = result.more_dx[1];
  result.delta = delta(pass, x, dy, heads.sizes);
  const auto lse = pass.tensors.find("lse"), given = pass.tensors.find("delta");
  const Matrix<T>& d = given == pass.tensors.end() ? result.delta : given->second;
  heads.each([&](Eigen::Index i, Eigen::Index h, RowRange seen) {
    const Eigen::Index g = heads.sizes.group_of(h), at = h * size, from = g * size;
    const auto row = lse == pass.tensors.end() ? heads.row(i, h, seen) : typename Heads<T>::Row{};
    for (Eigen::Index j = seen.first; j < seen.last; ++j) {
      const T p =
          lse == pass.tensors.end() ? row.weights(j - seen.first) : exp(T(heads.score(i, h, j) - lse->second(i, h)));
      const T factor = heads.factor(i, h, j), weight = p * factor;
      const bool alone = seen.size() == 1 && lse == pass.tensors.end() && given == pass.tensors.end();
      const T ds = alone ? T(0) : T(p * (factor * heads.dot(dy, i, h, heads.v, j, g) - d(i, h)));
      for (Eigen::Index c = 0; c < size; ++c) {
        dv(j, from + c) += weight * dy(i, at + c);
        result.dx(i, at + c) += ds * heads.k(j, from + c) * heads.scale;
        dk(j, from + c) += ds * heads.q(i, at + c) * heads.scale;
      }
    }
  });
  return result;
}

const RegisterExactLayer registered("attention", []<class T>(Scalar<T>) -> ExactLayer<T> {
  return {forward<T>, backward<T>};
});

}  // namespace
}  // namespace tally::oracle::attention_exact
