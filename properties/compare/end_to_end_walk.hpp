// The end-to-end lens under way: every tensor as expected from the case's bits alone. Resynchronised, it goes on from
// the subject's bits wherever there is a tap: then it is the lens of stages that leave no taps between them
// (groups.hpp).
// Defined in end_to_end_walk.cpp, end_to_end_backward.cpp, end_to_end_buffers.cpp, end_to_end_departure.cpp,
// end_to_end_forward.cpp, end_to_end_given.cpp, end_to_end_pipeline.cpp, end_to_end_ranks.cpp, end_to_end_update.cpp.
#pragma once

#include <deque>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <unordered_map>
#include <vector>

#include "kernels/trace/trace.hpp"
#include "oracle/graph/layer_view.hpp"
#include "oracle/window/bound_stages.hpp"
#include "properties/compare/departure.hpp"
#include "properties/compare/evaluation.hpp"
#include "properties/compare/whole_model.hpp"

namespace tally {

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

struct ExpectedState {
  struct Slot {
    oracle::Expected parameter;
    std::vector<oracle::Expected> state;  // in the order of state_of; empty matrices where there is none yet
  };
  std::map<std::string, Slot> slots;                  // by parameter
  oracle::ExpectedTensors running_mean, running_var;  // by layer label
  oracle::ExpectedScale scale;
  std::int64_t step = 0;
  bool state_from_zero = true;  // of the optimizer: all of it came from gradients since
};

/// The micro-batches [first, last) that go through the model together, and what they left.
struct Group {
  int first = 0, last = 0;
  oracle::Expected x;                        // the model's input, all rows
  std::vector<oracle::Expected> outputs;     // of each layer, all rows
  std::vector<oracle::Decisions> decisions;  // the same
  oracle::Expected dy;                       // of the last layer
  DecisionCount own, count;                  // its decisions, and all that its tensors depend on
  const oracle::Expected& output_of(LayerInput from) const {
    return from == model_input ? x : outputs[static_cast<std::size_t>(from)];
  }
  const oracle::Expected& input_of(const LayerView& layer) const { return output_of(layer.inputs.front()); }
};

/// What one micro-batch's backward gives the buffers.
struct Gradients {
  struct Product {
    oracle::Expected a, b;  // a b, [out, rows] [rows, in], added by the product itself
  };
  oracle::ExpectedTensors separate;  // by full name
  std::map<std::string, std::vector<oracle::Expected>>
      given;                                // of parameters that several layers read, the last one's first
  std::map<std::string, Product> products;  // the same
};
/// A window's gradients added one micro-batch after another.
struct SumInOrder {
  oracle::Expected bits;          // the buffer's, predicted
  oracle::Expected in_any_order;  // what it may be in another order
  oracle::Matrix<double> size;    // sum of magnitudes
  int additions = 0;
};

class EndToEndWalk {
 public:
  EndToEndWalk(const Case& the_case, const Trace& the_trace);

  const Case& c;
  const Trace& trace;
  const oracle::Declared declared;
  const std::vector<LayerView> layers;
  const std::vector<std::string> parameters;
  std::map<std::string, oracle::Expected> frozen;  // parameters that stand still
  ExpectedState state;
  DecisionCount count_before;  // decisions behind the state that this window starts from
  DecisionCount count;         // and behind this window's buffers
  int window = 0, micro_batch = -1;
  bool skipped = false, ended = false;
  bool resynchronise = false;                                    // go on from every tap that is there, its error 0
  bool judges = true;                                            // else only what follows is worked out
  oracle::ExpectedTensors copies;                                // S, by parameter
  std::map<std::string, oracle::ExpectedTensors> pooled;         // by layer label: what ranks share of a micro-step
  oracle::ExpectedTensors buffers;                               // by parameter; absent before the first micro-batch
  std::map<std::string, SumInOrder> in_order;                    // by parameter, while its gradients are tapped
  std::map<std::string, std::vector<oracle::Expected>> addends;  // what compensated sums took in, by parameter
  std::vector<Gradients> of_each;                                // of micro-batches, where ranks add up behind each
  oracle::ExpectedTensors gradients;                             // fp32, from unscale to the optimizer
  std::vector<TensorCheck> checks;
  std::map<std::string, oracle::Expected>* kept = nullptr;  // every expectation held, by tap, for who asks
  /// Where set: the taps whose bounds are split into terms. No other is judged, and the walk ends with the last.
  const std::set<std::string>* wanted = nullptr;
  /// Where set: what is expected instead of the recipe. Then the walk ends with the first tensor that fails, and the
  /// inputs that a departure concerns are held as well.
  const Departure* departure = nullptr;
  oracle::ExpectedTensors
      stepped;  // the last window's gradients after unscaling and clipping, where a departure reads them

