#include "oracle/operations/products.hpp"

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <cstring>

#include "oracle/real/threads.hpp"

namespace tally::oracle::operations {
namespace {

using Demands = std::vector<Demand>;
constexpr std::int64_t lanes = 16;  // columns of one panel
constexpr std::int64_t tile = 4;    // rows of one pass over a panel

/// Eight numbers: one register, or the halves and quarters of narrower ones. The operations are the same.
typedef double Eight __attribute__((vector_size(64)));

/// sums[r][j] = sum over p of a[r k + p] panel[p lanes + j].
TALLY_WIDE_REGISTERS void multiply(const double* a, const double* panel, std::int64_t k, double* sums) {
  Eight acc[tile][2] = {};
  for (std::int64_t p = 0; p < k; ++p) {
    Eight b[2];
    std::memcpy(b, panel + p * lanes, sizeof b);
    for (std::int64_t r = 0; r < tile; ++r) {
      const double x = a[r * k + p];
      acc[r][0] += x * b[0];
      acc[r][1] += x * b[1];
    }
  }
  std::memcpy(sums, acc, sizeof acc);
}

struct Cost {
  double kappa, u;
  bool exact_grid;  // operands are not cut, and sums are kept in fp32
  double lost;      // of a product below the normal range
};

/// The largest power of two of which all of these are multiples; 0 where one of them needs more than 24 bits of it, or is
/// not finite.
double common_unit(const double* values, std::int64_t count) {
  constexpr int none = 5000, bits_of_fp32 = 24;
  int least = none, most = -none;
  for (std::int64_t i = 0; i < count; ++i) {
    if (values[i] == 0) continue;
    if (!std::isfinite(values[i])) return 0;
    const auto bits = std::bit_cast<std::uint64_t>(values[i]);
    const int exponent = static_cast<int>(bits >> 52 & 2047) - 1023;
    const std::uint64_t fraction = (bits & ((std::uint64_t{1} << 52) - 1)) | std::uint64_t{1} << 52;
    least = std::min(least, exponent - 52 + std::countr_zero(fraction));
    most = std::max(most, exponent);
    if (most - least > bits_of_fp32) return 0;
  }
  return least == none ? 1 : std::ldexp(1.0, least);
}

/// What a row's numbers are multiples of, and the sum of their sizes: products of two rows add up
/// exactly, in any order, where no partial sum needs more bits of the product of their units than there are.
struct Grid {
  double unit = 0, most = 0, count = 0;
  bool exact = false;  // of two rows
  /// `u`: the unit roundoff of what the sums are kept in.
  Grid times(const Grid& other, double u) const {
    Grid both{unit * other.unit, most * other.most * count, count};
    both.exact = both.unit > 0x1p-126 && both.most * u <= both.unit;
    return both;
  }
};

Grid grid_of(const double* values, std::int64_t k) {
  Grid grid{common_unit(values, k), 0, static_cast<double>(k)};
  if (grid.unit == 0) return grid;
  for (std::int64_t i = 0; i < k; ++i) grid.most = std::max(grid.most, std::fabs(values[i]));
  return grid;
}

/// What one part of a result is worked out with.
class Worker {
 public:
  Worker(const SumOfProducts& of, Element element, Cost cost) : of_(of), element_(element), cost_(cost) {}

  void fill(Part& part) {
    const std::int64_t first = part.first / of_.n, end = (part.first + part.count) / of_.n;
    for (std::int64_t row = first; row < end;) {
      const std::int64_t batch = row / of_.m, stop = std::min(end, (batch + 1) * of_.m);
      rows(part, batch, row - batch * of_.m, stop - batch * of_.m, (row - first) * of_.n);
      row = stop;
    }
  }

