// The local lens under way: the trace, the state that the next stage must read, the checks so far.
// Defined in local_walk.cpp, local_backward.cpp, local_fork.cpp, local_forward.cpp, local_gradient.cpp,
// local_pipeline.cpp, local_ranks.cpp, local_schedule.cpp, local_shards.cpp, local_update.cpp.
#pragma once

#include <deque>
#include <functional>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "kernels/trace/trace.hpp"
#include "oracle/graph/layer_view.hpp"
#include "oracle/tolerance/predicted_layer.hpp"
#include "oracle/window/bound_stages.hpp"
#include "properties/compare/evaluation.hpp"
#include "properties/compare/held_tensor.hpp"
#include "properties/compare/spread.hpp"

namespace tally {

/// What a window starts from: tensors of the case, or of the trace's earlier windows. nullptr: there is none, or its
/// tap is missing.
struct SubjectState {
  using Tensors = std::map<std::string, const Tensor*>;
  Tensors parameter;                                            // by parameter
  std::map<std::string, std::vector<const Tensor*>> optimizer;  // by parameter, in the order of state_of
  Tensors running_mean, running_var;                            // by layer label
  oracle::ExpectedScale scale;
  std::int64_t step = 0;
  bool stepped = false;  // an optimizer step was taken: moments that are unknown are so because their tap is missing
};

/// The tensors of one layer for a bound rule, as `stage` read them for walk.micro_batch. Incomplete where taps miss.
struct LayerInputs {
  std::map<std::string, const Tensor*> tensors;
  bool complete = true;
};

/// An output whose bits the subject's claim fixes. Where the prediction gives none, the bound alone holds.
struct Bits {
  std::function<oracle::Prediction()> predict = {};
  FailureClass inside_the_bound = FailureClass::logic;  // what a wrong bit is called that the bound admits
};

class LocalWalk;

/// What the first of several ranks left behind the sum over ranks, window by window. Another rank that holds the same
/// bits there is judged the same: all of it follows from bits that both read.
class BehindTheSum {
 public:
  /// Where this rank holds in this window, and held in all before, what the first does: its checks, and what the next
  /// window reads. False where it does not, or nothing is known of the first.
  bool take_over(LocalWalk& walk) const;
  /// Of the first rank: the checks from `begin` on are those behind the sum of this window.
  void note(const LocalWalk& first, std::size_t begin);

 private:
  struct Window {
    std::vector<TensorCheck> checks;
    SubjectState state;
    bool skipped = false;
  };
  const Trace* trace_ = nullptr;
  std::vector<Window> windows_;
};

class LocalWalk {
 public:
  LocalWalk(const Case& the_case, const Trace& the_trace);

  const Case& c;
  const Trace& trace;
  const oracle::Declared declared;
  const std::vector<LayerView> layers;
  const std::vector<std::string> parameters, weights;  // those that train; those and the frozen ones
  SubjectState state;
  int window = 0;
  int micro_batch = -1;           // -1 outside the stages of a micro-batch
  int pipe = -1;                  // the stage of a pipeline whose taps are asked for; -1: of those that name none
  bool skipped = false;           // this window took no step
  std::optional<bool> overflows;  // what this window's gradients say of that, where all of them are tapped
  bool direct = false;            // gradients are written directly: no buffer
  std::vector<TensorCheck> checks;
  /// Inputs that are not tapped, though what they must equal is known.
  std::set<std::string> unread;
  /// Where set: the taps whose bounds are split into terms. No rule of another tap is called.
  const std::set<std::string>* wanted = nullptr;
  /// Where set: is told of every tap that was gone through, with its bytes.
  std::function<void(const std::string& tap, std::size_t bytes)> gone_through = {};
  /// Whether an input that is not tapped stands for what the stage before left, where that was tapped.
  bool follows = false;
  /// Else expectations are computed and nothing is held against them: what the rules cost, and what they would give.
  bool judges = true;
  /// Of the first of several ranks, where set, and of the others: what they share.
  BehindTheSum* first = nullptr;
  const BehindTheSum* like_first = nullptr;
  bool follows_first = true;  // so far every window was alike
  /// Where set: takes every tap that is held to an expectation or handed over, of those wanted.
  std::vector<HeldTensor>* kept = nullptr;

