// One walk through a training: what every stage reads, what it must leave, and whether it did. The lenses are policies
// of this walk: they differ in where a stage's inputs come from.
// Defined in walk.cpp, gradient.cpp, outputs.cpp, rank_stages.cpp, windows.cpp.
#pragma once

#include <deque>
#include <functional>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <tuple>
#include <unordered_map>
#include <vector>

#include "kernels/trace/trace.hpp"
#include "oracle/graph/layer_view.hpp"
#include "oracle/tolerance/predicted_bits.hpp"
#include "oracle/window/bound_stages.hpp"
#include "properties/judge/evaluation.hpp"
#include "properties/judge/lens.hpp"
#include "properties/judge/pieces.hpp"
#include "properties/judge/spread.hpp"
#include "properties/lenses/loop_deviation.hpp"
#include "properties/lenses/value.hpp"

namespace tally {

enum class Lens {
  local,       // from the trace: what a stage made of the bits that it read
  group,       // from the trace where there is a tap, else what the stages since the last taps were to leave
  end_to_end,  // what all stages were to leave from the case's bits on
};

/// As checks name it.
const char* word_of(Lens lens);

/// Branches taken over from the trace, among all that a tensor depends on.
struct DecisionCount {
  std::uint64_t adopted = 0, all = 0;
  void add(const DecisionCount& more) {
    adopted += more.adopted;
    all += more.all;
  }
  double share() const { return all == 0 ? 0 : static_cast<double>(adopted) / static_cast<double>(all); }
  /// More than 1 %: a tensor downstream is vacuous.
  bool too_many() const { return adopted * 100 > all; }
};

/// What a window starts from.
struct WindowState {
  std::map<std::string, Value> parameter;                  // by parameter, those that train and those that do not
  std::map<std::string, std::vector<Value>> optimizer;     // by parameter, in the order of state_of; unknown: none yet
  std::map<std::string, Value> running_mean, running_var;  // by layer label
  oracle::ExpectedScale scale;
  std::int64_t step = 0;
  bool stepped = false;         // a step was taken: state that is unknown is so because its tap is missing
  bool state_from_zero = true;  // of the optimizer: all of it came from gradients since
};

/// The tensors of one layer for a rule, as a stage read them for walk.micro_batch. Incomplete where one is unknown.
struct LayerInputs {
  std::map<std::string, Value> tensors;
  bool complete = true;
  void add(const std::string& name, Value value) {
    complete = complete && value.known();
    if (value.known()) tensors[name] = std::move(value);
  }
};

/// An output whose bits the subject's claim fixes. Where the prediction gives none, the bound alone holds.
struct Bits {
  std::function<oracle::Prediction()> predict = {};
  FailureClass inside_the_bound = FailureClass::logic;  // what a wrong bit is called that the bound admits
};

/// A window's gradients added one micro-batch after another.
struct SumInOrder {
  oracle::Expected bits;          // the buffer's, predicted
  oracle::Expected in_any_order;  // what it may be in another order
  oracle::Matrix<double> size;    // sum of magnitudes
  int additions = 0;
};

class Walk;

/// What the first of several ranks left behind the sum over ranks, window by window. Another rank that holds the same
/// bits there is judged the same: all of it follows from bits that both read.
class BehindTheSum {
 public:
  /// Where this rank holds in this window, and held in all before, what the first does: its checks, and what the next
  /// window reads. False where it does not, or nothing is known of the first.
  bool take_over(Walk& walk) const;
  /// Notes the checks of the first rank from `begin` on: those behind the sum of this window.
  void note(const Walk& first, std::size_t begin);

 private:
  struct Window {
    std::vector<TensorCheck> checks;
    WindowState state;
    bool skipped = false;
  };
  const Trace* trace_ = nullptr;
  std::vector<Window> windows_;
};

class Walk {
 public:
  Walk(const Case& the_case, const Trace& the_trace, Lens lens);

  const Case& c;
  const Trace& trace;
  const Lens lens;
  oracle::Declared declared;  // with what the lens asks of rules
  const std::vector<LayerView> layers;
  const std::vector<std::string> parameters, weights;  // those that train; those and the frozen ones
  WindowState state;
  int window = 0;
  int micro_batch = -1;  // -1 outside the stages of a micro-batch
  int pipe = -1;         // the stage of a pipeline whose taps are asked for; -1: of those that name none
  bool skipped = false;  // this window took no step
  std::vector<TensorCheck> checks;

