// A real number that is proven to lie in a ball: a midpoint with any number of bits and a radius that every operation
// carries on (FLINT's Arb). Light to include: the library stays behind the sources.
//
// What is asked of a ball and cannot be told from it (which of two overlapping balls is larger, whether one that
// reaches over 0 is 0, the quotient by it) throws Undecided; more bits may settle it. A number that is held without
// error, a point, decides ties exactly.
// Defined in ball.cpp, decimal_text.cpp.
#pragma once

#include <Eigen/Core>
#include <array>
#include <concepts>
#include <cstdint>
#include <stdexcept>
#include <string>

namespace tally::oracle {

/// The enclosures at hand do not tell what was asked.
class Undecided : public std::runtime_error {
  using std::runtime_error::runtime_error;
};

/// f(), with the place put before what it leaves undecided.
template <class F>
auto naming(const std::string& place, F&& f) {
  try {
    return f();
  } catch (const Undecided& open) {
    throw Undecided(place + ": " + open.what());
  }
}

class Ball {
 public:
  Ball() noexcept { clear(); }
  template <std::integral I>
  Ball(I value) : Ball() {
    set(static_cast<std::int64_t>(value));
  }
  template <std::floating_point F>
  Ball(F value) : Ball() {
    set(static_cast<long double>(value));
  }
  Ball(const Ball& other);
  Ball(Ball&& other) noexcept;
  Ball& operator=(const Ball& other);
  Ball& operator=(Ball&& other) noexcept;
  ~Ball();

  Ball& operator+=(const Ball& other) { return *this = *this + other; }
  Ball& operator-=(const Ball& other) { return *this = *this - other; }
  Ball& operator*=(const Ball& other) { return *this = *this * other; }
  Ball& operator/=(const Ball& other) { return *this = *this / other; }

  friend Ball operator+(const Ball& x, const Ball& y);
  /// One object minus itself is 0, times itself not negative.
  friend Ball operator-(const Ball& x, const Ball& y);
  friend Ball operator*(const Ball& x, const Ball& y);
  /// By 0 as IEEE 754 has it, that 0 being +0. Undecided where the divisor only may be 0.
  friend Ball operator/(const Ball& x, const Ball& y);
  friend Ball operator-(const Ball& x);

  /// Comparisons with NaN are false, as IEEE 754 has it. Undecided where the balls overlap and are not two points.
  friend bool operator<(const Ball& x, const Ball& y);
  friend bool operator==(const Ball& x, const Ball& y);
  friend bool operator<=(const Ball& x, const Ball& y);
  friend bool operator>(const Ball& x, const Ball& y) { return y < x; }
  friend bool operator>=(const Ball& x, const Ball& y) { return y <= x; }
  friend bool operator!=(const Ball& x, const Ball& y) { return !(x == y); }

  /// The library's view (oracle/real/ball_view.hpp).
  void* storage() { return words_.data(); }
  const void* storage() const { return words_.data(); }
  /// Known to be 0 or more by how it came about, though the ball itself may reach below.
  bool non_negative() const { return non_negative_; }
  void set_non_negative(bool known) { non_negative_ = known; }

 private:
  void clear() noexcept;
  void set(std::int64_t value);
  void set(long double value);

  alignas(8) std::array<std::uint64_t, 6> words_;
  bool non_negative_ = true;
};

Ball exp(const Ball& x);
Ball log1p(const Ball& x);
Ball tanh(const Ball& x);
Ball cosh(const Ball& x);
Ball cos(const Ball& x);
Ball sin(const Ball& x);
Ball erf(const Ball& x);
Ball erfc(const Ball& x);
/// The root, NaN below 0; that of the ball's part from 0 on where x is known not to be negative.
Ball sqrt(const Ball& x);
Ball magnitude(const Ball& x);
bool is_nan(const Ball& x);
bool is_finite(const Ball& x);
/// The integer that a point holds.
std::int64_t to_integer(const Ball& x);
/// x^n, n >= 0.
Ball power(const Ball& x, std::int64_t n);
/// Continuous, so that nothing need be decided: an enclosure of the larger (smaller) one, NaN where x is.
Ball larger(const Ball& x, const Ball& y);
Ball smaller(const Ball& x, const Ball& y);
/// For choices on which the result does not depend: true only where it is certain.
bool surely_greater(const Ball& x, const Ball& y);
Ball pi_ball();

/// Bits of the midpoints of every result in this thread, until the block ends.
class BitsScope {
 public:
  explicit BitsScope(unsigned now);
  ~BitsScope();
  BitsScope(const BitsScope&) = delete;
  BitsScope& operator=(const BitsScope&) = delete;

 private:
  unsigned before_;
};
unsigned ball_bits();

/// The nearest long double to the midpoint, and the largest distance of the number from it, rounded up.
struct Nearest {
  long double value = 0, off = 0;
};
Nearest nearest(const Ball& x);

/// 10^digits * (most that `part` can be) <= (least that `whole` can be), in magnitude.
bool negligible(const Ball& part, const Ball& whole, unsigned digits);
/// The one of two numbers whose least magnitude is larger: no other number of a group is known to be larger than that.
const Ball& larger_for_certain(const Ball& x, const Ball& y);
bool may_be_zero(const Ball& x);
/// "[1.25e-9 +/- 3e-12]", for messages.
std::string shown(const Ball& x);

}  // namespace tally::oracle

namespace Eigen {
template <>
struct NumTraits<tally::oracle::Ball> : GenericNumTraits<tally::oracle::Ball> {
  using Real = tally::oracle::Ball;
  using NonInteger = tally::oracle::Ball;
  using Literal = tally::oracle::Ball;
  using Nested = tally::oracle::Ball;
  enum {
    IsComplex = 0,
    IsInteger = 0,
    IsSigned = 1,
    RequireInitialization = 1,
    ReadCost = 4,
    AddCost = 40,
    MulCost = 40
  };
};
}  // namespace Eigen