  std::int64_t rows(int k) const { return sizes()[static_cast<std::size_t>(k)]; }
  int micro_batches() const { return static_cast<int>(sizes().size()); }
  /// The rows of micro-batch k of a tensor over all rows of x. Lives as long as the walk.
  const Tensor* rows_of_case(const std::string& tensor, int k);
  /// What micro-batch k reads of the mask of a layer.
  const Tensor* mask_of(const LayerView& layer, int k);
  /// A vector as a column, so that each row has its own. nullptr for nullptr. Lives as long as the walk.
  const Tensor* as_column(const Tensor* vector);
  /// Zeros in the shape of a parameter.
  Tensor zeros(const std::string& parameter, Dtype dtype) const { return {dtype, c.tensors.at(parameter).shape}; }

  /// The tap of this window (and micro-batch), nullptr when it is missing.
  const Tensor* tap(const std::string& stage, const std::string& tensor) const;
  const Tensor* tap(const std::string& stage, const std::string& tensor, int k) const;
  /// The same, where a missing tap is a not_run check.
  const Tensor* require_tap(const std::string& stage, const std::string& tensor);
  /// A consumer's input: needed, and the producer's bits when those are known.
  const Tensor* handed(const std::string& stage, const std::string& tensor, const Tensor* producer);
  /// What layers read of a parameter: its cast copy, or, where no cast is tapped that would change a bit, itself.
  const Tensor* cast_copy(const std::string& parameter);
  /// Whether an output need not be held, as it is not tapped and what reads it is judged by what is.
  bool passes_over(const std::string& stage, const std::string& tensor) const {
    return follows && tap(stage, tensor) == nullptr;
  }
  /// A tensor as the layer's rule takes it.
  static oracle::Expected read(const LayerView& layer, const Tensor& tensor);
  /// What a layer read. The same bits are read once: every micro-batch reads the same parameters.
  const oracle::ExpectedTensors& read(const LayerView& layer, const LayerInputs& inputs);
  /// An output against its expectation, and its errors against their spread. Returns the tap.
  const Tensor* check_output(const std::string& stage, const std::string& tensor, const oracle::Expected& expected);
  const Tensor* check_output(const std::string& stage, const std::string& tensor, const Output& output,
                             const std::vector<Direction>& directions = {}, const Bits& bits = {});
  /// The same for a rule with one output.
  const Tensor* check_output(const std::string& stage, const std::string& tensor,
                             std::function<oracle::Expected()> rule, const std::vector<Direction>& directions = {},
                             const Bits& bits = {}, Evaluation::Stretches stretches = {});
  /// An output whose bits follow from what its stage read, whatever is claimed.
  const Tensor* check_bits(const std::string& stage, const std::string& tensor,
                           const std::function<oracle::Matrix<float>()>& rule);
  /// Along what a gradient of this parameter may lean: the parameter, its momentum, the gradient before it.
  std::vector<Direction> directions(const std::string& parameter) const;

 private:
  /// After a tap was read: mapped pages may go, and who watches is told.
  void went_through(const Place& here, const Tensor& tensor);
  bool matches_bits(const Place& here, const Tensor& got, const Output& output, const oracle::Prediction& bits);
  const std::vector<std::int64_t>& sizes() const { return c.windows[static_cast<std::size_t>(window)]; }
  Place place(const std::string& stage, const std::string& tensor) const;
  void check_tap(const Place& here, const Tensor& got, const Output& output, const std::vector<Direction>& directions,
                 const Bits& bits);
  void keep(const Place& here, std::vector<double> expected, const Tensor& got, std::vector<double> bound = {});
  void keep(const Place& here, const oracle::Expected& expected, const Tensor& got);

