// Losses that are one operation, and their gradients.
#include <algorithm>
#include <cmath>

#include "oracle/operations/products.hpp"

namespace tally::oracle::operations::losses_rules {
namespace {

using Demands = std::vector<Demand>;
enum Reduction { none, mean, sum };

Reduction reduction_of(const Call& call) { return static_cast<Reduction>(call.integer("reduction")); }

/// A single result.
Demand one(const std::string& name, const View& found, Bounded x) {
  expect_sizes(found.count() == 1);
  x = arithmetic_of(found.element).store(x);
  return {name,
          found,
          Demand::bound,
          1,
          [x](Part& part) {
            std::fill_n(part.v, part.count, x.v);
            std::fill_n(part.e, part.count, x.e);
          },
          {}};
}

/// Rows of [rows, classes, places] with their labels and the weights of these; the class's stride is `places`.
struct Labelled {
  std::int64_t classes, places;
  std::vector<double> labels, weights;
  double ignored;
  explicit Labelled(const Call& call) {
    const View self = call.tensor("self"), target = call.tensor("target");
    classes = self.dim() == 1 ? self.size(0) : self.size(1);
    places = self.dim() <= 2 ? 1 : count_of({self.sizes.begin() + 2, self.sizes.end()});
    labels = target.read();
    if (static_cast<std::int64_t>(labels.size()) * classes != self.count()) throw NotJudged("labels of another size");
    ignored = static_cast<double>(call.integer("ignore_index", -100));
    if (const View* given = call.tensor_or_none("weight")) weights = given->read();
    if (!weights.empty() && static_cast<std::int64_t>(weights.size()) != classes)
      throw NotJudged("weights of another number of classes");
  }
  bool counts(std::size_t row) const {
    return labels[row] != ignored && labels[row] >= 0 && labels[row] < static_cast<double>(classes);
  }
  double weight(std::size_t row) const { return weights.empty() ? 1 : weights[static_cast<std::size_t>(labels[row])]; }
  std::int64_t place_of(std::size_t row) const {
    const auto r = static_cast<std::int64_t>(row);
    return (r / places * classes + static_cast<std::int64_t>(labels[row])) * places + r % places;
  }
};

/// -w x[label], their sum, or this by the sum of the weights, which is the second result.
Demands nll(const Call& call, const Profile& profile) {
  const View out = call.result(0), self = call.tensor("self");
  const Labelled rows(call);
  const Reduction reduction = reduction_of(call);
  const Arithmetic& a = profile.says("nll_loss", out.element, "adds_in_storage") ? arithmetic_of(out.element) : fp32();
  expect_sizes(out.count() == (reduction == none ? static_cast<std::int64_t>(rows.labels.size()) : 1));
  const auto term = [=, &a](std::size_t row) {
    if (!rows.counts(row)) return Bounded{0, 0};
    double x = 0;
    self.read(rows.place_of(row), 1, &x);
    return rows.weights.empty() ? Bounded{-x, 0} : a.mul({-x, 0}, {rows.weight(row), 0});
  };
  if (reduction == none)
    return {{"result",
             out,
             Demand::bound,
             1,
             [=](Part& part) {
               for (std::int64_t i = 0; i < part.count; ++i) {
                 const Bounded x = arithmetic_of(out.element).store(term(static_cast<std::size_t>(part.first + i)));
                 part.v[i] = x.v;
                 part.e[i] = x.e;
               }
             },
             {}}};
  Addends terms, weights;
  for (std::size_t row = 0; row < rows.labels.size(); ++row) {
    if (!rows.counts(row)) continue;
    terms.add(term(row));
    weights.add({rows.weight(row), 0});
  }
  const Bounded total =
      rows.weights.empty() && weights.count < 0x1p24 && &a == &fp32() ? Bounded{weights.v, 0} : a.sum(weights);
  const Bounded all = a.sum(terms);
  const Bounded loss = reduction == sum     ? all
                       : weights.count == 0 ? Bounded{NAN, 0}
                                            : a.div(all, arithmetic_of(out.element).store(total));
  Demands demands{one("result", out, loss)};
  if (call.has_result(1) && call.result(1).count() == 1) demands.push_back(one("total_weight", call.result(1), total));
  return demands;
}
const RegisterOperations forwards{{"nll_loss_forward", "nll_loss2d_forward"}, nll};

/// -w g / total at the label, 0 elsewhere
Demands nll_backward(const Call& call, const Profile&) {
  const View out = call.result(0), g = call.tensor("grad_output"), total = call.tensor("total_weight");
  const Labelled rows(call);
  const Reduction reduction = reduction_of(call);
  expect_sizes(out.count() == call.tensor("self").count());
  std::vector<Bounded> at_label(rows.labels.size());
  const Arithmetic& a = fp32();
  for (std::size_t row = 0; row < at_label.size(); ++row) {
    if (!rows.counts(row)) continue;
    double gradient = 0;
    g.read(reduction == none ? static_cast<std::int64_t>(row) : 0, 1, &gradient);
    const Bounded weight{-rows.weight(row), 0}, scaled = a.mul(weight, {gradient, 0});
    at_label[row] = reduction != mean ? scaled
                                      : wider(a.div(scaled, {total.value(), 0}),
                                              a.mul(weight, a.div({gradient, 0}, {total.value(), 0})));
  }
  return {{"result",
           out,
           Demand::bound,
           1,
           [=](Part& part) {
             std::fill_n(part.v, part.count, 0.0);
             const std::int64_t stride = rows.classes * rows.places;
             const auto first = static_cast<std::size_t>(part.first / stride * rows.places);
             const auto end =
                 std::min(rows.labels.size(),
                          static_cast<std::size_t>(((part.first + part.count - 1) / stride + 1) * rows.places));
             for (std::size_t row = first; row < end; ++row) {
               if (!rows.counts(row)) continue;
               const std::int64_t place = rows.place_of(row) - part.first;
               if (place < 0 || place >= part.count) continue;
               const Bounded stored = arithmetic_of(out.element).store(at_label[row]);
               part.v[place] = stored.v;
               part.e[place] = stored.e;
             }
           },
           {}}};
}
const RegisterOperations backwards{{"nll_loss_backward", "nll_loss2d_backward"}, nll_backward};

/// (x - y)^2, their sum or their mean
Demands mse(const Call& call, const Profile& profile) {
  const View out = output_of(call), x = call.tensor("self"), y = call.tensor("target").expanded(x.sizes);
  // Squares are stored, and the sum too before it is divided, where the profile says so.
  const bool between = profile.says(call.name, out.element, "rounds_between");
  const Arithmetic& a = between ? arithmetic_of(out.element) : fp32();
  const Reduction reduction = reduction_of(call);
  const auto square = [&](double p, double q) {
    const Bounded difference = a.sub({p, 0}, {q, 0});
    return a.mul(difference, difference);
  };
  if (reduction == none)
    return {elementwise<2>(call, profile, "result", out, {x, y}, [](const auto& b, Bounded p, Bounded q) {
      const Bounded difference = b.sub(p, q);
      return b.mul(difference, difference);
    })};
  const std::vector<double> xs = x.read(), ys = y.read();
  Addends terms;
  for (std::size_t i = 0; i < xs.size(); ++i) terms.add(square(xs[i], ys[i]));
  const Bounded total = a.sum(terms);
  const auto n = static_cast<double>(xs.size());
  return {
      one("result", out, reduction == sum ? total : wider(a.div(total, {n, 0}), a.mul(total, {1 / n, 0x1p-24 / n})))};
}
const RegisterOperations mses{{"mse_loss"}, mse};

/// 2 (x - y) g, by n for the mean, in any order of its factors
Demands mse_backward(const Call& call, const Profile& profile) {
  const View out = output_of(call), x = call.tensor("self"), y = call.tensor("target"), g = call.tensor("grad_output");
  const double norm = reduction_of(call) == mean ? 2 / static_cast<double>(x.count()) : 2;
  const Bounded factor{norm, norm * 0x1p-24};
  return {elementwise<3>(
      call, profile, "result", out, {x, y, g}, [=](const auto& a, Bounded p, Bounded q, Bounded gradient) {
        const Bounded difference = a.sub(p, q);
        return either(a, a.mul(a.mul(factor, difference), gradient), a.mul(factor, a.mul(difference, gradient)));
      })};
}
const RegisterOperations registered{{"mse_loss_backward"}, mse_backward};

}  // namespace
}  // namespace tally::oracle::operations::losses_rules