  int micro_batches() const { return static_cast<int>(c.windows[static_cast<std::size_t>(window)].size()); }
  std::int64_t rows(int k) const { return c.windows[static_cast<std::size_t>(window)][static_cast<std::size_t>(k)]; }
  std::int64_t rows_of(const Group& group) const;
  std::int64_t first_row_of(int k) const {
    return first_row(c, static_cast<std::size_t>(window), static_cast<std::size_t>(k));
  }

  std::string name(const std::string& stage, const std::string& tensor) const;
  const Tensor* tap(const std::string& stage, const std::string& tensor) const {
    return trace.find(TapView{window, micro_batch, stage, tensor});
  }
  /// An output of this window (and micro-batch) against its expectation; vacuous behind too many adopted decisions.
  void check_output(const std::string& stage, const std::string& tensor, const Output& output,
                    const DecisionCount& behind);
  void check_output(const std::string& stage, const std::string& tensor, const oracle::Expected& expected);
  /// A rule with one output: held, then given back. What the rule reads is still there while it is held.
  oracle::Expected held(const std::string& stage, const std::string& tensor, std::function<oracle::Expected()> rule);
  /// Where the walk resynchronises and the tap is there, its bits; else what was expected.
  oracle::Expected seen(const std::string& stage, const std::string& tensor, oracle::Expected expected) const;
  /// The same for the taps of a group's micro-batches, each with its own rows.
  oracle::Expected seen_rows(const Group& group, const std::string& stage, const std::string& tensor,
                             oracle::Expected all);
  /// The local lens passed every check of this tap. The lens is run at the first question, unless it was before.
  bool certified(const std::string& tap_name);
  /// What the local lens said of this trace; checks of other lenses are passed over.
  void know_local(const std::vector<TensorCheck>& local_checks);
  /// Every tap that is wanted was judged, or one fails that a departure expects.
  bool is_done() const { return refuted_ || (wanted != nullptr && split_ == wanted->size()); }

