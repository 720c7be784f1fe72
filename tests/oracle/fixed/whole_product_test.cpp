#include <gtest/gtest.h>

#include <random>
#include <vector>

#include "oracle/fixed_point/routes.hpp"

namespace tally::oracle::fixed {
namespace {

struct Drawn {
  std::mt19937_64 random{5};
  std::vector<double> of(Eigen::Index count, double largest) {
    std::uniform_int_distribution<std::int64_t> whole(-static_cast<std::int64_t>(largest),
                                                      static_cast<std::int64_t>(largest));
    std::vector<double> result(static_cast<std::size_t>(count));
    for (double& x : result) x = static_cast<double>(whole(random));
    return result;
  }
};

std::vector<double> one_by_one(std::vector<double> c, const std::vector<double>& a, const std::vector<double>& b,
                               const ProductSizes& sizes, bool more) {
  for (Eigen::Index i = 0; i < sizes.rows; ++i)
    for (Eigen::Index j = 0; j < sizes.columns; ++j) {
      double& sum = c[static_cast<std::size_t>(i * sizes.columns + j)];
      if (!more) sum = 0;
      for (Eigen::Index k = 0; k < sizes.terms; ++k)
        sum += a[static_cast<std::size_t>(i * sizes.terms + k)] * b[static_cast<std::size_t>(k * sizes.columns + j)];
    }
  return c;
}

TEST(WholeProduct, HasEveryBitAtEverySizeOfItsLastBlocks) {
  Drawn drawn;
  for (const Eigen::Index rows : {1, 3, 4, 5, 9})
    for (const Eigen::Index columns : {1, 11, 12, 13, 25})
      for (const Eigen::Index terms : {1, 2, 31}) {
        const ProductSizes sizes{rows, terms, columns};
        const auto a = drawn.of(rows * terms, 0x1p24), b = drawn.of(terms * columns, 0x1p23);
        const auto before = drawn.of(rows * columns, 0x1p40);
        for (const bool more : {false, true}) {
          std::vector<double> c = before;
          multiply_wholes(c.data(), a.data(), b.data(), sizes, more);
          EXPECT_EQ(c, one_by_one(before, a, b, sizes, more)) << rows << " " << terms << " " << columns;
        }
      }
}

TEST(WholeProduct, RoundsNothingBelowTheLargestSum) {
  constexpr Eigen::Index terms = 64;
  constexpr double most = 0x1p23 + 1;  // 64 of its squares are just below 2^53
  const std::vector<double> a(terms, most), b(terms, most);
  double c = 3;
  multiply_wholes(&c, a.data(), b.data(), {1, terms, 1}, true);
  EXPECT_EQ(static_cast<std::int64_t>(c), terms * ((std::int64_t{1} << 23) + 1) * ((std::int64_t{1} << 23) + 1) + 3);
}

}  // namespace
}  // namespace tally::oracle::fixed
