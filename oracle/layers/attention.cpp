// Head h of H reads head g = floor(h G / H) of the G of k and v; d features a head; s the scale, 1 / sqrt(d)
// unless it is given; A(i) the rows that row i sees (attention_head.hpp), i among them; m_ij the mask of the head, 1
// where a weight is kept and 0 where it is dropped, f = 1 / (1 - p), without a mask both 1.
// (attention.1)  t_ij = s q_i . k_j
// (attention.2)  L_i = log(sum_{j in A(i)} e^t_ij),  P_ij = e^(t_ij - L_i) on A(i), else 0
// (attention.3)  y_i = sum_j P_ij m_ij f v_j
// (attention.4)  D_i = dy_i . y_i
// (attention.5)  dv_j = sum over the heads of g and over i of P_ij m_ij f dy_i
// (attention.6)  dS_ij = P_ij (m_ij f dy_i . v_j - D_i)
//                  exactly 0 where A(i) is i alone
// (attention.7)  dq_i = s sum_j dS_ij k_j,  dk_j = s sum over the heads of g and over i of dS_ij q_i
// Where the pass has "lse" and "delta", backward takes L and D from there: so a lens holds it to what it read.
// attention: (attention.1) to (attention.3) row by row, (attention.4) as a sum of products, (attention.5) to
// (attention.7) as sums weighted by P and dS (oracle/tolerance/attention_head.hpp). Backward is held to the lse, the
// output and the delta that it read, where the pass has them, else to what forward may have left.
#include <algorithm>
#include <cmath>
#include <type_traits>

#include "oracle/case/contract.hpp"
#include "oracle/case/kinds.hpp"
#include "oracle/case/rows.hpp"
#include "oracle/case/sizes.hpp"
#include "oracle/layers/heads.hpp"
#include "oracle/real/number.hpp"
#include "oracle/register_kind.hpp"
#include "oracle/tolerance/attention_head.hpp"
#include "oracle/tolerance/declared.hpp"
#include "oracle/tolerance/rule.hpp"

