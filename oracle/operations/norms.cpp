// Layer, group, batch and root-mean-square norms and their gradients. Each is stated for groups of n elements that share
// statistics: y = (x - mean) rstd w + b, with rstd = 1 / sqrt(var + eps).
#include <algorithm>
#include <cmath>
#include <functional>

#include "oracle/operations/products.hpp"
#include "oracle/tolerance/moments.hpp"

namespace tally::oracle::operations::norms_rules {
namespace {

using Demands = std::vector<Demand>;

const Declared& declared() {
  static const Claims claims;
  static const Format single = format_of(Element::float32);
  static const Declared all{claims, single, single, single, single};
  return all;
}

/// An argument under one of two names: cuDNN's operations have others.
std::string named(const Call& call, const char* name, const char* other) {
  return call.arguments.contains(other) ? other : name;
}

/// A tensor whose groups stand one after another, n elements each.
struct Groups {
  std::int64_t count = 0, n = 0, parameters = 0;
  std::function<View(const View&)> arranged;                          // a tensor of x's sizes, by groups
  std::function<std::int64_t(std::int64_t, std::int64_t)> parameter;  // which weight an element of a group has

  std::vector<double> read(const View& arranged_view, std::int64_t group) const {
    std::vector<double> values(static_cast<std::size_t>(n));
    arranged_view.read(group * n, n, values.data());
    return values;
  }
};

Groups by_layer(const View& x, const Sizes& normalized) {
  Groups groups;
  groups.n = groups.parameters = count_of(normalized);
  groups.count = groups.n == 0 ? 0 : x.count() / groups.n;
  groups.arranged = [](const View& view) { return view; };
  groups.parameter = [](std::int64_t, std::int64_t i) { return i; };
  return groups;
}

Groups by_channel(const View& x) {
  Groups groups;
  if (x.dim() < 2) throw NotJudged("a norm of a tensor without channels");
  groups.count = groups.parameters = x.size(1);
  groups.n = groups.count == 0 ? 0 : x.count() / groups.count;
  groups.arranged = [](const View& view) {
    Sizes order{1, 0};
    for (std::int64_t i = 2; i < view.dim(); ++i) order.push_back(i);
    return view.permuted(order);
  };
  groups.parameter = [](std::int64_t group, std::int64_t) { return group; };
  return groups;
}

Groups by_group(const Call& call) {
  Groups groups;
  const std::int64_t images = call.integer("N"), channels = call.integer("C"), space = call.integer("HxW"),
                     parts = call.integer("group");
  groups.count = images * parts;
  groups.parameters = channels;
  if (parts < 1 || channels % parts != 0 || call.tensor("input").count() != images * channels * space)
    throw NotJudged("groups that do not fit their channels");
  groups.n = channels / parts * space;
  groups.arranged = [](const View& view) { return view; };
  groups.parameter = [=](std::int64_t group, std::int64_t i) { return group % parts * (channels / parts) + i / space; };
  return groups;
}

struct Statistics {
  Bounded mean, var, rstd;
};

Bounded rstd_of(const Arithmetic& a, Bounded var, double eps) {
  const Bounded sum = a.add(var, {static_cast<float>(eps), std::fabs(eps - static_cast<float>(eps))});
  return wider(a.div({1, 0}, a.sqrt(sum)), a.monotone([](double t) { return 1 / std::sqrt(t); }, sum, claimed(2)));
}

/// By two passes or by Welford's updates in any order of merges; `in`: what sums are kept in, fp32 or 16 bits.
Statistics statistics_of(const std::vector<double>& values, double eps, Element in = Element::float32) {
  std::vector<Bounded> x(values.size());
  for (std::size_t i = 0; i < x.size(); ++i) x[i] = {values[i], 0};
  const Sample sample = sample_of(x);
  const double height = std::max(sample.n - 1, 0.0);
  const MeanAndVariance passes = two_pass(declared(), height, sample), updates = welford(declared(), height, sample);
  Bounded mean = wider(passes.mean, updates.mean), var = wider(passes.variance, updates.variance);
  if (is_half(in)) {
    const double u = arithmetic_of(in).u();
    mean.e += gam(sample.n + 2, u) * sample.magnitude + arithmetic_of(in).underflow();
    var.e += mean.e * mean.e + gam(sample.n + 5, u) * (var.v + mean.e * mean.e);
  }
  return {mean, var, rstd_of(arithmetic_of(in), var, eps)};
}

struct Parameters {
  std::vector<double> weight, bias;
  explicit Parameters(const Call& call) {
    if (const View* w = call.tensor_or_none("weight")) weight = w->read();
    if (call.arguments.contains("bias"))
      if (const View* b = call.tensor_or_none("bias")) bias = b->read();
  }
  double w(std::int64_t i) const { return weight.empty() ? 1 : weight[static_cast<std::size_t>(i)]; }
  /// Throws NotJudged where they are not as many as their groups need.
  void expect(const Groups& groups) const {
    for (const std::vector<double>* each : {&weight, &bias})
      if (!each->empty() && static_cast<std::int64_t>(each->size()) != groups.parameters)
        throw NotJudged("parameters of other sizes than their norm's");
  }
};

/// Elements of y by groups; statistics by `of`.
template <class F>
Demand normalised(const Call& call, const Profile& profile, const View& found, const View& x, const Groups& groups,
                  F of) {
  const Parameters parameters(call);
  parameters.expect(groups);
  expect_sizes(found.count() == x.count());
  const View from = groups.arranged(x), out = groups.arranged(found);
  const bool in_storage = is_half(found.element) && profile.says(call.name, found.element, "statistics_in_storage");
  return {"result",
          out,
          Demand::bound,
          groups.n,
          [=](Part& part) {
            const Arithmetic& a = fp32();
            const Arithmetic& storage = arithmetic_of(out.element);
            for (std::int64_t at = 0; at < part.count; at += groups.n) {
              const std::int64_t group = (part.first + at) / groups.n;
              const std::vector<double> values = groups.read(from, group);
              const Statistics s = of(group, values);
              for (std::int64_t i = 0; i < groups.n; ++i) {
                const std::int64_t k = groups.parameter(group, i);
                const double value = values[static_cast<std::size_t>(i)], w = parameters.w(k);
                Bounded y = a.mul(a.sub({value, 0}, s.mean), s.rstd);
                if (in_storage) {  // x scale + shift, whose numbers a channel has in 16 bits
                  const double b = parameters.bias.empty() ? 0 : parameters.bias[static_cast<std::size_t>(k)];
                  const Bounded scale = storage.mul(storage.store(s.rstd), {w, 0});
                  const Bounded shift = storage.sub({b, 0}, storage.mul(storage.store(s.mean), scale));
                  const Bounded stored = storage.store(a.add(a.mul({value, 0}, scale), shift));
                  part.v[at + i] = stored.v;
                  part.e[at + i] = stored.e;
                  continue;
                }
                if (!parameters.weight.empty()) y = a.mul(y, {w, 0});
                if (!parameters.bias.empty()) y = a.add(y, {parameters.bias[static_cast<std::size_t>(k)], 0});
                // Or x scale + shift with scale = rstd w and shift = b - mean scale: three roundings of its parts, and
                // shift's own, which is relative to b too.
                if (decided(y)) {
                  const double b = parameters.bias.empty() ? 0 : parameters.bias[static_cast<std::size_t>(k)];
                  const double parts = (std::fabs(s.rstd.v) + s.rstd.e) *
                                       (std::fabs(value) + std::fabs(s.mean.v) + s.mean.e) * std::fabs(w);
                  y.e += (gam(3, a.u()) * parts + a.u() * std::fabs(b)) * inflation;
                }
                y = storage.store(y);
                part.v[at + i] = y.v;
                part.e[at + i] = y.e;
              }
            }
          },
          {}};
}

/// A number of each group: its mean, its rstd.
template <class F>
Demand of_groups(const std::string& name, const View& found, const View& x, const Groups& groups, F f) {
  expect_sizes(found.count() == groups.count);
  const View from = groups.arranged(x);
  return {name,
          found,
          Demand::bound,
          1,
          [=](Part& part) {
            for (std::int64_t i = 0; i < part.count; ++i) {
              const Bounded y =
                  arithmetic_of(found.element).store(f(part.first + i, groups.read(from, part.first + i)));
              part.v[i] = y.v;
              part.e[i] = y.e;
            }
          },
          {}};
}

Demands layer_or_group(const Call& call, const Profile& profile) {
  const View x = call.tensor("input");
  const Groups groups =
      call.name == "native_group_norm" ? by_group(call) : by_layer(x, call.integers("normalized_shape"));
  const double eps = call.number("eps");
  const bool in_storage = is_half(x.element) && profile.says(call.name, x.element, "statistics_in_storage");
  const Element in = in_storage ? x.element : Element::float32;
  const auto of = [=](std::int64_t, const std::vector<double>& values) { return statistics_of(values, eps, in); };
  return {normalised(call, profile, call.result(0), x, groups, of),
          of_groups("mean", call.result(1), x, groups, [=](std::int64_t g, const auto& v) { return of(g, v).mean; }),
          of_groups("rstd", call.result(2), x, groups, [=](std::int64_t g, const auto& v) { return of(g, v).rstd; })};
}
const RegisterOperations layers{{"native_layer_norm", "native_group_norm"}, layer_or_group};

/// In training the batch's statistics, which also move the running ones; else these.
Demands batch(const Call& call, const Profile& profile) {
  const View x = call.tensor("input");
  const Groups groups = by_channel(x);
  const double eps = call.number(named(call, "eps", "epsilon")),
               momentum = call.number(named(call, "momentum", "exponential_average_factor"));
  const bool trains = call.flag("training", call.flag("train", call.name.find("no_training") == std::string::npos));
  if (!trains) {
    const std::vector<double> mean = call.tensor("running_mean").read(), var = call.tensor("running_var").read();
    expect_sizes(static_cast<std::int64_t>(std::min(mean.size(), var.size())) >= groups.count);
    return {normalised(call, profile, call.result(0), x, groups, [=](std::int64_t g, const auto&) {
      const auto at = static_cast<std::size_t>(g);
      return Statistics{{mean[at], 0}, {var[at], 0}, rstd_of(fp32(), {var[at], 0}, eps)};
    })};
  }
  const Element element = x.element;
  const bool in_storage = is_half(element) && profile.says(call.name, element, "statistics_in_storage");
  const auto of = [=](std::int64_t, const std::vector<double>& values) {
    Statistics s = statistics_of(values, eps);
    if (!in_storage) return s;
    // Around a mean of 16 bits the squares are larger by the square of what it is off; differences and squares round.
    const double u = arithmetic_of(element).u(), off = u * std::fabs(s.mean.v) + arithmetic_of(element).underflow();
    s.mean = arithmetic_of(element).store(s.mean);
    s.var.e += off * off + gam(3, u) * (s.var.v + off * off);
    s.rstd = rstd_of(fp32(), s.var, eps);
    return s;
  };
  Demands all{
      normalised(call, profile, call.result(0), x, groups, of),
      of_groups("save_mean", call.result(1), x, groups, [=](std::int64_t g, const auto& v) { return of(g, v).mean; }),
      of_groups("save_invstd", call.result(2), x, groups,
                [=](std::int64_t g, const auto& v) { return of(g, v).rstd; })};
  const auto add = [&](const char* name, auto now) {
    if (!call.wrote.contains(name)) return;
    const std::vector<double> old = call.tensor(name).read();
    expect_sizes(static_cast<std::int64_t>(old.size()) == groups.count);
    all.push_back(of_groups(name, call.written(name), x, groups, [=](std::int64_t g, const auto& values) {
      const Arithmetic& a = in_storage ? arithmetic_of(element) : fp32();
      const Bounded before{old[static_cast<std::size_t>(g)], 0}, m{momentum, momentum * a.u()};
      const Bounded kept{1 - momentum, a.u()};
      return a.add(a.mul(m, now(of(g, values), static_cast<double>(values.size()))), a.mul(kept, before));
    }));
  };
  add("running_mean", [](const Statistics& s, double) { return s.mean; });
  add("running_var", [](const Statistics& s, double n) {
    const Arithmetic& a = fp32();
    return wider(a.div(a.mul(s.var, {n, 0}), {n - 1, 0}), a.mul(s.var, {n / (n - 1), 0x1p-24 * n / (n - 1)}));
  });
  return all;
}
const RegisterOperations batches{
    {"native_batch_norm", "_native_batch_norm_legit", "_native_batch_norm_legit_functional",
     "_native_batch_norm_legit_no_training", "cudnn_batch_norm"},
    batch};

/// dx = rstd (gw - mean(gw) - xhat mean(gw xhat)), from the recorded statistics; what the two means may be off,
/// and the roundings of any of its groupings, with x - mean taken apart or not. Of a gw + b x + c with b = (db mean - ds)
/// rstd^3 / n, the sums take n + 2 roundings, b five more, and b x, c and their sums three.
struct Backward {
  View x, dy;
  Groups groups;
  std::vector<double> mean, rstd, weight;
  double of_rstd = 0;  // roundings of rstd