  // What is asked of the walk.
  /// Where set: the taps whose bounds are split into terms. No other is judged; under the local lens no rule of another
  /// is called.
  const std::set<std::string>* wanted = nullptr;
  /// Else expectations are computed and nothing is held against them.
  bool judges = true;
  /// Where set: takes every tap that is held to an expectation or handed over, of those wanted. Local lens only.
  std::vector<HeldTensor>* kept = nullptr;
  /// Where set: every expectation, by tap. Other lenses only.
  std::map<std::string, oracle::Expected>* expected = nullptr;
  /// Where set: is told of every tap that was gone through, with its bytes. Local lens only.
  std::function<void(const std::string& tap, std::size_t bytes)> gone_through = {};
  /// Whether an input that is not tapped stands for what the stage before left and tapped. Local lens only.
  bool follows = false;
  /// Where set: what is expected instead of the recipe. Then the walk ends with the first tensor that fails, and the
  /// inputs that a deviation concerns are held as well. Not of the local lens.
  const LoopDeviation* deviation = nullptr;
  /// What several ranks share: `first` is set in the walk of the first of them, `like_first` in the others'. Local lens
  /// only.
  BehindTheSum* first = nullptr;
  const BehindTheSum* like_first = nullptr;

  // What the local lens keeps.
  std::optional<bool> overflows;  // what this window's gradients say of that, where all of them are tapped
  bool direct = false;            // gradients are written directly: no buffer
  bool follows_first = true;      // so far every window was like the first rank's
  std::set<std::string> unread;   // inputs that are not tapped, though what they must equal is known

  // What the other lenses keep.
  bool ended = false;                     // nothing can be expected any more
  DecisionCount count_before;             // decisions behind the state that this window starts from
  DecisionCount count;                    // and behind this window's buffers
  std::optional<DecisionCount> of_group;  // behind the micro-batches under way
  DecisionCount own_of_group;             // their own
  std::map<std::pair<int, std::size_t>, oracle::Decisions> decisions;  // by micro-batch and layer
  std::map<std::string, Value> buffers;                          // by parameter; absent before the first micro-batch
  std::map<std::string, std::vector<oracle::Expected>> addends;  // what compensated sums took in, by parameter
  std::map<std::string, SumInOrder> in_order;                    // by parameter, while its gradients are tapped
  std::map<std::string, Value> stepped;  // the last window's gradients behind the clip, where a deviation reads them

  std::map<std::string, Value> gradients;  // by parameter, fp32, from unscale to the optimizer

  bool is_local() const { return lens == Lens::local; }
  std::int64_t rows(int k) const { return sizes()[static_cast<std::size_t>(k)]; }
  int micro_batches() const { return static_cast<int>(sizes().size()); }
  std::int64_t first_row_of(int k) const {
    return first_row(c, static_cast<std::size_t>(window), static_cast<std::size_t>(k));
  }
  /// Every tap that is wanted was judged, or one fails that a deviation expects.
  bool is_done() const;

  // Where values come from.
  /// A tensor of the case. Lives as long as the walk.
  Value of_case(Tensor tensor);
  /// The rows of micro-batch k of a tensor over all rows of x.
  Value rows_of_case(const std::string& tensor, int k);
  /// What micro-batch k reads of the mask of a layer.
  Value mask_of(const LayerView& layer, int k);
  /// A vector as a column, so that each row has its own.
  Value as_column(const Value& vector);
  /// Zeros in the shape of a parameter.
  Value zeros(const std::string& parameter, Dtype dtype) { return of_case({dtype, c.tensors.at(parameter).shape}); }

  /// The tap of this window (and micro-batch), nullptr when it is missing.
  const Tensor* tap(const std::string& stage, const std::string& tensor) const {
    return tap(stage, tensor, micro_batch);
  }
  const Tensor* tap(const std::string& stage, const std::string& tensor, int k) const;
  std::string name(const std::string& stage, const std::string& tensor) const { return place(stage, tensor).tap; }
  /// What a stage of this window left: its tap, or what was expected of it and seen.
  Value left(const std::string& stage, const std::string& tensor) const { return left(stage, tensor, micro_batch); }
  Value left(const std::string& stage, const std::string& tensor, int k) const;
  /// In place of what an output left.
  void put(const std::string& stage, const std::string& tensor, Value value);
  /// What is known of a parameter's copy by now. Not of the local lens.
  void put_copy(const std::string& parameter, Value value);
  /// Forgets these micro-batches: nothing is read of them any more.
  void forget(int first, int last);

  /// A consumer's input, and the producer's bits when those are known; not of the local lens what was left.
  Value input(const std::string& stage, const std::string& tensor, const Value& producer);
  /// The same, held where there is a deviation and it was tapped.
  Value told_input(const std::string& stage, const std::string& tensor, const Value& producer);
  /// A constant that a stage reads, held where the lens holds inputs. Unknown where that lens has no tap of it.
  Value constant(const std::string& stage, const std::string& tensor, const oracle::Expected& expected);
  /// What layers read of a parameter: its cast copy, or, where no cast is tapped that would change a bit, itself.
  Value cast_copy(const std::string& parameter);
  /// A check that cannot be made where the tap is missing. Local lens only.
  const Tensor* require_tap(const std::string& stage, const std::string& tensor);
  /// Whether an output need not be held, as it is not tapped and what reads it is judged by what is.
  bool passes_over(const std::string& stage, const std::string& tensor) const {
    return is_local() && follows && tap(stage, tensor) == nullptr;
  }

