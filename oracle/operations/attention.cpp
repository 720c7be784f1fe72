// Attention as one operation, and its gradients:
//   s = scale q k^T + mask, P = softmax(s), o = P v, lse = log sum e^s
//   P = e^(s - lse), D = sum g o, dS = P (g v^T - D), dq = scale dS k, dk = scale dS^T q, dv = P^T g
// the gradients from the recorded o and lse. A kernel may take keys in blocks, each of which scales what stands before
// it.
#include <algorithm>
#include <cmath>

#include "oracle/operations/products.hpp"

namespace tally::oracle::operations::attention_rules {
namespace {

using Demands = std::vector<Demand>;
constexpr double library_ulps = 2;
constexpr double least_normal = 0x1p-126;

struct Attention {
  View q, k, v;  // [batch, heads, rows, features]
  std::optional<View> mask;
  bool causal;
  double scale, exp, stored;  // of the exponential: relative; what P may lose in a store
  std::int64_t batches, heads, groups, queries, keys, features, features_v;

  Attention(const Call& call, const Profile& profile)
      : q(call.tensor("query")), k(call.tensor("key")), v(call.tensor("value")), causal(call.flag("is_causal")) {
    if (call.number("dropout_p", 0) != 0) throw NotJudged("attention with a dropout inside");
    if (call.has("attn_mask")) mask = call.tensor("attn_mask");
    if (q.dim() != 4) throw NotJudged("attention of other than four dimensions");
    batches = q.size(0), heads = q.size(1), groups = k.size(1), queries = q.size(2), keys = k.size(2),
    features = q.size(3), features_v = v.size(3);
    const Sizes rows{batches, groups, keys};
    if (k.dim() != 4 || v.dim() != 4 || k.size(3) != features || Sizes(k.sizes.begin(), k.sizes.end() - 1) != rows ||
        Sizes(v.sizes.begin(), v.sizes.end() - 1) != rows)
      throw NotJudged("attention over tensors that do not fit");
    if (groups == 0 || heads % groups != 0) throw NotJudged("heads that do not share their keys evenly");
    scale = call.has("scale") ? call.number("scale") : 1 / std::sqrt(static_cast<double>(features));
    if (mask) mask = mask->expanded({batches, heads, queries, keys});
    const double u = fp32().u();
    exp = std::max(2 * profile.number("exp", Element::float32, "ulps", library_ulps) * u,
                   profile.number(call.name, q.element, "exp_relative", 0));
    stored = is_half(q.element) ? arithmetic_of(q.element).u() : 0;
    format_of(q.element);
  }

  std::vector<double> matrix(const View& of, std::int64_t batch, std::int64_t head) const {
    return of.selected(0, batch).selected(0, of.size(1) == heads ? head : head * groups / heads).read();
  }