namespace tally {
namespace {

std::vector<Misfit> sizes(const Choice& layer, const std::vector<std::int64_t>& features) {
  if (features.size() != 3) return {};  // the list of inputs says so itself
  const std::int64_t heads = layer.integer("heads"), groups = key_heads_of(layer);
  if (heads % groups != 0)
    return {{"kv_heads", std::to_string(groups), "a divisor of " + std::to_string(heads) + ", the heads"}};
  if (features[0] % heads != 0)
    return {{"inputs[0]", std::to_string(features[0]) + " features",
             "a multiple of " + std::to_string(heads) + ", the heads"}};
  const std::int64_t wanted = features[0] / heads * groups;
  std::vector<Misfit> found;
  for (const std::size_t j : {std::size_t{1}, std::size_t{2}})
    if (features[j] != wanted)
      found.push_back({"inputs[" + std::to_string(j) + "]", std::to_string(features[j]) + " features",
                       std::to_string(wanted) + ": " + std::to_string(groups) + " heads of " +
                           std::to_string(features[0] / heads)});
  return found;
}

const Contract attention_contract{
    .kind = "attention",
    .options =
        {{.name = "heads", .type = OptionType::integer, .standard = std::nullopt, .range = {.at_least = "1"}},
         {.name = "kv_heads", .type = OptionType::integer, .standard = std::int64_t{0}, .range = {.at_least = "0"}},
         {.name = "causal", .type = OptionType::boolean, .standard = true},
         {.name = "window",
          .type = OptionType::integer,
          .standard = std::int64_t{0},
          .range = {.at_least = "0", .at_most = "1099511627776"}},
         {.name = "scale", .type = OptionType::number, .standard = Decimal{"0"}, .range = {.at_least = "0"}},
         {.name = "p",
          .type = OptionType::number,
          .standard = Decimal{"0"},
          .range = {.at_least = "0", .below = "1"},
          .since = 2}},
    .tensors = {{.name = "mask",
                 .role = Role::mask,
                 .shape = [](const Choice& layer, std::int64_t) -> std::vector<std::int64_t> {
                   return {layer.integer("heads"), pairs_in_place};
                 },
                 .present = [](const Choice& layer) { return drops_weights(layer); }}},
    .drawn = false,
    .least_inputs = 3,
    .most_inputs = 3,
    .input_words = {"q", "k", "v"},
    .input_misfits = sizes,
    .reads_sequences = true,
    .row_statistics = {{.name = "lse", .per = "heads"}},
    .backward_statistics = {{.name = "delta", .per = "heads"}},
    .kept_for_backward = {"y", "lse"},
    .definition =
        "y = softmax(scale q kᵀ) v, head by head, over the rows of a row's sequence that it sees; "
        "the weights times mask / (1 - p), which belongs to sequence, head, query and key"};

template <class Add>
std::vector<std::int64_t> of_attentions(const Case& c, Add add) {
  std::vector<std::int64_t> found;
  for (std::size_t i = 0; i < c.model.layers.size(); ++i)
    if (c.model.layers[i].kind == kinds::attention) add(found, i);
  return found;
}

std::vector<std::int64_t> keys_of_sequences(const Case& c) {
  return of_attentions(c, [&](auto& found, std::size_t) { found = c.sequences; });
}
/// The windows that some sequence is longer than: others hide nothing.
std::vector<std::int64_t> keys_of_windows(const Case& c) {
  return of_attentions(c, [&](auto& found, std::size_t i) {
    const std::int64_t window = c.model.layers[i].integer("window");
    const bool hides = std::ranges::any_of(c.sequences, [&](std::int64_t length) { return length > window; });
    if (window > 0 && hides) found.push_back(window);
  });
}
std::vector<std::int64_t> readers_of_a_head(const Case& c) {
  return of_attentions(c, [&](auto& found, std::size_t i) {
    found.push_back(c.model.layers[i].integer("heads") / key_heads_of(c.model.layers[i]));
  });
}
std::vector<std::int64_t> key_heads(const Case& c) {
  return of_attentions(c, [&](auto& found, std::size_t i) { found.push_back(key_heads_of(c.model.layers[i])); });
}
std::vector<std::int64_t> features_of_heads(const Case& c) {
  return of_attentions(c, [&](auto& found, std::size_t i) {
    found.push_back(features_before(c.model, i) / c.model.layers[i].integer("heads"));
  });
}

const Register<DeclaredSize> registered_keys{{.name = "keys of a sequence", .least = 1, .in = keys_of_sequences}};
const Register<DeclaredSize> registered_windows{
    {.name = "keys of a sliding window", .least = 1, .in = keys_of_windows}};
const Register<DeclaredSize> registered_readers{
    {.name = "query heads that read one head of k and v", .least = 1, .in = readers_of_a_head}};
const Register<DeclaredSize> registered_key_heads{{.name = "heads of k and v", .least = 1, .in = key_heads}};
const Register<DeclaredSize> registered_features{{.name = "features of a head", .least = 1, .in = features_of_heads}};

}  // namespace

std::int64_t key_heads_of(const Choice& attention) {
  const std::int64_t groups = attention.integer("kv_heads");
  return groups == 0 ? attention.integer("heads") : groups;
}

bool drops_weights(const Choice& attention) { return attention.number("p").to_double() != 0; }

}  // namespace tally

