// Exact values from proven enclosures: the same rules with v in ball arithmetic in the place of long double, so that
// the two can be compared.
#pragma once

#include <cstdint>

#include "oracle/layers/exact.hpp"
#include "oracle/real/ball.hpp"

namespace tally::oracle {

/// In this thread, until the block ends: the layers' and losses' exact functions are evaluated in balls, of fixed size
/// (oracle/real/short_ball.hpp) where that is enough, else of any (oracle/real/ball.hpp), with as many bits as it takes
/// that every element is known to 2^-63 of itself, or to 2^-300 of the tensor's largest. What no precision decides keeps its long double value and is counted.
class CertifyingScope {
 public:
  CertifyingScope();
  ~CertifyingScope();
  CertifyingScope(const CertifyingScope&) = delete;
  CertifyingScope& operator=(const CertifyingScope&) = delete;

  std::uint64_t evaluated() const { return evaluated_; }
  std::uint64_t undecided() const { return undecided_; }
  void count(bool decided) { ++(decided ? evaluated_ : undecided_); }

 private:
  CertifyingScope* before_;
  std::uint64_t evaluated_ = 0, undecided_ = 0;
};

/// The newest one of this thread; nullptr outside.
CertifyingScope* certifying();

ForwardResult<long double> certified_forward(const Pass<long double>& pass, const Matrix<long double>& x);
BackwardResult<long double> certified_backward(const Pass<long double>& pass, const Matrix<long double>& x,
                                               const Matrix<long double>& dy);
LossResult<long double> certified_loss(const Choice& loss, const Matrix<long double>& y,
                                       const Matrix<long double>& target, const Matrix<long double>& item_weight,
                                       const Matrix<long double>& row_factor);

/// The precisions of certified values in bits, and whether an enclosure is narrow enough at the one in force.
inline constexpr unsigned certifying_bits[] = {128, 256, 512, 1024, 2048};
bool narrow(const Nearest& held, long double largest);

/// The nearest long doubles of a tensor. Throws Undecided where one is not narrow.
Matrix<long double> nearest_of(const Matrix<Ball>& x);

}  // namespace tally::oracle
