// Attention as one operation, and its gradients:
//   s = scale q k^T + mask, P = softmax(s), o = P v, lse = log sum e^s
//   P = e^(s - lse), D = sum g o, dS = P (g v^T - D), dq = scale dS k, dk = scale dS^T q, dv = P^T g
// the gradients from the recorded o and lse. A kernel may take keys in blocks, each of which scales what stands before
// it.
#include <algorithm>
#include <cmath>
#include <map>
#include <memory>

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

  /// The features of the keys, or values, as rows: what products with them walk along.
  static std::vector<double> transposed(const std::vector<double>& of, std::int64_t rows, std::int64_t columns) {
    std::vector<double> turned(of.size());
    for (std::int64_t i = 0; i < rows; ++i)
      for (std::int64_t j = 0; j < columns; ++j)
        turned[static_cast<std::size_t>(j * rows + i)] = of[static_cast<std::size_t>(i * columns + j)];
    return turned;
  }

  struct Scores {
    std::vector<double> s, e;  // -infinity where a key is hidden
  };
  /// Of one row of queries; `turned`: the keys, transposed.
  Scores scores(const std::vector<double>& qs, const std::vector<double>& turned, std::int64_t batch, std::int64_t head,
                std::int64_t row) const {
    Scores all{std::vector<double>(static_cast<std::size_t>(keys)),
               std::vector<double>(static_cast<std::size_t>(keys))};
    for (std::int64_t f = 0; f < features; ++f)
      add_scaled(qs[static_cast<std::size_t>(row * features + f)], &turned[static_cast<std::size_t>(f * keys)], keys,
                 all.s.data(), all.e.data());
    std::vector<double> masked(static_cast<std::size_t>(keys), 0.0);
    if (mask) mask->selected(0, batch).selected(0, head).read(row * keys, keys, masked.data());
    const bool hides = mask && mask->element == Element::boolean;
    const double u = fp32().u(), cost = gam(static_cast<double>(features) + 3, u);
    for (std::int64_t j = 0; j < keys; ++j) {
      const auto at = static_cast<std::size_t>(j);
      all.s[at] = scale * all.s[at] + (hides ? 0 : masked[at]);
      all.e[at] = cost * std::fabs(scale) * all.e[at] + u * std::fabs(all.s[at]);
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
Demand by_heads(const std::string& name, const View& out, F f) {
  const std::int64_t size = out.count() / std::max<std::int64_t>(out.size(0) * out.size(1), 1);
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
  Demands all{by_heads("output", out, [=](std::int64_t batch, std::int64_t head, double* v, double* e) {
    const std::vector<double> qs = of.matrix(of.q, batch, head), vs = of.matrix(of.v, batch, head);
    const std::vector<double> turned = Attention::transposed(of.matrix(of.k, batch, head), of.keys, of.features);
    const double u = fp32().u(), n = static_cast<double>(of.keys), cost = gam(n + 3 + std::ceil(n / 32), u);
    const double lost = of.stored > 0 ? arithmetic_of(of.q.element).underflow() : 0;
    const auto width = static_cast<std::size_t>(of.features_v);
    std::vector<double> size(width), off(width);
    for (std::int64_t i = 0; i < of.queries; ++i, v += width, e += width) {
      const Attention::Scores scores = of.scores(qs, turned, batch, head, i);
      const Row row = weights_of(of, scores);
      if (!std::isfinite(row.largest)) {  // nothing is seen, or NaN
        std::fill_n(v, width, row.largest == -infinite ? 0 : NAN);
        std::fill_n(e, width, row.largest == -infinite ? infinite : 0);
        continue;
      }
      std::fill_n(v, width, 0.0);
      std::fill(size.begin(), size.end(), 0.0);
      std::fill(off.begin(), off.end(), 0.0);
      double vanished = 0;  // of keys that are seen, whatever they weigh
      for (std::int64_t j = 0; j < of.keys; ++j) {
        const auto at = static_cast<std::size_t>(j);
        if (!std::isinf(scores.s[at])) {
          vanished += 2 * least_normal;
          add_sizes(2 * least_normal, &vs[at * width], of.features_v, off.data());
        }
        if (row.p[at] == 0) continue;
        const double relative =
            row.relative < 1 ? std::exp(row.d[at]) * (1 + of.stored) / (1 - row.relative) * (1 + u) - 1 : infinite;
        add_scaled(row.p[at], &vs[at * width], of.features_v, v, size.data());
        add_sizes(row.p[at] * relative + lost, &vs[at * width], of.features_v, off.data());
      }
      for (std::size_t f = 0; f < width; ++f) e[f] = (off[f] + cost * (size[f] + off[f]) + vanished) * inflation;
    }
  })};
  if (!call.has_result(1)) return all;
  expect_sizes(call.result(1).sizes == Sizes{of.batches, of.heads, of.queries});
  all.push_back(by_heads("logsumexp", call.result(1), [=](std::int64_t batch, std::int64_t head, double* v, double* e) {
    const std::vector<double> qs = of.matrix(of.q, batch, head);
    const std::vector<double> turned = Attention::transposed(of.matrix(of.k, batch, head), of.keys, of.features);
    const double u = fp32().u();
    for (std::int64_t i = 0; i < of.queries; ++i) {
      const Attention::Scores scores = of.scores(qs, turned, batch, head, i);
      const Row row = weights_of(of, scores);
      const double log = std::log(row.sum), own = 2 * library_ulps * u * std::fabs(log);
      const double sum = std::max(std::log1p(row.relative), -std::log1p(-row.relative));
      v[i] = row.largest + log;
      e[i] = std::isfinite(row.largest) && row.relative < 1
                 ? (sum + own + 2 * u * (std::fabs(row.largest) + std::fabs(log))) * inflation
                 : infinite;
    }
  }));
  return all;
}
const RegisterOperations forwards{{"_scaled_dot_product_flash_attention_for_cpu"}, forward};

/// One head's weights and their gradients from the recorded bits, each within its error.
struct HeadGradients {
  std::vector<double> p, p_off, ds, ds_off;  // [queries, keys]
};

HeadGradients gradients_of(const Attention& of, std::int64_t batch, std::int64_t head, const View& g, const View& o,
                           const View& lse) {
  const std::vector<double> qs = of.matrix(of.q, batch, head), gs = of.matrix(g, batch, head),
                            os = of.matrix(o, batch, head);
  const std::vector<double> turned = Attention::transposed(of.matrix(of.k, batch, head), of.keys, of.features);
  const std::vector<double> turned_v = Attention::transposed(of.matrix(of.v, batch, head), of.keys, of.features_v);
  std::vector<double> logs(static_cast<std::size_t>(of.queries));
  lse.selected(0, batch).selected(0, head).read(0, of.queries, logs.data());
  const auto size = static_cast<std::size_t>(of.queries * of.keys), keys = static_cast<std::size_t>(of.keys);
  HeadGradients all{std::vector<double>(size), std::vector<double>(size), std::vector<double>(size),
                    std::vector<double>(size)};
  const double u = fp32().u(), lost = of.stored > 0 ? arithmetic_of(of.q.element).underflow() : 0;
  const double cost = gam(static_cast<double>(of.features_v) + 1, u);
  std::vector<double> dp(keys), dp_size(keys);
  for (std::int64_t i = 0; i < of.queries; ++i) {
    const Attention::Scores scores = of.scores(qs, turned, batch, head, i);
    double delta = 0, delta_size = 0;
    std::fill(dp.begin(), dp.end(), 0.0);
    std::fill(dp_size.begin(), dp_size.end(), 0.0);
    for (std::int64_t f = 0; f < of.features_v; ++f) {
      const auto at = static_cast<std::size_t>(i * of.features_v + f);
      delta += gs[at] * os[at];
      delta_size += std::fabs(gs[at] * os[at]);
      add_scaled(gs[at], &turned_v[static_cast<std::size_t>(f) * keys], of.keys, dp.data(), dp_size.data());
    }
    for (std::size_t j = 0; j < keys; ++j) {
      const std::size_t at = static_cast<std::size_t>(i) * keys + j;
      if (scores.s[j] == -infinite) continue;
      const double t = scores.s[j] - logs[static_cast<std::size_t>(i)];
      const double d = scores.e[j] * (1 + u) + u * std::fabs(t) + of.exp;
      const bool gone = vanishes(t, d);
      const double p = gone ? 0 : std::exp(t), p_off = (gone ? 0 : p * std::expm1(d)) + least_normal;
      const double inner = dp[j] - delta, inner_off = cost * (dp_size[j] + delta_size) + u * std::fabs(inner);
      const double off = (p + p_off) * inner_off + p_off * std::fabs(inner) + u * std::fabs(p * inner) + least_normal;
      all.p[at] = p;
      all.p_off[at] = p_off + of.stored * (p + p_off) + lost;
      all.ds[at] = p * inner;
      all.ds_off[at] = off + of.stored * (std::fabs(all.ds[at]) + off) + lost;
    }
  }
  return all;
}

/// Gradients of heads, kept while the results of a call ask for them one after another, as far as they are few.
class Gradients {
 public:
  Gradients(Attention of, View g, View o, View lse)
      : of_(std::move(of)), g_(std::move(g)), o_(std::move(o)), lse_(std::move(lse)) {}
  std::shared_ptr<const HeadGradients> of(std::int64_t batch, std::int64_t head) {
    constexpr std::int64_t most = 1 << 21;  // elements of all heads
    const std::int64_t key = batch * of_.heads + head;
    if (const auto found = kept_.find(key); found != kept_.end()) return found->second;
    auto made = std::make_shared<const HeadGradients>(gradients_of(of_, batch, head, g_, o_, lse_));
    if (of_.batches * of_.heads * of_.queries * of_.keys <= most) kept_[key] = made;
    return made;
  }

 private:
  Attention of_;
  View g_, o_, lse_;
  std::map<std::int64_t, std::shared_ptr<const HeadGradients>> kept_;
};

/// A row of sums over `n` terms: weights within their errors times rows of exact numbers.
class WeightedRow {
 public:
  explicit WeightedRow(std::int64_t width) : width_(width), sum_(width), size_(width), moved_(width) {}
  void clear() {
    for (auto* each : {&sum_, &size_, &moved_}) std::fill(each->begin(), each->end(), 0.0);
  }
  void add(double weight, double off, const double* row) {
    if (weight == 0 && off == 0) return;
    add_scaled(weight, row, width_, sum_.data(), size_.data());
    add_sizes(off, row, width_, moved_.data());
  }
  /// Element f of the sum, scaled. `storage`: where blocks of 32 terms are added in 16 bits.
  Bounded of(std::size_t f, std::int64_t n, double scale, const Arithmetic* storage) const {
    const double cost = gam(static_cast<double>(n) + 2, fp32().u()), size = std::fabs(scale) * (size_[f] + moved_[f]);
    double e = std::fabs(scale) * moved_[f] + cost * size + static_cast<double>(n) * least_normal;
    if (storage != nullptr) {
      const double blocks = std::ceil(static_cast<double>(n) / 32);
      e += gam(blocks, storage->u()) * (size + e) + blocks * storage->underflow();
    }
    return {scale * sum_[f], e * inflation};
  }

 private:
  std::int64_t width_;
  std::vector<double> sum_, size_, moved_;
};

Demands backward(const Call& call, const Profile& profile) {
  const Attention of(call, profile);
  const View g = call.tensor("grad_out"), o = call.tensor("out");
  View lse = call.tensor("logsumexp");
  if (lse.dim() == 3 && lse.size(1) == of.queries && lse.size(2) == of.heads && of.queries != of.heads)
    lse = lse.permuted({0, 2, 1});
  if (lse.dim() != 3 || lse.count() != of.batches * of.heads * of.queries)
    throw NotJudged("a logarithm of sums of another size");
  const Sizes of_out{of.batches, of.heads, of.queries, of.features_v};
  if (g.sizes != of_out || o.sizes != of_out) throw NotJudged("gradients of another size");
  expect_sizes(call.result(0).sizes == of.q.sizes);
  // Gradients of 16 bits may be added block by block in that format.
  const bool in_storage = of.stored > 0 && profile.says(call.name, of.q.element, "adds_in_storage");
  const Arithmetic* storage = in_storage ? &arithmetic_of(of.q.element) : nullptr;
  const auto gradients = std::make_shared<Gradients>(of, g, o, lse);
  Demands all{by_heads("grad_query", call.result(0), [=](std::int64_t batch, std::int64_t head, double* v, double* e) {
    const auto own = gradients->of(batch, head);
    const std::vector<double> ks = of.matrix(of.k, batch, head);
    WeightedRow row(of.features);
    for (std::int64_t i = 0; i < of.queries; ++i) {
      row.clear();
      for (std::int64_t j = 0; j < of.keys; ++j) {
        const auto at = static_cast<std::size_t>(i * of.keys + j);
        row.add(own->ds[at], own->ds_off[at], &ks[static_cast<std::size_t>(j * of.features)]);
      }
      for (std::int64_t f = 0; f < of.features; ++f, ++v, ++e) {
        const Bounded y = row.of(static_cast<std::size_t>(f), of.keys, of.scale, storage);
        *v = y.v;
        *e = y.e;
      }
    }
  })};
  const auto of_keys = [=](const std::string& name, const View& out, bool of_values) {
    const std::int64_t width = of_values ? of.features_v : of.features,
                       shares = of.groups > 0 ? of.heads / of.groups : 1;
    expect_sizes(out.sizes == Sizes{of.batches, of.groups, of.keys, width});
    return by_heads(name, out, [=](std::int64_t batch, std::int64_t group, double* v, double* e) {
      WeightedRow row(width);
      for (std::int64_t share = 0; share < shares; ++share) {
        const std::int64_t head = group * shares + share;
        const auto own = gradients->of(batch, head);
        const std::vector<double> others = of.matrix(of_values ? g : of.q, batch, head);
        const std::vector<double>& weights = of_values ? own->p : own->ds;
        const std::vector<double>& offs = of_values ? own->p_off : own->ds_off;
        for (std::int64_t j = 0; j < of.keys; ++j) {
          row.clear();
          for (std::int64_t i = 0; i < of.queries; ++i) {
            const auto at = static_cast<std::size_t>(i * of.keys + j);
            row.add(weights[at], offs[at], &others[static_cast<std::size_t>(i * width)]);
          }
          for (std::int64_t f = 0; f < width; ++f) {
            const std::int64_t place = j * width + f;
            const Bounded y = row.of(static_cast<std::size_t>(f), of.queries, of_values ? 1 : of.scale, storage);
            const Bounded total =
                share == 0 ? y : (storage != nullptr ? *storage : fp32()).add({v[place], e[place]}, y);
            v[place] = total.v;
            e[place] = total.e;
          }
        }
      }
    });
  };
  all.push_back(of_keys("grad_key", call.result(1), false));
  all.push_back(of_keys("grad_value", call.result(2), true));
  return all;
}
const RegisterOperations registered{{"_scaled_dot_product_flash_attention_for_cpu_backward"}, backward};

}  // namespace
}  // namespace tally::oracle::operations::attention_rules
