// Sums, means and norms, and reductions that decide.
#include <algorithm>
#include <cmath>

#include "oracle/operations/products.hpp"

namespace tally::oracle::operations::reductions_rules {
namespace {

using Demands = std::vector<Demand>;

/// x with the dimensions that are reduced behind those that stay.
struct Reduced {
  View x;
  std::int64_t count = 1;  // how many elements make one result
  Reduced(const View& from, Sizes dims) : x(from) {
    std::vector<bool> goes(from.sizes.size(), dims.empty());
    for (const std::int64_t dim : dims) {
      const std::int64_t counted = dimension_of(dim, from.dim());
      if (!goes.empty()) goes[static_cast<std::size_t>(counted)] = true;
    }
    Sizes order;
    for (const bool last : {false, true})
      for (std::size_t i = 0; i < goes.size(); ++i)
        if (goes[i] == last) order.push_back(static_cast<std::int64_t>(i));
    for (std::size_t i = 0; i < goes.size(); ++i)
      if (goes[i]) count *= from.sizes[i];
    x = from.permuted(order);
  }
  /// One number for each result.
  void expect(const View& out) const { expect_sizes(count == 0 || out.count() * count == x.count()); }
};

Sizes dims_of(const Call& call) { return call.has("dim") ? call.integers("dim") : Sizes{}; }

/// f(values, how many) -> Summed for each result, stored once.
template <class F>
Demand reduced(const std::string& name, const View& out, const Reduced& of, F f) {
  of.expect(out);
  const bool narrows = of.x.element != out.element && !is_half(of.x.element);
  if (narrows && is_half(out.element)) throw NotJudged("a sum in 16 bits of what is cast to them before");
  return {name,
          out,
          Demand::bound,
          1,
          [=, values = std::vector<double>(static_cast<std::size_t>(of.count))](Part& part) mutable {
            const Arithmetic& storage = arithmetic_of(out.element);
            for (std::int64_t i = 0; i < part.count; ++i) {
              of.x.read((part.first + i) * of.count, of.count, values.data());
              if (narrows)
                for (double& value : values) value = static_cast<float>(value);
              const Summed sum = f(values.data(), of.count);
              const Bounded stored = storage.store(sum.sum);
              part.v[i] = stored.v;
              part.e[i] = stored.e;
              if (is_half(out.element)) continue;
              part.s[i] = sum.deviation;
              if (std::fabs(part.found[i] - stored.v) <= sum.deviation) continue;
              double magnitude = 0;
              for (const double value : values) magnitude += std::fabs(value);
              part.s[i] *= together(values, fp32().u(), magnitude);
            }
          },
          {}};
}

/// sum x; sum x / n, whose quotient may be a product with 1 / n.
Demands sum_or_mean(const Call& call, const Profile& profile) {
  const View out = output_of(call), x = call.tensor("self");
  const Reduced of(x, dims_of(call));
  if (!is_float(out.element)) {
    of.expect(out);
    return {{output_name(call),
             out,
             Demand::bits,
             1,
             [=](Part& part) {
               std::vector<double> values(static_cast<std::size_t>(of.count));
               for (std::int64_t i = 0; i < part.count; ++i) {
                 of.x.read((part.first + i) * of.count, of.count, values.data());
                 part.v[i] = 0;
                 double magnitude = 0;
                 for (const double value : values) {
                   part.v[i] += value;
                   magnitude += std::fabs(value);
                 }
                 if (!(magnitude < 0x1p53)) part.e[i] = infinite;
               }
             },
             {}}};
  }
  const bool in_storage = profile.says(call.name, out.element, "adds_in_storage");
  const Arithmetic& a = in_storage ? arithmetic_of(out.element) : fp32();
  const bool mean = call.name == "mean";
  const auto n = static_cast<double>(of.count);
  return {reduced(output_name(call), out, of, [=, &a](const double* values, std::int64_t count) {
    Summed sum = summed(a, values, count);
    if (!mean) return sum;
    sum.sum = wider(a.div(sum.sum, {n, 0}), a.mul(sum.sum, {1 / n, (1 / n) * 0x1p-24}));
    sum.deviation = sum.deviation / n + a.u() * std::fabs(sum.sum.v);
    return sum;
  })};
}
const RegisterOperations whole_sums{{"sum", "mean"}, sum_or_mean};

/// (sum |x|^p)^(1/p) for p = 2 and 1; the largest and the smallest for infinite ones.
Demands norm(const Call& call, const Profile& profile) {
  const View out = output_of(call), x = call.tensor("self");
  const Reduced of(x, dims_of(call));
  const double p = call.number("ord", call.number("p", 2));
  of.expect(out);
  if (std::isinf(p))
    return {{output_name(call),
             out,
             Demand::bits,
             1,
             [=](Part& part) {
               std::vector<double> values(static_cast<std::size_t>(of.count));
               for (std::int64_t i = 0; i < part.count; ++i) {
                 of.x.read((part.first + i) * of.count, of.count, values.data());
                 double most = p > 0 ? 0 : infinite;
                 for (const double value : values)
                   most = std::isnan(most) || std::isnan(value) ? NAN
                          : p > 0                               ? std::max(most, std::fabs(value))
                                                                : std::min(most, std::fabs(value));
                 part.v[i] = most;
               }
             },
             {}}};
  if (p != 1 && p != 2) throw NotJudged("a norm of order " + std::to_string(p));
  const FunctionError root = claimed(profile.number("sqrt", Element::float32, "ulps", 0.5));
  return {reduced(output_name(call), out, of, [=](double* values, std::int64_t count) {
    for (std::int64_t i = 0; i < count; ++i) values[i] = p == 1 ? std::fabs(values[i]) : values[i] * values[i];
    Summed sum = summed(fp32(), values, count, p == 1 ? 0 : 1);
    if (p == 2) {
      // Squares that are lost below the normal range.
      if (decided(sum.sum) && std::isfinite(sum.sum.v)) sum.sum.e += static_cast<double>(count) * 0x1p-149;
      sum.sum = fp32().monotone([](double t) { return std::sqrt(std::max(t, 0.0)); }, sum.sum, root);
      sum.deviation = NAN;
    }
    return sum;
  })};
}
const RegisterOperations norms{{"linalg_vector_norm", "norm"}, norm};

/// Sums of all elements up to each.
Demands running(const Call& call, const Profile&) {
  const std::int64_t dim = call.integer("dim");
  const View out = output_of(call).with_last(dim), x = call.tensor("self").with_last(dim);
  const std::int64_t n = x.size(-1);
  expect_sizes(out.sizes == x.sizes);
  const bool whole = !is_float(out.element);
  if (is_half(out.element) && !is_half(x.element)) throw NotJudged("a sum in 16 bits of what is cast to them before");
  return {{output_name(call),
           out,
           whole ? Demand::bits : Demand::bound,
           n,
           [=](Part& part) {
             x.read(part.first, part.count, part.v);
             if (x.element != out.element && !is_half(x.element) && !whole)
               for (std::int64_t i = 0; i < part.count; ++i) part.v[i] = static_cast<float>(part.v[i]);
             for (std::int64_t row = 0; row < part.count; row += n) {
               double sum = 0, magnitude = 0;
               for (std::int64_t i = 0; i < n; ++i) {
                 magnitude += std::fabs(part.v[row + i]);
                 sum += part.v[row + i];
                 const double cost = gam(static_cast<double>(i), fp32().u());
                 const bool fits = whole ? magnitude < 0x1p53 : magnitude * (1 + cost) < fp32().threshold();
                 const Bounded stored =
                     whole ? Bounded{sum, 0} : arithmetic_of(out.element).store({sum, cost * magnitude * inflation});
                 part.v[row + i] = stored.v;
                 part.e[row + i] = fits ? stored.e : infinite;
               }
             }
           },
           {}}};
}
const RegisterOperations runnings{{"cumsum"}, running};

// Decisions: a value is the largest or the smallest one, and an index any whose value it is.

bool before(double x, double y, bool largest) { return std::isnan(x) ? !std::isnan(y) : largest ? x > y : x < y; }

Demands extremes(const Call& call, const Profile&) {
  const std::string& name = call.name;
  const bool largest = name.find("max") != std::string::npos, index_only = name.starts_with("arg");
  if (call.has("other")) throw NotJudged("the larger or the smaller of two");
  const View x = call.tensor("self");
  const Reduced of(x, dims_of(call));
  if (of.count == 0) throw NotJudged("the largest or the smallest of nothing");
  of.expect(index_only ? call.result() : output_of(call));
  Demands all;
  const auto each = [=](auto f) {
    return [=](Part& part) {
      std::vector<double> values(static_cast<std::size_t>(of.count));
      for (std::int64_t i = 0; i < part.count; ++i) {
        of.x.read((part.first + i) * of.count, of.count, values.data());
        const double best =
            *std::min_element(values.begin(), values.end(), [=](double a, double b) { return before(a, b, largest); });
        part.v[i] = f(values, best, part.found[i]);
      }
    };
  };
  if (!index_only)
    all.push_back({"values",
                   output_of(call),
                   Demand::bits,
                   1,
                   each([](const std::vector<double>&, double best, double) { return best; }),
                   {}});
  if (!index_only && !call.has_result(1)) return all;
  if (!index_only) of.expect(call.result(1));
  all.push_back({"indices",
                 index_only ? call.result() : call.result(1),
                 Demand::bits,
                 1,
                 each([](const std::vector<double>& values, double best, double found) {
                   const bool there = found >= 0 && found < static_cast<double>(values.size());
                   const double chosen = there ? values[static_cast<std::size_t>(found)] : NAN;
                   if (there && (chosen == best || (std::isnan(chosen) && std::isnan(best)))) return found;
                   for (std::size_t i = 0; i < values.size(); ++i)
                     if (values[i] == best || (std::isnan(values[i]) && std::isnan(best)))
                       return static_cast<double>(i);
                   return -1.0;
                 }),
                 {}});
  return all;
}
const RegisterOperations extreme{{"max", "min", "amax", "amin", "argmax", "argmin"}, extremes};

/// sort and topk: values in order, and indices at which they stand, each once.
Demands ordered(const Call& call, const Profile&) {
  const bool sorts = call.name == "sort";
  const bool largest = sorts ? call.flag("descending") : call.flag("largest", true);
  const bool in_order = sorts || call.flag("sorted", true);
  const std::int64_t dim = call.integer("dim", -1);
  const View x = call.tensor("self").with_last(dim), values = call.result(0).with_last(dim),
             places = call.result(1).with_last(dim);
  const std::int64_t n = x.size(-1), k = values.size(-1);
  expect_sizes(k <= n && values.count() == places.count() && values.count() * n == x.count() * k);
  const auto best = [=](std::int64_t row) {
    std::vector<double> all(static_cast<std::size_t>(n));
    x.read(row * n, n, all.data());
    std::vector<double> chosen = all;
    std::stable_sort(chosen.begin(), chosen.end(), [=](double a, double b) {
      return largest ? before(a, b, true) : !std::isnan(a) && (std::isnan(b) || a < b);
    });
    chosen.resize(static_cast<std::size_t>(k));
    return std::make_pair(std::move(all), std::move(chosen));
  };
  Demand of_values{"values",
                   values,
                   Demand::bits,
                   k,
                   [=](Part& part) {
                     for (std::int64_t at = 0; at < part.count; at += k) {
                       std::vector<double> chosen = best((part.first + at) / k).second;
                       if (!in_order) {  // the same numbers in any order
                         std::vector<double> found(part.found + at, part.found + at + k), sorted = chosen;
                         const auto by_size = [](double a, double b) { return before(a, b, true); };
                         std::sort(found.begin(), found.end(), by_size);
                         std::sort(sorted.begin(), sorted.end(), by_size);
                         if (std::equal(found.begin(), found.end(), sorted.begin(),
                                        [](double a, double b) { return a == b || (std::isnan(a) && std::isnan(b)); }))
                           chosen.assign(part.found + at, part.found + at + k);
                       }
                       std::copy(chosen.begin(), chosen.end(), part.v + at);
                     }
                   },
                   {}};
  Demand of_places{"indices",
                   places,
                   Demand::bits,
                   k,
                   [=](Part& part) {
                     std::vector<double> held(static_cast<std::size_t>(k));
                     for (std::int64_t at = 0; at < part.count; at += k) {
                       const std::int64_t row = (part.first + at) / k;
                       const std::vector<double> all = best(row).first;
                       values.read(row * k, k, held.data());
                       std::vector<bool> taken(static_cast<std::size_t>(n));
                       for (std::int64_t i = 0; i < k; ++i) {
                         const double found = part.found[at + i];
                         const bool there =
                             found >= 0 && found < static_cast<double>(n) && !taken[static_cast<std::size_t>(found)];
                         const double chosen = there ? all[static_cast<std::size_t>(found)] : NAN,
                                      wanted = held[static_cast<std::size_t>(i)];
                         const bool legal = there && (chosen == wanted || (std::isnan(chosen) && std::isnan(wanted)));
                         if (there) taken[static_cast<std::size_t>(found)] = true;
                         part.v[at + i] = legal ? found : -1;
                       }
                     }
                   },
                   {}};
  return {of_values, of_places};
}
const RegisterOperations orders{{"sort", "topk"}, ordered};

Demands any_or_all(const Call& call, const Profile&) {
  const Reduced of(call.tensor("self"), dims_of(call));
  of.expect(output_of(call));
  const bool all = call.name == "all";
  return {{output_name(call),
           output_of(call),
           Demand::bits,
           1,
           [=](Part& part) {
             std::vector<double> values(static_cast<std::size_t>(of.count));
             for (std::int64_t i = 0; i < part.count; ++i) {
               of.x.read((part.first + i) * of.count, of.count, values.data());
               const auto holds = [](double x) { return x != 0; };
               part.v[i] = all ? std::all_of(values.begin(), values.end(), holds)
                               : std::any_of(values.begin(), values.end(), holds);
             }
           },
           {}}};
}
const RegisterOperations quantifiers{{"any", "all"}, any_or_all};

/// How many of whole numbers lie in each of `bins` equal parts of [min, max].
Demands histogram(const Call& call, const Profile&) {
  const View out = output_of(call);
  const std::vector<double> values = call.tensor("self").read();
  const double low = call.number("min"), high = call.number("max");
  const auto bins = static_cast<double>(out.count());
  if (low == high) throw NotJudged("a histogram between its own extremes");
  std::vector<double> counts(static_cast<std::size_t>(out.count()));
  for (const double value : values) {
    if (!(value >= low && value <= high)) continue;
    const double place = (value - low) / (high - low) * bins;
    if (place != std::floor(place) && std::fabs(place - std::nearbyint(place)) < 0x1p-18 * bins)
      throw NotJudged("a histogram with a value beside the end of a bin");
    counts[static_cast<std::size_t>(std::min(std::floor(place), bins - 1))] += 1;
  }
  return {{"result",
           out,
           Demand::bits,
           1,
           [=](Part& part) { std::copy_n(counts.begin() + part.first, part.count, part.v); },
           {}}};
}
const RegisterOperations registered{{"histc"}, histogram};

}  // namespace
}  // namespace tally::oracle::operations::reductions_rules