 private:
  std::size_t split_ = 0;  // taps of `wanted` so far
  bool refuted_ = false;
  std::optional<std::unordered_map<std::string, bool>> local_;
};

/// Whether layer i is the last one of a subject that runs it and the loss as one.
bool is_fused_head(const EndToEndWalk& walk, std::size_t i);

/// Holds the rows of each micro-batch of the group against its own tap.
void hold_rows(EndToEndWalk& walk, const Group& group, const std::string& stage, const std::string& tensor,
               const Output& all, const DecisionCount& behind);

/// The layer's own tensors for a bound rule, rows [first, first + rows) of the case for a mask.
oracle::ExpectedTensors expected_inputs(const EndToEndWalk& walk, const LayerView& layer, std::int64_t first,
                                        std::int64_t rows);

/// All windows, one after another. Of one rank's part, what the others handed over is as they tapped it.
void expect_all(EndToEndWalk& walk);
struct LeftBehind;  // properties/compare/checkpoint.hpp
/// All windows of all ranks, each up to its buffers, then their sum, then each to the window's end. Of one generation
/// of a case whose ranks change, from what the one before left, which becomes what this one leaves.
void expect_ranks(std::deque<EndToEndWalk>& ranks, LeftBehind* between = nullptr);
/// Of one window what stands before the overflow check: everything up to the buffers that its micro-batches leave.
void expect_buffers(EndToEndWalk& walk);
/// What stands behind: from the overflow check to the schedule.
void expect_behind_buffers(EndToEndWalk& walk);
/// Of ranks: the buffers become the sum of all; of one rank's part with the others' buffers as they tapped them.
void expect_reduce(EndToEndWalk& walk);
/// Whether what stands there overflowed.
OverflowFound overflow_of(const oracle::ExpectedTensors& buffers);

/// One more gradient of every parameter, by full name, added to its buffer: that of walk.micro_batch.
void add_gradients(EndToEndWalk& walk, const Gradients& gradients);
void add_gradients(EndToEndWalk& walk, oracle::ExpectedTensors gradients);
/// What walk.departure does to gradients and buffers before they meet; the inputs of accumulate are held to it.
void depart(EndToEndWalk& walk, Gradients& gradients);
/// Whether it went to its end by what it expected alone: no branch was taken over from the trace.
bool is_decided(const EndToEndWalk& walk);
/// Those of all micro-batches, from the last one to the first, as some pipelines do.
void add_last_first(EndToEndWalk& walk);
/// The norm of all gradients, by the parts that the stages of a pipeline find of their own layers.
oracle::Expected norm_over_stages(const EndToEndWalk& walk, const oracle::ExpectedTensors& gradients);
/// Where a departure lets the window's buffers start.
void begin_buffers(EndToEndWalk& walk);
/// c of a micro-batch.
oracle::Expected factor_of(EndToEndWalk& walk, int micro_batch);
/// The steps that the schedule counts in this window, and the optimizer.
std::int64_t schedule_count(const EndToEndWalk& walk);
std::int64_t optimizer_count(const EndToEndWalk& walk);
/// The steps that its moments are corrected by.
std::int64_t corrected_count(const EndToEndWalk& walk);
/// The schedule that gives this window's rate at that count.
Choice schedule_in_force(const EndToEndWalk& walk);
/// This window's decay, and how often it is applied.
Choice decay_in_force(const EndToEndWalk& walk);
int decays_of(const EndToEndWalk& walk);
/// Where this walk's departure clips.
ClipPlace clip_place(const EndToEndWalk& walk);
/// A micro-batch's gradient of a parameter with what joins it.
oracle::Expected with_penalty(const EndToEndWalk& walk, const std::string& p, const oracle::Expected& gradient);
/// All of them, each in place, by their own norm, without a check.
void clip_together(const EndToEndWalk& walk, oracle::ExpectedTensors& gradients);
/// An input of this window (and micro-batch), where there is a departure and it was tapped.
void hold_input(EndToEndWalk& walk, const std::string& stage, const std::string& tensor,
                const oracle::Expected& expected);

void expect_cast(EndToEndWalk& walk);
/// Of ranks that share the parameters: what they put together for a micro-batch, "" or "again.".
void expect_all_gathered(EndToEndWalk& walk, int micro_batch, const std::string& when);
void expect_forward(EndToEndWalk& walk, Group& group);  // running statistics too
void expect_loss(EndToEndWalk& walk, Group& group);
void expect_backward(EndToEndWalk& walk, Group& group);  // accumulate too
/// Of an opaque model: the loss of the outputs that the capture has, and the buffers of the gradients that it has.
void expect_given(EndToEndWalk& walk, Group& group);
void expect_overflow_check(EndToEndWalk& walk);
void expect_gradient(EndToEndWalk& walk);  // unscale, norm, clip, decay of the gradient
void expect_update(EndToEndWalk& walk);    // decoupled decay, optimizer
void expect_no_step(EndToEndWalk& walk);   // of a skipped window: parameters that a capture holds all the same
void expect_end(EndToEndWalk& walk);       // scaler, schedule

}  // namespace tally