namespace tally::oracle::attention_kind {
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

struct Inputs {
  BoundedMatrix q, k, v;
  bool known;  // none of them is undecided
  Inputs(const BoundPass& pass, const Expected& x)
      : q(pass.declared, x),
        k(pass.declared, *pass.others.at(0)),
        v(pass.declared, *pass.others.at(1)),
        known(decided_all(q) && decided_all(k) && decided_all(v)) {}
  static bool decided_all(const BoundedMatrix& m) { return m.e.size() == 0 || m.e.maxCoeff() < infinite; }
};

/// of(i, h, seen) for every row and head; heads that share one of k and v go in one thread, row by row.
template <class Of>
void each_row(const BoundPass& pass, const AttentionHead& head, Of of) {
  over_groups(head.sizes().groups, [&](Eigen::Index group) {
    for (const RowRange& sequence : head.sequences())
      for (Eigen::Index i = sequence.first; i < sequence.last; ++i)
        for (Eigen::Index h = head.sizes().first_of(group); h < head.sizes().first_of(group + 1); ++h)
          of(i, h, seen_by(pass.layer, sequence, i));
  });
}

/// An element that is not finite: for certain where all that was read is known.
Bounded settled(Bounded x, bool known) {
  if (!std::isfinite(x.v)) return {NAN, known && !(x.e == infinite) ? 0 : infinite};
  return std::isnan(x.e) ? Bounded{x.v, infinite} : x;
}

struct Bounds {
  BoundedMatrix y, lse;
};
Bounds forward_bounds(const BoundPass& pass, const Inputs& in, const Expected& x) {
  const AttentionHead head(pass, "attention.forward", in.q, in.k, in.v);
  const Arithmetic storage(pass.declared, pass.declared.storage);
  const Eigen::Index size = head.sizes().size;
  Bounds bounds{BoundedMatrix(x.v.rows(), x.v.cols()), BoundedMatrix(x.v.rows(), head.sizes().heads)};
  each_row(pass, head, [&](Eigen::Index i, Eigen::Index h, RowRange seen) {
    const AttentionHead::Row row = head.row(i, h, seen);
    bounds.lse.set(i, h, row.lse);
    for (Eigen::Index c = 0; c < size; ++c)
      bounds.y.set(i, h * size + c, storage.store(settled({row.y[c], row.e[c]}, in.known)));
  });
  return bounds;
}

ExpectedForward forward(const BoundPass& pass, const Expected& x) {
  const Inputs in(pass, x);
  Bounds bounds = forward_bounds(pass, in, x);
  const auto exact = exact_forward(pass, x);
  ExpectedForward result{joined(pass.declared, exact.y, std::move(bounds.y)), {}, {}, {}};
  result.lse = joined(pass.declared, exact.lse, std::move(bounds.lse));
  return result;
}

/// (attention.4) of every row and head.
BoundedMatrix delta_bounds(const BoundPass& pass, const HeadSizes& sizes, const BoundedMatrix& dy,
                           const BoundedMatrix& y) {
  const Arithmetic fp32 = single(pass.declared);
  const KernelClaim& claim = claim_of(pass.declared, "attention.delta");
  BoundedMatrix delta(dy.rows(), sizes.heads);
  for (Eigen::Index i = 0; i < dy.rows(); ++i) {
    for (Eigen::Index h = 0; h < sizes.heads; ++h) {
      Addends terms = addends_of(claim);
      for (Eigen::Index c = h * sizes.size; c < (h + 1) * sizes.size; ++c)
        terms.add(shared(fp32.mul(dy.at(i, c), y.at(i, c))));
      delta.set(i, h, shared(sum_of(fp32, claim, terms)));
    }
  }
  return delta;
}

/// The sums that backward leaves, and what one row adds to them.
class Gradients {
 public:
  Gradients(const AttentionHead& head, const Inputs& in, const BoundedMatrix& dy)
      : head_(head),
        in_(in),
        dy_(dy),
        dq(in.q, head.sizes().heads),
        dk(in.k, head.sizes().groups),
        dv(in.v, head.sizes().groups) {}