  /// A value as the layer's rule takes it.
  static std::shared_ptr<const oracle::Expected> read(const LayerView& layer, const Value& value);
  /// What a layer read. The same numbers are read once: every micro-batch reads the same parameters.
  const oracle::ExpectedTensors& read(const LayerView& layer, const LayerInputs& inputs);

  /// An output against its expectation, its errors against their spread. Returns what its readers go on from.
  Value output(const std::string& stage, const std::string& tensor, const oracle::Expected& expected);
  Value output(const std::string& stage, const std::string& tensor, const Output& output,
               const std::vector<Direction>& directions = {}, const Bits& bits = {});
  /// The same for a rule with one output.
  Value output(const std::string& stage, const std::string& tensor, OneOutput rule,
               const std::vector<Direction>& directions = {}, const Bits& bits = {}, const SomeRows& some_rows = {});
  /// An output whose bits follow from what its stage read, whatever is claimed; `rule` bounds it where that has none.
  Value exact_output(const std::string& stage, const std::string& tensor,
                     const std::function<oracle::Matrix<float>()>& bits, const OneOutput& rule);
  /// Notes the failure of the check that was made last.
  void note_failure(FailureClass failure) {
    if (!checks.empty() && checks.back().status == Status::fail) checks.back().failure = failure;
  }
  void leave_open(const std::string& stage, const std::string& tensor) {
    checks.push_back(not_run(place(stage, tensor)));
  }
  /// Along what a gradient of this parameter may lean: the parameter, its momentum, the gradient before it.
  std::vector<Direction> directions(const std::string& parameter) const;

  /// Where the walk goes on from taps and this one is there, its bits; else what was expected.
  oracle::Expected seen(const std::string& stage, const std::string& tensor, oracle::Expected expected) const;
  /// The local lens passed every check of this tap. The lens is run at the first question, unless it was before.
  bool certified(const std::string& tap_name);
  /// What the local lens said of this trace; checks of other lenses are passed over.
  void know_local(const std::vector<TensorCheck>& local_checks);

 private:
  const std::vector<std::int64_t>& sizes() const { return c.windows[static_cast<std::size_t>(window)]; }
  Place place(const std::string& stage, const std::string& tensor) const;
  bool only_judged() const;
  /// After a tap was read: mapped pages may go, and who watches is told.
  void went_through(const Place& here, const Tensor& tensor);
  bool matches_bits(const Place& here, const Tensor& got, const Output& output, const oracle::Prediction& bits);
  void hold_tap(const Place& here, const Tensor& got, const Output& output, const std::vector<Direction>& directions,
                const Bits& bits);
  void hold_expected(const std::string& stage, const std::string& tensor, const Output& output);
  void keep(const Place& here, std::vector<double> expected, const Tensor& got, std::vector<double> bound = {});
  void keep(const Place& here, const oracle::Expected& expected, const Tensor& got);

  struct Read {
    LayerInputs inputs;
    oracle::ExpectedTensors tensors;
  };
  std::map<std::string, Read> read_;  // by layer label
  std::deque<Tensor> kept_;
  std::map<std::tuple<int, std::string, std::string>, Value> left_;  // by micro-batch, stage and tensor
  std::size_t split_ = 0;                                            // taps of `wanted` so far
  bool refuted_ = false;
  std::optional<std::unordered_map<std::string, bool>> local_;
};

/// Whether it went to its end by its own expectations alone, no branch taken over.
bool is_decided(const Walk& walk);

/// All windows, one after another. What the other ranks handed over is as they tapped it, for one rank's part.
void walk_all(Walk& walk);
/// The same under the local lens, and a sample of what was expected evaluated again where one is asked for
/// (properties/judge/certified.hpp).
void walk_all_and_sample(Walk& walk);

/// What the ranks of one generation are expected to leave to the next, from the case alone.
struct LeftBehind {
  WindowState state;  // the first rank's, which all hold alike
  DecisionCount count;
  bool ended = false;  // nothing is known of it any more
};
/// All windows of all ranks end to end. One generation of a case whose ranks change goes on from what the one before
/// left, which becomes what this one leaves.
void walk_ranks(std::deque<Walk>& ranks, LeftBehind* between = nullptr);
/// What stands before the overflow check in one window, not of the local lens: all up to the buffers.
void walk_to_buffers(Walk& walk);
/// Whether what stands in the buffers overflowed.
OverflowFound overflow_of(const std::map<std::string, Value>& buffers);

}  // namespace tally