  struct Read {
    LayerInputs inputs;
    oracle::ExpectedTensors tensors;
  };
  std::map<std::string, Read> read_;  // by layer label
  std::deque<Tensor> kept_;
};

LayerInputs layer_inputs(LocalWalk& walk, const LayerView& layer, const std::string& stage);
/// Whether a layer that looks rows up by `x`, or by positions among `inputs`, finds all of them in its table; true of
/// every other layer. Both as they were handed, complete.
bool finds_rows(const LayerView& layer, const Tensor& x, const LayerInputs& inputs);
/// The inputs behind the first, of a layer that reads several, as `stage` read them.
struct OtherInputs {
  std::vector<oracle::Expected> read;
  bool complete = true;
  std::vector<const oracle::Expected*> pointers() const {
    std::vector<const oracle::Expected*> all;
    for (const oracle::Expected& each : read) all.push_back(&each);
    return all;
  }
};
OtherInputs other_inputs(LocalWalk& walk, std::size_t i, const std::string& stage);
/// What stands where a layer reads, of walk.micro_batch: an output's tap, or rows of the case's x.
const Tensor* output_read(LocalWalk& walk, LayerInput from);
/// The gradients of an output that several layers read, in the micro-batches [first, last).
void check_fork(LocalWalk& walk, const LayerView& layer, int first, int last);
/// The gradients of parameters that several layers read, in the same.
void check_shared_parameters(LocalWalk& walk, int first, int last);

/// The layer's own statistics for walk.micro_batch, where they are tapped.
oracle::Statistics tapped_statistics(const LocalWalk& walk, const LayerView& layer);

/// All windows, one after another.
void check_all(LocalWalk& walk);
/// The same, and a sample of what was expected evaluated again where one is asked for
/// (properties/compare/certified.hpp).
void check_all_and_sample(LocalWalk& walk);

// The stages, each checking its hand-overs and its outputs. Those of a micro-batch use walk.micro_batch.
void check_cast(LocalWalk& walk);
void check_forward(LocalWalk& walk, int first, int last);  // micro-batches [first, last) together
void check_running_stats(LocalWalk& walk, int first, int last);
void check_loss(LocalWalk& walk);
void check_backward(LocalWalk& walk, int first, int last);
void check_accumulate(LocalWalk& walk);
/// What each of the ranks that are asked left of it; empty where one of them left no tap.
std::vector<const Tensor*> of_ranks(const LocalWalk& walk, const std::vector<std::size_t>& asked,
                                    const std::string& stage, const std::string& tensor);
void hand_over(LocalWalk& walk);     // of ranks alone: what they hand to their sum
void check_reduce(LocalWalk& walk);  // of ranks alone
void check_overflow(LocalWalk& walk);
void check_agree(LocalWalk& walk);  // of ranks alone
// Of the stages of a pipeline: what they hand to each other, what each found of its own layers and all act upon, the norm
// over all of them, and that all go on alike.
/// What came from the stage before for the layer that begins a part, or from the one behind for the layer that ends one;
/// nullptr where the tensor does not travel, or is not tapped.
const Tensor* received(const LocalWalk& walk, std::size_t layer, bool gradient);
void check_messages(LocalWalk& walk);
void check_found_by_stages(LocalWalk& walk);
/// What each handed to the others of it, held to what it found, and what those of other ranks did; empty where one left
/// no tap.
std::vector<const Tensor*> found_by_stages(LocalWalk& walk);
void check_norm_over_stages(LocalWalk& walk);
void check_alike_on_stages(LocalWalk& walk);
// Of ranks that share the optimizer: what each found of its own pieces, the norm over all of them, and what each hands
// to the others.
void check_own_pieces(LocalWalk& walk);
void check_norm_over_ranks(LocalWalk& walk);
void check_all_gathered(LocalWalk& walk);
void check_gathered(LocalWalk& walk);
void check_unscale(LocalWalk& walk);
void check_norm(LocalWalk& walk);
void check_clip(LocalWalk& walk);
void check_decay(LocalWalk& walk);
void check_optimizer(LocalWalk& walk);
void check_scaler(LocalWalk& walk);
void check_schedule(LocalWalk& walk);

}  // namespace tally