  void add(Eigen::Index i, Eigen::Index h, RowRange seen, Bounded lse, Bounded delta) {
    const auto scores = head_.scores(i, h, seen);
    const auto weights = head_.weights(scores, lse);
    const auto with_values = head_.products_with_values(dy_, i, h, seen);
    const double u = head_.u();
    const Eigen::ArrayXd kept = head_.kept(i, h, seen);
    Eigen::ArrayXd dp = kept * with_values.t;
    Eigen::ArrayXd e_dp = kept * with_values.tau;
    e_dp += head_.keeping() * (dp.abs() + e_dp) + (head_.drops() ? head_.underflow() : 0);
    // Stored again behind the mask, or D divided by f and what comes of both scaled at the end, where it may be so.
    if (head_.is_unknown() && head_.drops())
      for (Eigen::Index j = 0; j < dp.size(); ++j)
        e_dp[j] = head_
                      .stored({dp[j], e_dp[j] + 2 * head_.keeping() *
                                                    (std::fabs(dp[j]) + e_dp[j] + std::fabs(delta.v) + delta.e)})
                      .e;
    // What is dropped is chosen to be 0, or comes to 0 in a product: NaN where it was not finite.
    for (Eigen::Index j = 0; j < dp.size(); ++j)
      if (kept[j] == 0 && !std::isfinite(with_values.t[j])) dp[j] = 0, e_dp[j] = infinite;
    const Eigen::ArrayXd x = dp - delta.v;
    const Eigen::ArrayXd e_x = e_dp + delta.e + u * (x.abs() + e_dp + delta.e);
    Eigen::ArrayXd p = kept * weights.p, ds = weights.p * x;
    Eigen::ArrayXd e_ds = weights.excess * (x.abs() + e_x) + weights.p * e_x;
    e_ds += u * (ds.abs() + e_ds) + head_.underflow();
    // Scaled before it weighs, where it may be: one rounding more, of a number that the scale made smaller.
    if (const double scale = std::fabs(head_.scale().v); head_.is_unknown() && scale > 0)
      e_ds += u * (ds.abs() + e_ds) + head_.underflow() / scale;
    Eigen::ArrayXd e_p = kept * weights.excess;
    if (head_.drops()) e_p += head_.keeping() * (p + e_p) + head_.underflow();
    // A score far above the lse, which is a float: the weight, or what comes of it, may be out of fp32's range or not.
    for (Eigen::Index j = 0; j < p.size(); ++j) {
      const bool known = std::isfinite(scores.t[j]) && std::isfinite(lse.v);
      const bool in_range = std::fmax(1, kept[j]) * (weights.p[j] + weights.excess[j]) <
                            head_.threshold();  // else infinity times what may be nothing
      if (known && !in_range) p[j] = 0, e_p[j] = infinite;
      const bool kept_fits = std::fabs(dp[j]) + e_dp[j] < head_.threshold();  // dP as the mask scales it
      const bool fits =
          in_range && kept_fits && std::fabs(ds[j]) < head_.threshold() && std::fabs(x[j]) + e_x[j] < head_.threshold();
      if (known && std::isfinite(x[j]) && !fits) ds[j] = 0, e_ds[j] = infinite;
    }
    for (Eigen::Index j = 0; j < p.size() && head_.casts() > 0; ++j) {
      if (std::isfinite(p[j])) e_p[j] = head_.stored({p[j], e_p[j]}, head_.casts()).e;
      if (std::isfinite(ds[j])) e_ds[j] = head_.stored({ds[j], e_ds[j]}, head_.casts()).e;
    }
    for (Eigen::Index j = 0; j < p.size(); ++j)
      if (kept[j] == 0 && !std::isfinite(weights.p[j])) p[j] = 0, e_p[j] = infinite;
    if (scores.open) e_ds.setConstant(infinite), e_p.setConstant(infinite);
    const Eigen::Index g = head_.sizes().group_of(h);
    weigh(dq, i, h, ds, e_ds, in_.k, seen, g);
    scatter(dk, seen, g, ds, e_ds, in_.q, i, h);
    scatter(dv, seen, g, p, e_p, dy_, i, h);
  }

 private:
  /// To row i: the rows that it sees, each by its weight.
  void weigh(WeightedSums& sums, Eigen::Index i, Eigen::Index h, const Eigen::ArrayXd& w, const Eigen::ArrayXd& e_w,
             const BoundedMatrix& of, RowRange seen, Eigen::Index g) const {
    const Eigen::Index size = head_.sizes().size;
    const auto v = of.v.block(seen.first, g * size, seen.size(), size);
    const auto e = of.e.block(seen.first, g * size, seen.size(), size);
    const Matrix<double> largest = v.cwiseAbs() + e;
    sums.v.row(i).segment(h * size, size) += w.matrix().transpose() * v;
    sums.passed_on.row(i).segment(h * size, size) +=
        e_w.matrix().transpose() * largest + w.abs().matrix().transpose() * e;
    sums.magnitude.row(i).segment(h * size, size) += (w.abs() + e_w).matrix().transpose() * largest;
    sums.addends(i, h) = static_cast<double>(seen.size());
  }