  struct Scores {
    std::vector<double> s, e;  // -infinity where a key is hidden
  };
  /// Of one row of queries.
  Scores scores(const std::vector<double>& qs, const std::vector<double>& ks, std::int64_t batch, std::int64_t head,
                std::int64_t row) const {
    Scores all{std::vector<double>(static_cast<std::size_t>(keys)),
               std::vector<double>(static_cast<std::size_t>(keys))};
    std::vector<double> masked(static_cast<std::size_t>(keys), 0.0);
    if (mask) mask->selected(0, batch).selected(0, head).read(row * keys, keys, masked.data());
    const bool hides = mask && mask->element == Element::boolean;
    const double u = fp32().u(), cost = gam(static_cast<double>(features) + 3, u);
    for (std::int64_t j = 0; j < keys; ++j) {
      const auto at = static_cast<std::size_t>(j);
      double sum = 0, size = 0;
      for (std::int64_t f = 0; f < features; ++f) {
        const double x =
            qs[static_cast<std::size_t>(row * features + f)] * ks[static_cast<std::size_t>(j * features + f)];
        sum += x;
        size += std::fabs(x);
      }
      all.s[at] = scale * sum + (hides ? 0 : masked[at]);
      all.e[at] = cost * std::fabs(scale) * size + u * std::fabs(all.s[at]);
      if ((causal && j > row) || (hides && masked[at] == 0) || masked[at] == -infinite)
        all.s[at] = -infinite, all.e[at] = 0;
    }
    return all;
  }
};

struct Row {
  std::vector<double> p, d;  // weights; how far their logarithms may be off
  double largest = -infinite, sum = 0, relative = 0;
};

/// Whether e^t is below the normal range however far t is off: what it may be there is counted apart.
bool vanishes(double t, double off) { return t + off < std::log(least_normal); }

Row weights_of(const Attention& of, const Attention::Scores& scores) {
  Row row;
  const double u = fp32().u();
  const auto n = static_cast<double>(scores.s.size());
  for (const double s : scores.s) row.largest = std::isnan(s) ? NAN : std::max(row.largest, s);
  row.p.resize(scores.s.size());
  row.d.resize(scores.s.size());
  if (!std::isfinite(row.largest)) return row;
  for (std::size_t j = 0; j < row.p.size(); ++j) row.sum += row.p[j] = std::exp(scores.s[j] - row.largest);
  // What is subtracted from all scores of a row cancels, whatever it is off. Each block may scale what stands before it:
  // blocks of 32 keys at least, one exponential and one product each, whose argument is a difference of two maxima. From a
  // score over the maximum of its block to that of the row, the arguments of its exponentials add up to t, within the
  // errors of the score and of what may be the largest.
  const double blocks = std::ceil(n / 32);
  double lead = -infinite, shift = 0;
  for (std::size_t j = 0; j < row.p.size(); ++j) lead = std::max(lead, scores.s[j] - scores.e[j]);
  for (std::size_t j = 0; j < row.p.size(); ++j)
    if (scores.s[j] + scores.e[j] >= lead) shift = std::max(shift, scores.e[j]);
  for (std::size_t j = 0; j < row.p.size(); ++j) {
    row.p[j] /= row.sum;
    const double t = scores.s[j] - row.largest;
    row.d[j] = std::isfinite(t)
                   ? scores.e[j] + u * (std::fabs(t) + scores.e[j] + shift) + of.exp + blocks * (of.exp + 2 * u)
                   : 0;
    if (vanishes(t, row.d[j])) row.p[j] = row.d[j] = 0;
    row.relative += row.p[j] * std::expm1(row.d[j]);
  }
  row.relative += gam(n + 3 + blocks, u) * (1 + row.relative) + n * least_normal / row.sum;
  return row;
}

template <class F>
Demand by_heads(const std::string& name, const View& out, std::int64_t heads, F f) {
  const std::int64_t size = out.count() / std::max<std::int64_t>(out.size(0) * out.size(1), 1);
  (void)heads;
  return {name,
          out,
          Demand::bound,
          std::max<std::int64_t>(size, 1),
          [=](Part& part) {
            for (std::int64_t at = 0; at < part.count; at += size) {
              const std::int64_t index = (part.first + at) / size;
              f(index / out.size(1), index % out.size(1), part.v + at, part.e + at);
              for (std::int64_t i = at; i < at + size; ++i) {
                const Bounded y = arithmetic_of(out.element).store({part.v[i], part.e[i]});
                part.v[i] = y.v;
                part.e[i] = y.e;
              }
            }
          },
          {}};
}

Demands forward(const Call& call, const Profile& profile) {
  const Attention of(call, profile);
  const View out = call.result(0);
  expect_sizes(out.sizes == Sizes{of.batches, of.heads, of.queries, of.features_v});
  const bool dead_is_zero = true;
  Demands all{by_heads("output", out, of.heads, [=](std::int64_t batch, std::int64_t head, double* v, double* e) {
    const std::vector<double> qs = of.matrix(of.q, batch, head), ks = of.matrix(of.k, batch, head),
                              vs = of.matrix(of.v, batch, head);
    const double u = fp32().u();
    for (std::int64_t i = 0; i < of.queries; ++i) {
      const Attention::Scores scores = of.scores(qs, ks, batch, head, i);
      const Row row = weights_of(of, scores);
      const double n = static_cast<double>(of.keys), cost = gam(n + 3 + std::ceil(n / 32), u);
      for (std::int64_t f = 0; f < of.features_v; ++f, ++v, ++e) {
        if (!std::isfinite(row.largest)) {
          *v = dead_is_zero && row.largest == -infinite ? 0 : NAN;
          *e = row.largest == -infinite ? infinite : 0;
          continue;
        }
        double sum = 0, off = 0, size = 0, lost = 0;
        for (std::int64_t j = 0; j < of.keys; ++j) {
          const auto at = static_cast<std::size_t>(j);
          const double value = vs[static_cast<std::size_t>(j * of.features_v + f)], x = row.p[at] * value;
          if (!std::isinf(scores.s[at])) lost += 2 * least_normal * (1 + std::fabs(value));
          if (row.p[at] == 0) continue;
          sum += x;
          size += std::fabs(x);
          const double relative =
              row.relative < 1 ? std::exp(row.d[at]) * (1 + of.stored) / (1 - row.relative) * (1 + u) - 1 : infinite;
          off += std::fabs(x) * relative + (of.stored > 0
                                                ? arithmetic_of(of.q.element).underflow() *
                                                      std::fabs(vs[static_cast<std::size_t>(j * of.features_v + f)])
                                                : 0);
        }
        *v = sum;
        *e = (off + cost * (size + off) + lost) * inflation;
      }
    }
  })};
  if (call.has_result(1)) {
    expect_sizes(call.result(1).sizes == Sizes{of.batches, of.heads, of.queries});
    all.push_back(by_heads(
        "logsumexp", call.result(1), of.heads, [=](std::int64_t batch, std::int64_t head, double* v, double* e) {
          const std::vector<double> qs = of.matrix(of.q, batch, head), ks = of.matrix(of.k, batch, head);
          const double u = fp32().u();
          for (std::int64_t i = 0; i < of.queries; ++i) {
            const Attention::Scores scores = of.scores(qs, ks, batch, head, i);
            const Row row = weights_of(of, scores);
            const double log = std::log(row.sum), own = 2 * library_ulps * u * std::fabs(log);
            v[i] = row.largest + log;
            e[i] = !std::isfinite(row.largest) ? infinite
                   : row.relative < 1          ? (std::max(std::log1p(row.relative), -std::log1p(-row.relative)) + own +
                                         2 * u * (std::fabs(row.largest) + std::fabs(log))) *
                                            inflation
                                      : infinite;
          }
        }));
  }
  return all;
}
const RegisterOperations forwards{{"_scaled_dot_product_flash_attention_for_cpu"}, forward};

/// One head's weights and their gradients from the recorded bits, each within its error.
struct HeadGradients {
  std::vector<double> p, p_off, ds, ds_off;  // [queries, keys]
};

HeadGradients gradients_of(const Attention& of, std::int64_t batch, std::int64_t head, const View& g, const View& o,
                           const View& lse) {
  const std::vector<double> qs = of.matrix(of.q, batch, head), ks = of.matrix(of.k, batch, head),
                            vs = of.matrix(of.v, batch, head);
  const std::vector<double> gs = of.matrix(g, batch, head), os = of.matrix(o, batch, head);
  std::vector<double> logs(static_cast<std::size_t>(of.queries));
  // lse is [batch, heads, rows].
  lse.selected(0, batch).selected(0, head).read(0, of.queries, logs.data());
  const auto size = static_cast<std::size_t>(of.queries * of.keys);
  HeadGradients all{std::vector<double>(size), std::vector<double>(size), std::vector<double>(size),
                    std::vector<double>(size)};
  const double u = fp32().u(), underflow = of.stored > 0 ? arithmetic_of(of.q.element).underflow() : least_normal;
  const double cost = gam(static_cast<double>(of.features_v) + 1, u);
  for (std::int64_t i = 0; i < of.queries; ++i) {
    const Attention::Scores scores = of.scores(qs, ks, batch, head, i);
    double delta = 0, delta_size = 0;
    for (std::int64_t f = 0; f < of.features_v; ++f) {
      const double x =
          gs[static_cast<std::size_t>(i * of.features_v + f)] * os[static_cast<std::size_t>(i * of.features_v + f)];
      delta += x;
      delta_size += std::fabs(x);
    }
    for (std::int64_t j = 0; j < of.keys; ++j) {
      const auto at = static_cast<std::size_t>(i * of.keys + j);
      const double s = scores.s[static_cast<std::size_t>(j)];
      if (s == -infinite) continue;
      const double t = s - logs[static_cast<std::size_t>(i)];
      const double d = scores.e[static_cast<std::size_t>(j)] * (1 + u) + u * std::fabs(t) + of.exp;
      const bool gone = vanishes(t, d);
      const double p = gone ? 0 : std::exp(t);
      all.p[at] = p;
      all.p_off[at] = (gone ? 0 : p * std::expm1(d)) + least_normal;
      double dp = 0, dp_size = 0;
      for (std::int64_t f = 0; f < of.features_v; ++f) {
        const double x =
            gs[static_cast<std::size_t>(i * of.features_v + f)] * vs[static_cast<std::size_t>(j * of.features_v + f)];
        dp += x;
        dp_size += std::fabs(x);
      }
      const double inner = dp - delta, inner_off = cost * (dp_size + delta_size) + u * std::fabs(inner);
      all.ds[at] = p * inner;
      all.ds_off[at] =
          (p + all.p_off[at]) * inner_off + all.p_off[at] * std::fabs(inner) + u * std::fabs(p * inner) + least_normal;
      all.ds_off[at] += of.stored * (std::fabs(all.ds[at]) + all.ds_off[at]) + (of.stored > 0 ? underflow : 0);
      all.p_off[at] += of.stored * (p + all.p_off[at]) + (of.stored > 0 ? underflow : 0);
    }
  }
  return all;
}

Demands backward(const Call& call, const Profile& profile) {
  const Attention of(call, profile);
  const View g = call.tensor("grad_out"), o = call.tensor("out");
  View lse = call.tensor("logsumexp");
  if (lse.dim() == 3 && lse.size(1) == of.queries && lse.size(2) == of.heads && of.queries != of.heads)
    lse = lse.permuted({0, 2, 1});
  if (lse.count() != of.batches * of.heads * of.queries) throw NotJudged("a logarithm of sums of another size");
  const Sizes of_out{of.batches, of.heads, of.queries, of.features_v};
  if (g.sizes != of_out || o.sizes != of_out) throw NotJudged("gradients of another size");
  expect_sizes(call.result(0).sizes == of.q.sizes);
  // Gradients of 16 bits may be added block by block in that format.
  const bool in_storage = of.stored > 0 && profile.says(call.name, of.q.element, "adds_in_storage");
  const auto gradients = [=](std::int64_t batch, std::int64_t head) {
    return gradients_of(of, batch, head, g, o, lse);
  };
  /// sum over `n` terms of a product of a weight within its error with an exact number.
  const auto fold = [=](std::int64_t n, double scale, auto weight, auto off, auto other) {
    double sum = 0, size = 0, moved = 0;
    for (std::int64_t j = 0; j < n; ++j) {
      const double x = other(j);
      sum += weight(j) * x;
      size += std::fabs(weight(j) * x);
      moved += off(j) * std::fabs(x);
    }
    const double u = fp32().u(), cost = gam(static_cast<double>(n) + 2, u);
    double e = std::fabs(scale) * (moved + cost * (size + moved)) + static_cast<double>(n) * least_normal;
    if (in_storage) {
      const Arithmetic& storage = arithmetic_of(of.q.element);
      const double blocks = std::ceil(static_cast<double>(n) / 32);
      e += gam(blocks, storage.u()) * (std::fabs(scale) * (size + moved) + e) + blocks * storage.underflow();
    }
    return Bounded{scale * sum, e * inflation};
  };
  Demands all;
  all.push_back(by_heads(
      "grad_query", call.result(0), of.heads, [=](std::int64_t batch, std::int64_t head, double* v, double* e) {
        const HeadGradients h = gradients(batch, head);
        const std::vector<double> ks = of.matrix(of.k, batch, head);
        for (std::int64_t i = 0; i < of.queries; ++i)
          for (std::int64_t f = 0; f < of.features; ++f, ++v, ++e) {
            const Bounded y = fold(
                of.keys, of.scale, [&](std::int64_t j) { return h.ds[static_cast<std::size_t>(i * of.keys + j)]; },
                [&](std::int64_t j) { return h.ds_off[static_cast<std::size_t>(i * of.keys + j)]; },
                [&](std::int64_t j) { return ks[static_cast<std::size_t>(j * of.features + f)]; });
            *v = y.v;
            *e = y.e;
          }
      }));
  const auto of_keys = [=](const std::string& name, const View& out, bool of_values) {
    const std::int64_t width = of_values ? of.features_v : of.features;
    expect_sizes(out.dim() == 4 && out.size(1) > 0 && of.heads % out.size(1) == 0 &&
                 out.sizes == Sizes{of.batches, out.size(1), of.keys, width});
    return by_heads(name, out, of.groups, [=](std::int64_t batch, std::int64_t group, double* v, double* e) {
      const std::int64_t shares = of.heads / out.size(1);
      std::vector<HeadGradients> heads;
      std::vector<std::vector<double>> others;
      for (std::int64_t head = group * shares; head < (group + 1) * shares; ++head) {
        heads.push_back(gradients(batch, head));
        others.push_back(of.matrix(of_values ? g : of.q, batch, head));
      }
      for (std::int64_t j = 0; j < of.keys; ++j)
        for (std::int64_t f = 0; f < width; ++f, ++v, ++e) {
          Bounded total{0, 0};
          for (std::size_t h = 0; h < heads.size(); ++h) {
            const HeadGradients& own = heads[h];
            const Bounded y = fold(
                of.queries, of_values ? 1 : of.scale,
                [&](std::int64_t i) { return (of_values ? own.p : own.ds)[static_cast<std::size_t>(i * of.keys + j)]; },
                [&](std::int64_t i) {
                  return (of_values ? own.p_off : own.ds_off)[static_cast<std::size_t>(i * of.keys + j)];
                },
                [&](std::int64_t i) { return others[h][static_cast<std::size_t>(i * width + f)]; });
            total = h == 0 ? y : (in_storage ? arithmetic_of(of.q.element) : fp32()).add(total, y);
          }
          *v = total.v;
          *e = total.e;
        }
    });
  };
  all.push_back(of_keys("grad_key", call.result(1), false));
  all.push_back(of_keys("grad_value", call.result(2), true));
  return all;
}
const RegisterOperations backwards{{"_scaled_dot_product_flash_attention_for_cpu_backward"}, backward};

}  // namespace
}  // namespace tally::oracle::operations::attention_rules
