// One tensor of a subject held against its expectation: the census, the worst element, the verdict.
#pragma once

#include <functional>
#include <memory>
#include <string>

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

}  // namespace tally