  /// To every row that row i sees: row i, by the weight.
  void scatter(WeightedSums& sums, RowRange seen, Eigen::Index g, const Eigen::ArrayXd& w, const Eigen::ArrayXd& e_w,
               const BoundedMatrix& of, Eigen::Index i, Eigen::Index h) const {
    const Eigen::Index size = head_.sizes().size;
    const auto v = of.v.row(i).segment(h * size, size);
    const auto e = of.e.row(i).segment(h * size, size);
    const Matrix<double> largest = v.cwiseAbs() + e;
    sums.v.block(seen.first, g * size, seen.size(), size) += w.matrix() * v;
    sums.passed_on.block(seen.first, g * size, seen.size(), size) += e_w.matrix() * largest + w.abs().matrix() * e;
    sums.magnitude.block(seen.first, g * size, seen.size(), size) += (w.abs() + e_w).matrix() * largest;
    sums.addends.block(seen.first, g, seen.size(), 1).array() += 1;
  }

  const AttentionHead& head_;
  const Inputs& in_;
  const BoundedMatrix& dy_;

 public:
  WeightedSums dq, dk, dv;
};

ExpectedBackward backward(const BoundPass& pass, const Expected& x, const Expected& dy) {
  const Inputs in(pass, x);
  const BoundedMatrix gradient(pass.declared, dy);
  const auto given = [&](const char* name) {
    const auto found = pass.tensors.find(name);
    return found == pass.tensors.end() ? nullptr : &found->second;
  };
  const AttentionHead head(pass, "attention.backward", in.q, in.k, in.v);
  Bounds before;
  if (given("y") == nullptr || given("lse") == nullptr) before = forward_bounds(pass, in, x);
  const BoundedMatrix y = given("y") != nullptr ? BoundedMatrix(pass.declared, *given("y")) : std::move(before.y);
  const BoundedMatrix lse =
      given("lse") != nullptr ? BoundedMatrix(pass.declared, *given("lse")) : std::move(before.lse);
  BoundedMatrix deltas = delta_bounds(pass, head.sizes(), gradient, y);
  const BoundedMatrix delta = given("delta") != nullptr ? BoundedMatrix(pass.declared, *given("delta")) : deltas;
  Gradients sums(head, in, gradient);
  each_row(pass, head,
           [&](Eigen::Index i, Eigen::Index h, RowRange seen) { sums.add(i, h, seen, lse.at(i, h), delta.at(i, h)); });
  const bool known =
      in.known && Inputs::decided_all(gradient) && Inputs::decided_all(lse) && Inputs::decided_all(delta);
  const auto exact = exact_backward(pass, x, dy);
  const auto stored = [&](const WeightedSums& of, bool scaled) {
    return stored_sums(head, pass.declared, of, scaled, known);
  };
  ExpectedBackward result{joined(pass.declared, exact.dx, stored(sums.dq, true)), {}};
  const auto more = [&](std::size_t j) { return [&, j] { return exact.more_dx.at(j); }; };
  result.more_dx = {joined(pass.declared, more(0), stored(sums.dk, true)),
                    joined(pass.declared, more(1), stored(sums.dv, false))};
  result.delta = joined(pass.declared, exact.delta, std::move(deltas));
  return result;
}

const Register<LayerDefinition> registered{{attention_contract,
                                            []<class T>(Scalar<T>) -> ExactLayer<T> {
                                              return {forward<T>, backward<T>};
                                            },
                                            {{forward, backward}}}};

}  // namespace
}  // namespace tally::oracle::attention_kind