 private:
  void rows(Part& part, std::int64_t batch, std::int64_t first, std::int64_t end, std::int64_t at) {
    const std::int64_t count = end - first, k = of_.k, padded = (count + tile - 1) / tile * tile;
    a_.assign(static_cast<std::size_t>(padded * k), 0);
    grid_of_a_.resize(static_cast<std::size_t>(count));
    for (std::int64_t i = 0; i < count; ++i) {
      of_.a(batch, first + i, a_.data() + i * k);
      grid_of_a_[static_cast<std::size_t>(i)] = grid_of(a_.data() + i * k, k);
    }
    if (of_.c) {
      c_.resize(static_cast<std::size_t>(count * of_.n));
      of_.c->read((batch * of_.m + first) * of_.n, count * of_.n, c_.data());
    }
    b_.resize(static_cast<std::size_t>(lanes * k));
    panel_.resize(b_.size());
    double sums[tile * lanes];
    for (std::int64_t j = 0; j < of_.n; j += lanes) {
      const std::int64_t width = std::min(lanes, of_.n - j);
      std::fill(b_.begin(), b_.end(), 0.0);
      Grid grid_of_b[lanes];
      for (std::int64_t l = 0; l < width; ++l) {
        of_.b(batch, j + l, b_.data() + l * k);
        grid_of_b[l] = grid_of(b_.data() + l * k, k);
      }
      for (std::int64_t p = 0; p < k; ++p)
        for (std::int64_t l = 0; l < lanes; ++l)
          panel_[static_cast<std::size_t>(p * lanes + l)] = b_[static_cast<std::size_t>(l * k + p)];
      for (std::int64_t i = 0; i < count; i += tile) {
        multiply(a_.data() + i * k, panel_.data(), k, sums);
        for (std::int64_t r = 0; r < std::min(tile, count - i); ++r)
          for (std::int64_t l = 0; l < width; ++l)
            element(part, at + (i + r) * of_.n + j + l,
                    of_.c ? c_[static_cast<std::size_t>((i + r) * of_.n + j + l)] : 0, a_.data() + (i + r) * k,
                    b_.data() + l * k, sums[r * lanes + l],
                    grid_of_a_[static_cast<std::size_t>(i + r)].times(grid_of_b[l], cost_.u));
      }
    }
  }

  /// The magnitude is worked out where a smaller bound, with |v| in its place, does not hold the element already, and of
  /// some elements for the record; e is then given below 0: it is no measure of how near the error comes to the bound.
  void element(Part& part, std::int64_t at, double c, const double* a, const double* b, double product, Grid grid) {
    c *= of_.beta;
    const double v = of_.alpha * product + c, found = part.found[at];
    part.v[at] = v;
    const bool drawn = is_drawn(part.first + at);
    if (!drawn && !grid.exact && std::isfinite(v)) {
      const double least = cost_.kappa * std::fabs(v);
      const bool half = is_half(element_);
      if (half ? surely_legal(found, v, element_) : std::fabs(found - v) <= least) {
        part.e[at] = -std::fabs(found - v);
        return;
      }
    }
    const Arithmetic& storage = arithmetic_of(element_);
    const double flushed = static_cast<double>(of_.k) * cost_.lost, threshold = fp32().threshold();
    double magnitude = 0, squares = 0, partial = 0, largest = 0;
    for (std::int64_t p = 0; p < of_.k; ++p) {
      const double x = a[p] * b[p];
      magnitude += std::fabs(x);
      squares += x * x;
      partial += x;
      largest = std::max(largest, std::fabs(partial));
    }
    magnitude = std::fabs(of_.alpha) * magnitude + std::fabs(c);
    if (!std::isfinite(v) || !std::isfinite(magnitude)) {
      part.e[at] = std::isfinite(v) ? infinite : 0;
      return;
    }
    const bool exact = cost_.exact_grid && of_.alpha == 1 && c == 0 && grid.exact;
    const double e = exact ? 0 : (cost_.kappa * magnitude + flushed) * inflation;
    if (magnitude * (1 + cost_.kappa) >= threshold) {
      part.e[at] = infinite;
      return;
    }
    const Bounded stored = storage.store({v, e});
    part.v[at] = stored.v;
    part.e[at] = stored.e;
    const double roundings = std::sqrt(static_cast<double>(of_.k) / 3) * cost_.u;
    double deviation = roundings * (std::fabs(of_.alpha) * std::max(std::sqrt(squares), largest) + std::fabs(v));
    if (std::fabs(part.found[at] - v) > deviation) {
      std::vector<double> addends(static_cast<std::size_t>(of_.k));
      for (std::size_t p = 0; p < addends.size(); ++p) addends[p] = of_.alpha * a[p] * b[p];
      deviation *= together(std::move(addends), cost_.u, magnitude);
    }
    deviation += flushed;  // instructions of dot products may flush each product
    if (is_half(element_)) deviation += (storage.u() * std::fabs(v) + storage.underflow()) / std::sqrt(3.0);
    if (drawn) part.s[at] = deviation;  // others are chosen by their errors
  }

  /// Enough elements to tell how errors spread, whatever they are: one in 64, and in 1,024 of a large result.
  bool is_drawn(std::int64_t index) const {
    const std::int64_t all = of_.batches * of_.m * of_.n;
    if (of_.k < 64 || all < 4096) return true;
    const bool large = all >= 1 << 16;
    return static_cast<std::uint64_t>(index) * 0x9e3779b97f4a7c15u >> (large ? 54 : 58) == 0;
  }