  /// Throws NotJudged where its tensors do not fit each other.
  void expect(const Parameters& parameters) const {
    parameters.expect(groups);
    expect_sizes(dy.count() == x.count() &&
                 static_cast<std::int64_t>(std::min(mean.size(), rstd.size())) == groups.count);
  }
  double w(std::int64_t k) const { return weight.empty() ? 1 : weight[static_cast<std::size_t>(k)]; }

  /// `between`: a kernel of 16 bits rounds to them after every operation.
  Demand input(const View& found, bool between) const {
    expect_sizes(found.count() == x.count());
    const View from = groups.arranged(x), gradients = groups.arranged(dy), out = groups.arranged(found);
    return {"grad_input",
            out,
            Demand::bound,
            groups.n,
            [=, *this](Part& part) {
              const Arithmetic& a = between ? arithmetic_of(out.element) : fp32();
              const double u = a.u(), least = a.underflow(), n = static_cast<double>(groups.n);
              for (std::int64_t at = 0; at < part.count; at += groups.n) {
                const std::int64_t group = (part.first + at) / groups.n;
                const std::vector<double> values = groups.read(from, group), g = groups.read(gradients, group);
                const double m = mean[static_cast<std::size_t>(group)], rho = rstd[static_cast<std::size_t>(group)];
                double m1 = 0, m2 = 0, size1 = 0, size2 = 0;
                for (std::size_t i = 0; i < values.size(); ++i) {
                  const double gw = g[i] * w(groups.parameter(group, static_cast<std::int64_t>(i)));
                  m1 += gw;
                  m2 += gw * (values[i] - m) * rho;
                  size1 += std::fabs(gw);
                  size2 += std::fabs(gw) * (std::fabs(values[i]) + std::fabs(m)) * rho;
                }
                m1 /= n;
                m2 /= n;
                const double e1 = gam(n + 2, u) * size1 / n, e2 = gam(n + 4, u) * size2 / n;
                for (std::size_t i = 0; i < values.size(); ++i) {
                  const double gw = g[i] * w(groups.parameter(group, static_cast<std::int64_t>(i)));
                  const double hat = (values[i] - m) * rho, size = (std::fabs(values[i]) + std::fabs(m)) * rho;
                  const double v = rho * (gw - m1 - hat * m2);
                  const double roundings =
                      gam(6, u) * rho * (std::fabs(gw) + std::fabs(m1) + e1 + (std::fabs(m2) + e2) * size);
                  // What products lose below the normal range, times the factors that follow.
                  const double wi = std::fabs(w(groups.parameter(group, static_cast<std::int64_t>(i))));
                  const double lost = 16 * least * std::pow(1 + rho, 3) * (1 + wi) * (1 + size / rho);
                  const double e = (rho * (e1 + std::fabs(hat) * e2) + roundings + lost) * inflation;
                  const Bounded stored = arithmetic_of(out.element).store({v, std::isfinite(v) ? e : 0});
                  part.v[at + static_cast<std::int64_t>(i)] = stored.v;
                  part.e[at + static_cast<std::int64_t>(i)] = std::isnan(e) ? infinite : stored.e;
                }
              }
            },
            {}};
  }

