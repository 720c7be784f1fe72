// A small subject with its format, its order of additions and its treatment of subnormals as parameters. Every
// operation is rounded exactly once.
#pragma once

#include <cmath>
#include <random>
#include <string>
#include <vector>

#include "oracle/tolerance/format.hpp"

namespace tally::oracle::emulated {

enum class Order { sequential, fused, pairwise, chunked, random_tree, split };
inline constexpr Order orders[] = {Order::sequential, Order::fused,       Order::pairwise,
                                   Order::chunked,    Order::random_tree, Order::split};

inline std::string name_of(Order order) {
  static const char* names[] = {"sequential", "fused", "pairwise", "chunked", "random tree", "split"};
  return names[static_cast<int>(order)];
}

class Machine {
 public:
  Machine(Format format, Order order, std::mt19937_64& random) : format_(format), order_(order), random_(random) {}

  double round(double x) const { return flushed(rounded(format_, x)); }
  double add(double x, double y) const { return flushed(rounded_sum(format_, read(x), read(y))); }
  double sub(double x, double y) const { return add(x, -y); }
  double mul(double x, double y) const { return round(read(x) * read(y)); }  // exact before it is rounded
  double fma(double x, double y, double z) const { return flushed(rounded_sum(format_, read(x) * read(y), read(z))); }
  double div(double x, double y) const { return round(x / y); }
  double sqrt(double x) const { return round(std::sqrt(x)); }

  /// A function's value, off by at most `floats` numbers of the format from the nearest (fp32 only).
  double function(double exact, int floats) const {
    auto value = static_cast<float>(exact);
    const int off = static_cast<int>(random_() % static_cast<unsigned>(2 * floats + 1)) - floats;
    for (int i = 0; i < std::abs(off); ++i) value = std::nextafter(value, off > 0 ? INFINITY : -INFINITY);
    return value;
  }

  double sum(const std::vector<double>& x) const {
    switch (order_) {
      case Order::pairwise:
        return pairwise(x, 0, x.size());
      case Order::chunked:
        return by_parts(x, 1 + random_() % 9);
      case Order::split:
        return by_parts(x, (x.size() + 2) / 3);
      case Order::random_tree:
        return random_tree(x);
      default:
        return serial(x, 0, x.size());
    }
  }

  double dot(const std::vector<double>& a, const std::vector<double>& b) const {
    if (order_ == Order::fused) {
      double total = 0;
      for (std::size_t i = 0; i < a.size(); ++i) total = fma(a[i], b[i], total);
      return total;
    }
    std::vector<double> products;
    for (std::size_t i = 0; i < a.size(); ++i) products.push_back(mul(a[i], b[i]));
    return sum(products);
  }

  Order order() const { return order_; }
  std::mt19937_64& random() const { return random_; }

 private:
  bool subnormal(double x) const { return std::fabs(x) < std::ldexp(1, format_.emin); }
  double flushed(double x) const { return format_.flushes_subnormals && subnormal(x) ? 0 : x; }
  double read(double x) const { return flushed(x); }

  double serial(const std::vector<double>& x, std::size_t first, std::size_t last) const {
    double total = first < last ? x[first] : 0;
    for (std::size_t i = first + 1; i < last; ++i) total = add(total, x[i]);
    return total;
  }
  double pairwise(const std::vector<double>& x, std::size_t first, std::size_t last) const {
    if (last - first < 2) return serial(x, first, last);
    const std::size_t middle = first + (last - first) / 2;
    return add(pairwise(x, first, middle), pairwise(x, middle, last));
  }
  double by_parts(const std::vector<double>& x, std::size_t length) const {
    std::vector<double> parts;
    for (std::size_t i = 0; i < x.size(); i += length) parts.push_back(serial(x, i, std::min(i + length, x.size())));
    return serial(parts, 0, parts.size());
  }
  double random_tree(std::vector<double> x) const {
    while (x.size() > 1) {
      std::swap(x[random_() % x.size()], x.back());
      const double moved = x.back();
      x.pop_back();
      double& other = x[random_() % x.size()];
      other = add(other, moved);
    }
    return x.empty() ? 0 : x[0];
  }

  Format format_;
  Order order_;
  std::mt19937_64& random_;
};

}  // namespace tally::oracle::emulated