  const SumOfProducts& of_;
  Element element_;
  Cost cost_;
  std::vector<double> a_, b_, c_, panel_;
  std::vector<Grid> grid_of_a_;
};

}  // namespace

TALLY_WIDE_REGISTERS void add_scaled(double x, const double* __restrict row, std::int64_t n, double* __restrict sums,
                                     double* __restrict sizes) {
  for (std::int64_t j = 0; j < n; ++j) {
    const double product = x * row[j];
    sums[j] += product;
    sizes[j] += std::fabs(product);
  }
}

TALLY_WIDE_REGISTERS void add_sizes(double x, const double* __restrict row, std::int64_t n, double* __restrict sums) {
  for (std::int64_t j = 0; j < n; ++j) sums[j] += x * std::fabs(row[j]);
}

Summed summed(const Arithmetic& a, const double* values, std::int64_t count, double more) {
  double sum = 0, lost = 0, magnitude = 0, squares = 0, finite = 0, largest = 0;
  for (std::int64_t i = 0; i < count; ++i) {
    const double x = values[i], next = sum + x;
    lost += std::fabs(sum) >= std::fabs(x) ? (sum - next) + x : (x - next) + sum;
    sum = next;
    largest = std::max(largest, std::fabs(sum));
    const double size = std::fabs(x);
    magnitude += size;
    squares += x * x;
    if (std::isfinite(x)) finite += size;
  }
  const double additions = static_cast<double>(std::max<std::int64_t>(count - 1, 0));
  if (!std::isfinite(sum)) return {{sum, finite * (1 + gam(additions, a.u())) < a.threshold() ? 0 : infinite}, NAN};
  const double v = sum + lost, cost = gam(additions + more, a.u());
  if (magnitude * (1 + cost) >= a.threshold()) return {{v, infinite}, NAN};
  const bool grid = more == 0 && magnitude * a.u() <= common_unit(values, count);
  const double e = grid ? 0 : cost * magnitude * inflation;
  return {{v, e},
          a.u() * std::sqrt(static_cast<double>(count) / 3) * (std::max(std::sqrt(squares), largest) + std::fabs(v))};
}

double together(std::vector<double> addends, double u, double magnitude) {
  return std::sqrt(alike(std::move(addends), quarter_ulp(u, magnitude)));
}

RowOf rows_of(const View& matrix) {
  const std::int64_t rows = matrix.size(1), columns = matrix.size(2);
  return [=](std::int64_t batch, std::int64_t row, double* out) {
    matrix.read((batch * rows + row) * columns, columns, out);
  };
}

Demand sum_of_products(const Call& call, const Profile& profile, const std::string& output, const View& found,
                       SumOfProducts products) {
  expect_sizes(found.count() == products.batches * products.m * products.n);
  const bool halves = is_half(found.element);
  const double k = products.addends > 0 ? products.addends : static_cast<double>(products.k);
  const bool scales = products.alpha != 1 || (products.c && products.beta != 1);
  double roundings = std::max(k - 1, 0.0) + (products.exact_products ? 0 : 1) + (products.c ? 1 : 0) + (scales ? 2 : 0);
  const double height = profile.number(call.name, found.element, "height", 0);
  if (height > 0) roundings = std::min(roundings, height);
  const bool in_storage = halves && profile.says(call.name, found.element, "adds_in_storage");
  const double u = in_storage ? arithmetic_of(found.element).u() : fp32().u();
  double kappa = gam(roundings, u);
  const bool cuts = profile.says(call.name, found.element, "tf32");
  if (cuts) kappa = (1 + kappa) * (1 + 0x1p-11) * (1 + 0x1p-11) - 1;
  // Instructions of dot products may flush.
  const double lost = 0x1p-126 + (in_storage ? arithmetic_of(found.element).underflow() : 0);
  // The second factor is read again for every part.
  constexpr std::int64_t elements = 1 << 18;
  const std::int64_t unit = std::max<std::int64_t>(products.n, 1);
  return {output,
          found,
          Demand::bound,
          unit,
          [=, products = std::move(products)](Part& part) {
            Worker(products, found.element, {kappa, u, !cuts && !in_storage, lost}).fill(part);
          },
          {},
          elements};
}

namespace {

View as_batch(View matrix) {
  while (matrix.dim() < 3) {
    matrix.sizes.insert(matrix.sizes.begin(), 1);
    matrix.strides.insert(matrix.strides.begin(), 0);
  }
  return matrix;
}

/// mm, bmm, addmm, baddbmm: beta c + alpha a b.
Demands matrix_product(const Call& call, const Profile& profile) {
  const View out = output_of(call);
  const bool onto = call.name == "addmm" || call.name == "baddbmm" || call.name == "addmv" || call.name == "addbmm";
  const char* first = call.name == "addmm" ? "mat1" : call.name == "baddbmm" ? "batch1" : "self";
  const char* second = call.name == "addmm" || call.name == "mm" || call.name == "bmm" ? "mat2" : "batch2";
  const View a = as_batch(call.tensor(first)), b = as_batch(call.tensor(second));
  if (!is_float(out.element) || !is_float(a.element)) throw NotJudged("a product of integers");
  format_of(out.element);
  format_of(a.element);
  if (a.dim() != 3 || b.dim() != 3 || a.size(2) != b.size(1) || a.size(0) != b.size(0))
    throw NotJudged("matrices that do not meet");
  SumOfProducts products{a.size(0),
                         a.size(1),
                         b.size(2),
                         a.size(2),
                         rows_of(a),
                         rows_of(b.permuted({0, 2, 1})),
                         is_half(a.element) && is_half(b.element)};
  if (onto) {
    products.alpha = static_cast<float>(call.number("alpha", 1));
    products.beta = static_cast<float>(call.number("beta", 1));
    if (products.beta != 0) products.c = as_batch(call.tensor("self")).expanded({a.size(0), a.size(1), b.size(2)});
  }
  return {sum_of_products(call, profile, output_name(call), out, std::move(products))};
}
const RegisterOperations matrix_products{{"mm", "bmm", "addmm", "baddbmm"}, matrix_product};

/// x w^T + b.
Demands linear(const Call& call, const Profile& profile) {
  const View out = output_of(call), x = call.tensor("input"), w = call.tensor("weight");
  format_of(x.element);
  const std::int64_t k = x.size(-1), n = w.size(0);
  if (w.dim() != 2 || w.size(1) != k) throw NotJudged("matrices that do not meet");
  SumOfProducts products{1,
                         out.count() / std::max<std::int64_t>(n, 1),
                         n,
                         k,
                         [=](std::int64_t, std::int64_t row, double* to) { x.read(row * k, k, to); },
                         [=](std::int64_t, std::int64_t row, double* to) { w.read(row * k, k, to); },
                         is_half(x.element)};
  if (const View* bias = call.tensor_or_none("bias")) products.c = as_batch(*bias).expanded({1, products.m, n});
  return {sum_of_products(call, profile, "result", out, std::move(products))};
}
const RegisterOperations linears{{"linear"}, linear};

/// A vector's products with another, or with the rows of a matrix.
Demands vector_product(const Call& call, const Profile& profile) {
  const View out = output_of(call), a = call.tensor("self");
  const View b = call.name == "dot" ? call.tensor("tensor") : call.tensor("vec");
  if (!is_float(out.element) || b.dim() != 1 || a.dim() != (call.name == "dot" ? 1 : 2))
    throw NotJudged("a product of other tensors than vectors of floats");
  format_of(out.element);
  const View vector = as_batch(b);
  return {sum_of_products(call, profile, output_name(call), out,
                          {1, out.count(), 1, b.count(), rows_of(as_batch(a)), rows_of(vector), is_half(a.element)})};
}
const RegisterOperations vector_products{{"dot", "mv"}, vector_product};

/// Rows of `self` by groups of experts: offs ends each group.
Demands grouped(const Call& call, const Profile& profile) {
  const View out = output_of(call), a = call.tensor("self"), b = call.tensor("mat2");
  if (!call.has("offs") || call.has("bias")) throw NotJudged("groups without offsets, or with a bias");
  format_of(a.element);
  std::vector<double> ends = call.tensor("offs").read();
  Demands all;
  std::int64_t start = 0;
  for (std::size_t g = 0; g < ends.size(); ++g) {
    const auto end = static_cast<std::int64_t>(ends[g]);
    const auto group = static_cast<std::int64_t>(g);
    const std::string name = "result, of group " + std::to_string(g);
    if (a.dim() == 2 && b.dim() == 3) {
      const View x = as_batch(a.narrowed(0, start, end - start)), w = as_batch(b.selected(0, group));
      all.push_back(sum_of_products(
          call, profile, name, out.narrowed(0, start, end - start),
          {1, end - start, w.size(2), x.size(2), rows_of(x), rows_of(w.permuted({0, 2, 1})), is_half(a.element)}));
    } else if (a.dim() == 2 && b.dim() == 2) {
      const View x = as_batch(a.narrowed(1, start, end - start)), w = as_batch(b.narrowed(0, start, end - start));
      all.push_back(sum_of_products(
          call, profile, name, out.selected(0, group),
          {1, x.size(1), w.size(2), end - start, rows_of(x), rows_of(w.permuted({0, 2, 1})), is_half(a.element)}));
    } else {
      throw NotJudged("groups of matrices of three dimensions");
    }
    start = end;
  }
  return all;
}
const RegisterOperations registered{{"_grouped_mm"}, grouped};

}  // namespace
}  // namespace tally::oracle::operations