  /// sum g xhat or sum g over all elements that a parameter has.
  Demand parameter(const std::string& name, const View& found, bool of_weight, const Profile& profile,
                   const std::string& op) const {
    expect_sizes(found.count() == groups.parameters);
    std::vector<double> v(static_cast<std::size_t>(found.count())), magnitude(v), count(v), factors(v);
    const View from = groups.arranged(x), gradients = groups.arranged(dy);
    for (std::int64_t group = 0; group < groups.count; ++group) {
      const std::vector<double> values = groups.read(from, group), g = groups.read(gradients, group);
      const double m = mean[static_cast<std::size_t>(group)], rho = rstd[static_cast<std::size_t>(group)];
      for (std::size_t i = 0; i < values.size(); ++i) {
        const auto k = static_cast<std::size_t>(groups.parameter(group, static_cast<std::int64_t>(i)));
        v[k] += of_weight ? g[i] * (values[i] - m) * rho : g[i];
        magnitude[k] += std::fabs(g[i]) * (of_weight ? (std::fabs(values[i]) + std::fabs(m)) * rho : 1);
        count[k] += 1;
        // What (x - mean) rstd and its product with g, in either order, lose below the normal range.
        factors[k] += of_weight ? 1 + std::fabs(g[i]) + rho : 0;
      }
    }
    // In the format of x, whatever the parameters have.
    const bool in_storage = profile.says(op, x.element, "adds_in_storage");
    return {name,
            found,
            Demand::bound,
            1,
            [=, x_element = x.element, more = of_rstd](Part& part) {
              const Arithmetic& a = in_storage ? arithmetic_of(x_element) : fp32();
              for (std::int64_t i = 0; i < part.count; ++i) {
                const auto k = static_cast<std::size_t>(part.first + i);
                const double cost = gam(count[k] + (of_weight ? 4 + more : 0), a.u());
                const bool fits = magnitude[k] * (1 + cost) < a.threshold();
                const Bounded stored =
                    arithmetic_of(found.element)
                        .store({v[k], !std::isfinite(v[k]) ? 0
                                      : fits ? (cost * magnitude[k] + 2 * factors[k] * a.underflow()) * inflation
                                             : infinite});
                part.v[i] = stored.v;
                part.e[i] = stored.e;
              }
            },
            {}};
  }
};

Demands parameters_of(const Call& call, const Backward& of, const Profile& profile) {
  Demands all;
  if (call.has_result(1)) all.push_back(of.parameter("grad_weight", call.result(1), true, profile, call.name));
  if (call.has_result(2)) all.push_back(of.parameter("grad_bias", call.result(2), false, profile, call.name));
  return all;
}

Demands layer_or_group_backward(const Call& call, const Profile& profile) {
  const View x = call.tensor("input");
  const bool layer = call.name == "native_layer_norm_backward";
  Backward of{x,
              call.tensor("grad_out"),
              layer ? by_layer(x, call.integers("normalized_shape")) : by_group(call),
              call.tensor("mean").read(),
              call.tensor("rstd").read(),
              Parameters(call).weight};
  of.expect(Parameters(call));
  Demands all = parameters_of(call, of, profile);
  if (call.has_result(0))
    all.insert(all.begin(), of.input(call.result(0), profile.says(call.name, x.element, "rounds_between")));
  return all;
}
const RegisterOperations layers_backward{{"native_layer_norm_backward", "native_group_norm_backward"},
                                         layer_or_group_backward};

Demands batch_backward(const Call& call, const Profile& profile) {
  const View x = call.tensor("input"), dy = call.tensor(named(call, "grad_out", "grad_output"));
  const bool trains = call.flag("train", true);
  Backward of{x, dy, by_channel(x), {}, {}, Parameters(call).weight};
  if (trains) {
    of.mean = call.tensor("save_mean").read();
    of.rstd = call.tensor(named(call, "save_invstd", "save_var")).read();
  } else {
    of.mean = call.tensor("running_mean").read();
    const double eps = call.number("eps");
    for (const double var : call.tensor("running_var").read()) of.rstd.push_back(1 / std::sqrt(var + eps));
    of.of_rstd = 5;  // half of those of eps and its sum, and 4 of a library's function
  }
  of.expect(Parameters(call));
  Demands all = parameters_of(call, of, profile);
  if (!call.has_result(0)) return all;
  if (trains) {
    all.insert(all.begin(), of.input(call.result(0), profile.says(call.name, x.element, "rounds_between")));
    return all;
  }
  expect_sizes(call.result(0).count() == x.count());
  const View gradients = of.groups.arranged(dy), out = of.groups.arranged(call.result(0));
  const std::vector<double> var = call.tensor("running_var").read();
  all.insert(all.begin(), {"grad_input",
                           out,
                           Demand::bound,
                           of.groups.n,
                           [=, eps = call.number("eps")](Part& part) {
                             for (std::int64_t at = 0; at < part.count; at += of.groups.n) {
                               const std::int64_t group = (part.first + at) / of.groups.n;
                               const std::vector<double> g = of.groups.read(gradients, group);
                               const Bounded rstd = rstd_of(fp32(), {var[static_cast<std::size_t>(group)], 0}, eps);
                               for (std::size_t i = 0; i < g.size(); ++i) {
                                 const Bounded w{of.w(group), 0}, gi{g[i], 0};
                                 const Bounded y = arithmetic_of(out.element)
                                                       .store(wider(fp32().mul(fp32().mul(gi, rstd), w),
                                                                    fp32().mul(gi, fp32().mul(rstd, w))));
                                 part.v[at + static_cast<std::int64_t>(i)] = y.v;
                                 part.e[at + static_cast<std::int64_t>(i)] = y.e;
                               }
                             }
                           },
                           {}});
  return all;
}
const RegisterOperations batches_backward{{"native_batch_norm_backward", "cudnn_batch_norm_backward"}, batch_backward};

/// x rstd w with rstd = 1 / sqrt(mean(x^2) + eps)
Demands root_mean_square(const Call& call, const Profile&) {
  const View x = call.tensor("input"), out = call.result(0);
  const Groups groups = by_layer(x, call.integers("normalized_shape"));
  const double eps = call.number("eps", 0x1p-23);  // of fp32, in which it computes
  const Parameters parameters(call);
  parameters.expect(groups);
  expect_sizes(out.count() == x.count());
  const auto rstd = [eps](const std::vector<double>& values) {
    const Arithmetic& a = fp32();
    Addends squares;
    for (const double value : values) squares.add(a.mul({value, 0}, {value, 0}));
    const auto n = static_cast<double>(values.size());
    const Bounded total = a.sum(squares);
    return rstd_of(a, wider(a.div(total, {n, 0}), a.mul(total, {1 / n, 0x1p-24 / n})), eps);
  };
  Demands all{{"result",
               out,
               Demand::bound,
               groups.n,
               [=](Part& part) {
                 const Arithmetic& a = fp32();
                 for (std::int64_t at = 0; at < part.count; at += groups.n) {
                   const std::vector<double> values = groups.read(x, (part.first + at) / groups.n);
                   const Bounded r = rstd(values);
                   for (std::size_t i = 0; i < values.size(); ++i) {
                     const Bounded scaled = a.mul({values[i], 0}, r), w{parameters.w(static_cast<std::int64_t>(i)), 0};
                     const Bounded y = arithmetic_of(out.element)
                                           .store(parameters.weight.empty()
                                                      ? scaled
                                                      : wider(a.mul(scaled, w), a.mul({values[i], 0}, a.mul(r, w))));
                     part.v[at + static_cast<std::int64_t>(i)] = y.v;
                     part.e[at + static_cast<std::int64_t>(i)] = y.e;
                   }
                 }
               },
               {}}};
  if (call.has_result(1))
    all.push_back(of_groups("rstd", call.result(1), x, groups, [=](std::int64_t, const auto& v) { return rstd(v); }));
  return all;
}
const RegisterOperations registered{{"_fused_rms_norm"}, root_mean_square};

}  // namespace
}  // namespace tally::oracle::operations::norms_rules
