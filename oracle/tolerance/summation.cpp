// What adding up costs in a claimed order, and sums that are added up for real.
#include "oracle/tolerance/summation.hpp"

#include <algorithm>
#include <bit>
#include <cmath>
#include <functional>
#include <span>
#include <stdexcept>

namespace tally::oracle {
namespace {

double power_less_one(double h, double u) { return std::expm1(h * std::log1p(u)); }

/// A partial sum: the sizes of its addends in all, and what the additions so far have cost it.
struct Partial {
  double size = 0, growth = 0;
};
using Partials = std::vector<Partial>;

Partial all_of(const Partials& parts) {
  Partial all;
  for (const Partial& part : parts) all.size += part.size, all.growth += part.growth;
  return all;
}

/// Additions under way. Those of one level are made side by side.
class Additions {
 public:
  Additions(double u, bool places_known) : u_(u), places_known_(places_known) {}

  /// From here on additions are side by side with the first ones, as those of another chunk are.
  void again() { level_ = 0; }

  Partial take(std::span<const SumStep> steps, Partials parts) {
    for (const SumStep& step : steps) {
      const auto number = static_cast<std::size_t>(step.number), n = parts.size();
      if (n < 2) break;
      if (step.kind == SumStep::in_order_below && n < number) parts = folded(parts, 1, 1, 0, n);
      if (step.kind == SumStep::runs) parts = folded(parts, (n + number - 1) / number, 1, number, number);
      if (step.kind == SumStep::lanes) parts = folded(parts, std::min(n, number), number, 1, (n + number - 1) / number);
      if (step.kind == SumStep::tree) parts = {through(all_of(parts), static_cast<double>(std::bit_width(n - 1)))};
    }
    return in_any_order(parts);
  }

  double squares() const {
    double sum = 0;
    for (const double size : levels_) sum += size * size;
    return sum;
  }

 private:
  /// `left` sums of at most `count` partial sums each: sum i begins with i * apart and goes on in strides, one after
  /// another. Where nobody knows which they are, the largest are together and pass through all additions.
  Partials folded(Partials parts, std::size_t left, std::size_t stride, std::size_t apart, std::size_t count) {
    if (!places_known_) {
      const Partial all = through(all_of(parts), static_cast<double>(count - 1));
      std::ranges::sort(parts, std::greater<>(), &Partial::size);
      Partials sums(left);
      for (std::size_t i = 0; i < parts.size(); ++i) sums[i / count].size += parts[i].size;
      sums[0].growth = all.growth;
      return sums;
    }
    Partials sums;
    for (std::size_t i = 0; i < left; ++i) {
      std::size_t next = i * apart;
      Partial sum = parts[next];
      for (std::size_t n = 1; n < count && (next += stride) < parts.size(); ++n) {
        const double size = sum.size + parts[next].size;
        sum = {size, (sum.growth + parts[next].growth) * (1 + u_) + u_ * size};
        add_to_level(level_ + n - 1, size);
      }
      sums.push_back(sum);
    }
    level_ += count - 1;
    return sums;
  }

  /// Every one of them through that many additions.
  Partial through(Partial all, double additions) {
    const double grown = power_less_one(additions, u_);
    for (double level = 0; level < additions; ++level) add_to_level(level_++, all.size);
    return {all.size, all.growth * (1 + grown) + grown * all.size};
  }

  /// The chain that begins with the largest has the largest partial sums of all trees.
  Partial in_any_order(Partials parts) {
    if (parts.size() < 2) return all_of(parts);
    std::ranges::sort(parts, std::greater<>(), &Partial::size);
    const Partial all = all_of(parts);
    const double grown = power_less_one(static_cast<double>(parts.size()) - 1, u_);
    double sum = parts[0].size, sums = 0;
    for (std::size_t i = 1; i < parts.size(); ++i) {
      sum += parts[i].size;
      sums += sum;
      add_to_level(level_++, sum);
    }
    return {all.size, all.growth * (1 + grown) + std::min(u_ * (1 + grown) * sums, grown * all.size)};
  }

  void add_to_level(std::size_t level, double size) {
    if (level >= levels_.size()) levels_.resize(level + 1);
    levels_[level] += size;
  }

