// One tensor of a subject held against its expectation: the census, the worst element, the verdict.
#pragma once

#include <functional>
#include <limits>
#include <memory>
#include <optional>
#include <string>

#include "oracle/case/tensors/tensor.hpp"
#include "oracle/tolerance/expected.hpp"
#include "reports/record/record.hpp"

namespace tally {

/// What a check is about.
struct Place {
  std::string lens, tap, stage;
};

/// Element by element: accepted on |got - v| <= e (so NaN fails).
///   v non-finite, e = 0  the subject must be non-finite too;
///   e infinite           undecided: counted uninformative, and the tensor is vacuous;
///   overflow             inf is accepted where |v| + e reaches the format's threshold, demanded where |v| - e does.
/// Vacuous when |e|_2 >= |v|_2; a tensor whose exact value is known to be zero throughout (as far as long double can
/// tell) is a zero_signal, judged against e. What is undecided, or as long as the subject's own value, is none.
/// Integers are compared exactly.
TensorCheck judge(const Place& place, const oracle::Expected& expected, const Tensor& got);

/// Is shown every tensor that judge() holds on this thread, for as long as it lives: for statistics over elements.
/// Judging does not change. The newest of several sees.
class JudgeObserver {
 public:
  using See = std::function<void(const Place& place, const oracle::Expected& expected, const Tensor& got)>;
  explicit JudgeObserver(See see);
  ~JudgeObserver();
  /// Whether one sees this thread.
  static bool present();
  JudgeObserver(const JudgeObserver&) = delete;
  JudgeObserver& operator=(const JudgeObserver&) = delete;

 private:
  friend TensorCheck judge(const Place& place, const oracle::Expected& expected, const Tensor& got);
  See see_;
  const JudgeObserver* before_;
};

/// Against bits that are known; no observer sees it, as there is no bound. A wrong bit is over it.
TensorCheck judge_bits(const Place& place, const oracle::Expected& known, const Tensor& got);
/// The same of floats; what is equal throughout is told without a second copy.
TensorCheck judge_bits(const Place& place, const oracle::Matrix<float>& known, const Tensor& got);

/// judge() of a tensor of which no more than a stretch is expected at a time: the same but for the profile of a failing
/// one. No observer sees it.
class StretchJudge {
 public:
  StretchJudge(const Place& place, const Tensor& got);
  ~StretchJudge();
  /// The next elements, row-major from the first on.
  void hold(const oracle::Expected& next);
  /// Once all are held.
  TensorCheck finish();

 private:
  struct Held;
  std::unique_ptr<Held> held_;
};

/// A check that could not be made because the tap is missing.
TensorCheck not_run(const Place& place);

// What is found of one tensor while it is held against its expectation: the census, the worst element, the verdict.

/// One element: exact value, bound and what came, the error, and where its format overflows.
struct HeldElement {
  double v, e, got, error, threshold;
};

/// What the last rounding of a number may err by: half an ulp of the format that it is stored in.
class LastRounding {
 public:
  explicit LastRounding(Dtype dtype);
  /// Half an ulp at the larger of two sizes; 0 for integers.
  double at(double v, double got) const;

 private:
  double least_ = 0, share_ = 0;
};

/// The share of a bound that is used beyond the last rounding u; of a broken bound r, which is `ratio`. 0 where there is
/// no room for a second rounding as large, and where the bits are known.
double excess_of(const HeldElement& x, double u, double ratio);

/// judge() in its parts: elements are held in row-major order, any number at a time.
class TensorVerdict {
 public:
  TensorVerdict(const Place& place, const Tensor& got);

  /// The next elements.
  void hold(const oracle::Expected& expected);
  /// The subject's own bits are those expected. False where one of them is not finite, as each of these is judged.
  bool hold_equal(const oracle::Matrix<float>& both);
  /// Throws std::logic_error unless all elements are held: an element that was not judged is not inside its bound.
  TensorCheck finish();

 private:
  struct Sums {
    double v = 0, e = 0, error = 0;
  };
  struct Stretch;

  HeldElement element(long double v, double e, long double got) const;
  void hold_integers(const Stretch& next);
  Eigen::Index after_plain_ones(Eigen::Index i, const Stretch& next);
  void examine(std::size_t i, const HeldElement& x);
  void keep(std::size_t i, const HeldElement& x, double ratio);

  const Tensor& got_;
  std::optional<oracle::FloatView> floats_;  // of got, unless it holds integers
  Eigen::Index held_ = 0;                    // elements so far
  double threshold_;
  LastRounding last_;
  TensorCheck check_;
  Sums squares_;
  bool undecided_ = false, zero_ = true;
};

/// The position of element i in a tensor of this shape.
std::vector<std::int64_t> index_in(std::size_t i, const std::vector<std::int64_t>& shape);

// Whether elements are whole numbers, and the ratio to its bound of one that is not bounded.

inline constexpr double infinite = std::numeric_limits<double>::infinity();

inline bool is_integer(Dtype dtype) { return dtype == Dtype::i64 || dtype == Dtype::u8; }

// Where in a failing tensor the errors are: its worst elements, and its errors along the tensor.

inline constexpr std::size_t listed_elements = 8;

/// Fills in the worst elements and the profile of a check that failed. `expected` has as many elements as `got`.
void add_profile(TensorCheck& check, const oracle::Expected& expected, const Tensor& got);

}  // namespace tally