  double u_;
  bool places_known_;
  std::size_t level_ = 0;
  std::vector<double> levels_;  // the sizes of the partial sums that a level makes, together
};

Partials addends(std::span<const double> sizes) {
  Partials parts;
  parts.reserve(sizes.size());
  for (const double size : sizes) parts.push_back({size, 0});
  return parts;
}

/// The binary64 arithmetic above errs by a rounding an addition, of terms that are not negative.
SumCost paid(double growth, double squares, double count) {
  const double pays = 1 + (count + 64) * 0x1p-51;
  return {growth * pays, squares * pays};
}

void require(const OrderOfSum& order) {
  const std::string wrong = wrong_with(order);
  if (!wrong.empty()) throw std::logic_error("an order of additions with " + wrong);
}

}  // namespace

SumCost cost_of(double height, double u, double size) {
  return {power_less_one(height, u) * size, height * size * size};
}

SumCost cost_of(const OrderOfSum& order, double u, const std::vector<double>& sizes) {
  require(order);
  if (!order.empty() && order.front().kind == SumStep::chunks)
    return cost_of(order, u, std::vector<std::vector<double>>{sizes});
  Additions additions(u, true);
  const Partial sum = additions.take(order, addends(sizes));
  return paid(sum.growth, additions.squares(), static_cast<double>(sizes.size()));
}

SumCost cost_of(const OrderOfSum& order, double u, const std::vector<std::vector<double>>& tensors) {
  require(order);
  if (order.empty() || order.front().kind != SumStep::chunks) {
    throw std::logic_error("an order of a sum over tensors without chunks");
  }
  const auto meets = [](const SumStep& step) { return step.kind == SumStep::meet; };
  const auto at = static_cast<std::size_t>(std::ranges::find_if(order, meets) - order.begin());
  const auto length = static_cast<std::size_t>(order.front().number);
  const std::span<const SumStep> steps(order);
  Additions inside(u, true), behind(u, false);
  Partials chunks;
  double count = 0;
  for (const auto& sizes : tensors) {
    count += static_cast<double>(sizes.size());
    for (std::size_t first = 0; first < sizes.size(); first += length) {
      inside.again();
      const auto chunk = std::span(sizes).subspan(first, std::min(length, sizes.size() - first));
      chunks.push_back(inside.take(steps.subspan(1, at - 1), addends(chunk)));
    }
  }
  const Partial sum = behind.take(steps.subspan(at + 1), std::move(chunks));
  return paid(sum.growth, inside.squares() + behind.squares(), count);
}

namespace {

using Rows = Matrix<float>;

/// `left` rows of at most `count` rows each: row i begins with row i * apart and goes on in strides.
Rows folded(const Rows& rows, Eigen::Index left, Eigen::Index stride, Eigen::Index apart, Eigen::Index count) {
  Rows sums(left, rows.cols());
  for (Eigen::Index i = 0; i < left; ++i) {
    Eigen::Index next = i * apart;
    sums.row(i) = rows.row(next);
    for (Eigen::Index n = 1; n < count && (next += stride) < rows.rows(); ++n) sums.row(i) += rows.row(next);
  }
  return sums;
}

/// Halves onto each other until one row is left.
Rows in_pairs(Rows rows) {
  while (rows.rows() > 1) {
    const Eigen::Index left = (rows.rows() + 1) / 2;
    rows = folded(rows, left, left, 1, 2);
  }
  return rows;
}

bool is_of_one_tensor(const OrderOfSum& steps) {
  return !steps.empty() && std::ranges::none_of(steps, [](const SumStep& step) { return step.kind == SumStep::meet; });
}

}  // namespace

const std::vector<TriedOrder>& tried_orders() {
  static const std::vector<TriedOrder> orders = {
      {{}},
      {{}, true},
      {{{SumStep::tree}}},
      {{{SumStep::lanes, 32}, {SumStep::tree}}},
      {{{SumStep::runs, 8}, {SumStep::tree}}},
      {{}, false, true},
  };
  return orders;
}

Matrix<float> added(const TriedOrder& order, const OrderOfSum& claimed, Matrix<float> addends) {
  Rows rows = order.backwards ? Rows(addends.colwise().reverse()) : std::move(addends);
  const OrderOfSum& steps = order.as_claimed && is_of_one_tensor(claimed) ? claimed : order.steps;
  for (const SumStep& step : steps) {
    const Eigen::Index number = step.number, n = rows.rows();
    if (n < 2) break;
    if (step.kind == SumStep::in_order_below && n < number) rows = folded(rows, 1, 1, 0, n);
    if (step.kind == SumStep::runs) rows = folded(rows, (n + number - 1) / number, 1, number, number);
    if (step.kind == SumStep::lanes) {
      rows = folded(rows, std::min(n, number), number, 1, (n + number - 1) / number);
    }
    if (step.kind == SumStep::tree) rows = in_pairs(std::move(rows));
  }
  if (rows.rows() == 0) return Rows::Zero(1, rows.cols());
  return folded(rows, 1, 1, 0, rows.rows());
}

double added(const TriedOrder& order, const OrderOfSum& claimed, const std::vector<double>& addends) {
  Rows rows(static_cast<Eigen::Index>(addends.size()), 1);
  for (std::size_t i = 0; i < addends.size(); ++i) {
    rows(static_cast<Eigen::Index>(i), 0) = static_cast<float>(addends[i]);
  }
  return added(order, claimed, std::move(rows))(0, 0);
}

Matrix<double> multiplied(const TriedOrder& order, const OrderOfSum& claimed, const Matrix<double>& c,
                          const Matrix<double>& a, const Matrix<double>& b) {
  const bool onto = c.size() != 0;
  const Eigen::Index k = a.cols();
  const Rows left = a.cast<float>(), right = b.cast<float>();
  Matrix<double> product(a.rows(), b.cols());
  Rows addends(k + (onto ? 1 : 0), b.cols());
  for (Eigen::Index i = 0; i < a.rows(); ++i) {
    for (Eigen::Index n = 0; n < k; ++n) addends.row(n) = left(i, n) * right.row(n);
    if (onto) addends.row(k) = c.row(i).cast<float>();
    product.row(i) = added(order, claimed, addends).cast<double>();
  }
  return product;
}

}  // namespace tally::oracle
