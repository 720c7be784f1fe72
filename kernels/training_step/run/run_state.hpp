// Everything a stage may read or change: the case, the tensors on the device, and where the loop stands.
// Defined in run_state.cpp, build_run.cpp, kernels/activation/activation_steps.cpp.
#pragma once

#include <cstdint>
#include <deque>
#include <map>
#include <memory>
#include <set>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "kernels/device/device.hpp"
#include "kernels/device/gemm/blas.hpp"
#include "kernels/layer_arguments.hpp"
#include "kernels/training_step/run/chosen_kernels.hpp"
#include "kernels/training_step/run/cost.hpp"
#include "kernels/training_step/run/device_tensor.hpp"
#include "kernels/training_step/run/run.hpp"
#include "kernels/window/arguments.hpp"
#include "oracle/case/contract.hpp"
#include "oracle/case/graph.hpp"
#include "oracle/registered_files.hpp"

namespace tally {

struct Run;
struct Stages;
struct LayerState;

/// How one kind of layer runs on micro-batch k: a `RegisterKind<LayerSteps>` beside its kernels; a kind that no file
/// registers is elementwise (kernels/activation/activation_steps.cpp), and its kernels are all it takes.
struct LayerSteps {
  void (*forward)(Run& run, LayerState& layer, int k);
  /// nullptr for a layer that hands its gradient on.
  void (*backward)(Run& run, LayerState& layer, int k);
  /// With window statistics: what the whole group needs before its first micro-batch. nullptr: nothing.
  void (*group_forward)(Run& run, LayerState& layer) = nullptr;
  void (*group_backward)(Run& run, LayerState& layer) = nullptr;
};

/// What ranks put together of a micro-step's rows: the statistics of batch_norm; where these take two rounds, the squares
/// of deviations from their mean; the two sums of its backward pass.
enum class StepPart { statistics, squares, gradients };

const LayerSteps& layer_steps(const std::string& kind);
extern const LayerSteps elementwise_steps;

/// A tensor that the optimizer keeps beside a parameter, in the master format.
struct KeptState {
  const StateTensor* of;
  DeviceTensor tensor;
  bool started;  // it holds what the next step reads; false where it is to begin with the first gradient
};

/// One parameter, as a framework keeps it. fp32 unless said otherwise.
struct Parameter {
  std::string name;       // "fc1.weight"
  std::size_t layer = 0;  // whose it is
  std::int64_t elements = 0;
  bool trains = true;   // else it has a master and a copy, and nothing of what stands below
  bool decays = false;  // false where weight_decay excludes it, or there is none
  DeviceTensor master;
  DeviceTensor copy;             // S: what the layers read
  bool into_buffer = false;      // its GEMM adds every micro-batch's gradient to the buffer: `gradient` is empty
  DeviceTensor gradient;         // S, [slots, ...]: one slot for each micro-batch alive at once
  DeviceTensor buffer;           // A: the sum over micro-batches; empty when gradients are written directly
  DeviceTensor compensation;     // A: what the buffer's additions lost; empty unless they are compensated
  DeviceTensor reduced;          // A: the sum over ranks of one micro-batch's; empty but where ranks add those up
  DeviceTensor unscaled;         // from `unscale` on: what is clipped, decayed and applied
  std::vector<KeptState> state;  // the optimizer's, in the order of state_of(optimizer)
};

/// Neighbouring elements of a parameter that one rank updates for all.
struct RankPiece {
  std::size_t parameter;  // in model order
  std::int64_t first, count;
};

/// One layer's activations and statistics. Rows are those of the micro-batches alive at once.
struct LayerState {
  const Layer* layer = nullptr;
  const LayerSteps* steps = nullptr;
  std::size_t index = 0;
  std::string label;
  std::string family;                            // what its kernels' operations begin with: "gelu_tanh"
  std::vector<LayerInput> inputs;                // what it reads, in the order of its list
  std::vector<LayerReader> readers;              // who reads its output
  std::int64_t in = 0, out = 0;                  // features
  Parameter *weight = nullptr, *bias = nullptr;  // nullptr where the layer has none
  /// The same, of parameters that train; nullptr for a frozen one.
  Parameter* trained_weight() const { return weight != nullptr && weight->trains ? weight : nullptr; }
  Parameter* trained_bias() const { return bias != nullptr && bias->trains ? bias : nullptr; }
  bool has_gradient = false;                       // backward reaches this layer
  bool gives_dx = false;                           // and passes a gradient on to what it reads
  bool hands_on = false;                           // its own, bit for bit: nothing is computed in backward
  bool window_statistics = false, frozen = false;  // batch_norm's; both false: its own of every micro-batch
  DeviceTensor y, dx;                              // S [rows, out], [rows, in]
  std::vector<DeviceTensor> more_dx;               // S: of the inputs behind the first, where they are not alike
  std::vector<std::int64_t> widths;                // features of each input
  DeviceTensor dy;                                 // S [rows, out]: what several readers gave, added; else empty
  DeviceTensor mean, var, rstd;                    // batch_norm [groups, in], layer_norm [rows] (no var)
  DeviceTensor lse, delta;                         // fp32 [rows, heads]: of attention
  DeviceTensor attention_sums;                     // fp32, [rows, in]: where its kernels keep sums
  DeviceTensor turns, turns_back;                  // fp32, [rows of x, rotated]: rotary's tables, forth and back
  /// The statistic of this name, which a contract names row by row: "mean", "rstd", "lse", "delta". Throws
  /// std::logic_error for another.
  DeviceTensor& row_statistic(std::string_view name);
  DeviceTensor dw_sum, db_sum;  // batch_norm [groups, in]
  /// Whether ranks put its statistics together; then those above are of all ranks' rows of a micro-step.
  bool step_statistics = false;
  DeviceTensor own_first, own_second;      // [in]: what this rank hands over of its own rows
  DeviceTensor running_mean, running_var;  // [in]
  DeviceTensor mask;                       // u8 [rows of x, in]
  bool reads_tokens = false, reads_positions = false;
  bool recomputed = false;            // its output is not kept for backward, which runs it again
  std::uint64_t products_before = 0;  // products before this group's forward of it
  DeviceTensor shared_gradient;  // S, [slots, ...]: what it gives for a weight that other layers read too; else empty
  DeviceTensor row_order;        // i64 [rows]: of a layer that looks rows up, where its gradient sorts them
  DeviceTensor table_sums;       // fp32, as its weight: where its gradient is added by atomics
  bool elsewhere = false;        // another stage of the pipeline has it: no parameters, and what it sends alone
};

/// What a stage of a pipeline keeps of a micro-batch from forward until backward has gone through: of each layer of a
/// part, and what came from the part before.
struct KeptActivations {
  struct OfLayer {
    DeviceTensor y, mean, var, rstd, lse;
    std::uint64_t products_before = 0;
  };
  DeviceTensor received;
  std::vector<OfLayer> layers;
};

/// A run under way. Members are in the order a window needs them.
struct Run {
  Run(const Case& the_case, const RunOptions& the_options, const Stages& the_stages);
  /// The end of the windows of `whole`, on the host executor: its parameters have there what steps them, moved out of
  /// `whole`, which keeps what the layers read. offload.hpp hands over what the two tell each other.
  Run(Run& whole, Device& host);

  const Case& c;
  const RunOptions options;
  const Stages& stages;
  Device& device;
  Stream stream;
  const ChosenKernels kernels;
  const GemmSettings products_by;  // how every matrix product is computed
  bool lockstep;                   // window statistics: all micro-batches of a window are one group and stay alive
  Trace trace;

  // The batch, as the case gives it; never written.
  DeviceTensor x, target, item_weight, class_weight;  // the last two empty where there are none; x: or tokens
  DeviceTensor positions;                             // i64 [rows], of a model that reads them
  DeviceTensor sequence_begin, sequence_end;   // i64 [rows], in the rows of its micro-batch; of a model that reads them
  std::deque<Parameter> parameters;            // those that train, in model order
  std::deque<Parameter> frozen;                // the others: master and copy alone
  std::deque<Parameter> shards;                // this rank's pieces, where ranks share the optimizer
  std::vector<std::vector<RankPiece>> pieces;  // every rank's; empty where they do not
  std::shared_ptr<Link> sharers, replicas;     // this rank's groups: who share the parts, who keep the same part
  std::unique_ptr<Run> host;                   // the end of its windows, where it is offloaded; else nullptr
  std::vector<LayerState> layers;
  DeviceTensor losses, dy;  // fp32 [rows]; S [rows, features of the model's output]

  std::map<std::pair<std::size_t, int>, KeptActivations> kept;  // by part and micro-batch; of a pipeline

  // Scalars on the device.
  DeviceTensor scale, inverse_scale, growth_counter, found_flag;  // fp32, fp32, i64, u32
  DeviceTensor gradient_norm, coefficient, norm_partials;         // fp32
  DeviceTensor bias_partials;  // fp32 [chunks, features] of the largest linear layer; empty where no kernel takes it

  // Where the loop stands.
  int window = 0;
  int micro_batch = -1;                      // -1 outside the stages marked (k)
  int group_begin = 0, group_end = 0;        // the micro-batches that forward and backward take together
  bool behind_forward = false;               // of this group: what is left of it is the loss and backward
  bool recomputing = false;                  // forward runs again inside backward
  std::size_t part = 0;                      // of a pipeline, that forward and backward take
  std::size_t part_begin = 0, part_end = 0;  // its layers; else all
  std::int64_t step = 0;                     // steps taken: t
  double window_items = 0;                   // N of this window, over all ranks
  double own_items = 0;                      // of them this rank's
  std::int64_t step_rows = 0;                // of this micro-step, on all ranks, where they share statistics
  double busy_ranks = 1;                     // ranks that have a micro-batch in this window
  float window_scale = 1;                    // the loss scale of this window
  double learning_rate = 0;                  // of this window, in binary64
  float factor = 0;                          // c of this micro-batch
  int last_step_window = -1;                 // the last window that took its step
  std::uint64_t products = 0;                // matrix products so far
  bool found = false;                        // an element of a buffer is not finite: the step is skipped

  /// Whether this rank has the micro-batch that all ranks are at.
  bool has_micro_batch() const {
    return micro_batch < static_cast<int>(c.windows[static_cast<std::size_t>(window)].size());
  }
  /// This rank's.
  const std::vector<RankPiece>& own_pieces() const;
  /// Rows of micro-batch k of this window, its first row in x, and its first row among those alive.
  std::int64_t rows(int k) const;
  std::int64_t first_row(int k) const;
  std::int64_t first_row_alive(int k) const;
  std::int64_t group_rows() const { return first_row(group_end - 1) + rows(group_end - 1) - first_row(group_begin); }
  /// Index among the micro-batches alive at once: the slot of its gradients and statistics.
  int slot(int k) const { return k - group_begin; }
  /// n_k, in binary64.
  double items(int k) const;
  /// What a layer reads and writes for micro-batch k: addresses of its first row.
  void* x_of(const LayerState& layer, int k, std::size_t input = 0) const;
  void* y_of(const LayerState& layer, int k) const;
  void* dx_of(const LayerState& layer, int k, std::size_t input = 0) const;
  /// A tensor [rows, ...] of a layer: the address of micro-batch k's first row.
  void* rows_of(const DeviceTensor& tensor, int k) const { return tensor.row(first_row_alive(k)); }
  void* dy_of(const LayerState& layer, int k) const;
  /// The gradient that a reader gives for what it reads.
  void* given_by(const LayerReader& reader, int k) const;
  /// The output of the last layer, and x itself for a model without layers.
  void* output(int k) const;
  /// The gradient of a parameter by micro-batch k; nullptr for nullptr, and for a frozen one.
  void* gradient_of(const Parameter* parameter, int k) const;
  /// What a layer gives for one of its parameters: that gradient, or the layer's part of it.
  void* gradient_by(const LayerState& layer, const Parameter* parameter, int k) const;
  /// What a window's end reads, tapped as its input: `buffer`, or `gradient` where gradients are written directly.
  const DeviceTensor& tap_summed(const char* stage, const Parameter& parameter);

  /// Throws std::logic_error for a name that is no parameter.
  Parameter& parameter(std::string_view name);

  /// The run's kernel of an operation, as a lap of the clock. Throws as ChosenKernels::of does.
  template <class Arguments>
  void launch(std::string_view operation, const Arguments& arguments) {
    if (launched != nullptr) launched->emplace(operation);
    timed(operation, kernels.of<Arguments>(operation), stream, arguments);
  }

  /// A product of operands in the storage format, with a result in it unless `result` is another. On the host its order
  /// of additions is that of the tensor cores that the case names, or drawn from options.order_seed and the number of
  /// products before it, where a recomputed product has its first one's number.
  void gemm(GemmCall call, Dtype result);
  void gemm(const GemmCall& call) { gemm(call, c.precision.storage); }

  /// Copies bits to the trace, under this window and micro_batch, and takes over those of a trace that is followed.
  /// Does nothing when taps are off.
  void tap(const char* stage, const std::string& tensor, const DeviceTensor& value);
  void tap(const char* stage, const std::string& tensor, void* address, Dtype dtype, std::vector<std::int64_t> shape);
  /// The same for a number the host holds.
  void tap(const char* stage, const std::string& tensor, float value);
  void tap(const char* stage, const std::string& tensor, std::int64_t value);
  /// The same as tap, taps or not.
  void record(const char* stage, const std::string& tensor, const DeviceTensor& value);

  /// A tap's name, here and now.
  TapName name(const char* stage, const std::string& tensor) const {
    return {window, micro_batch, stage, tensor, rank_tag, pipe_tag(stage, tensor)};
  }

  int rank_tag = -1;  // of taps; -1 where one rank trains
  int pipe_rank = 0;  // which stage of a pipeline this is
  bool pipelined() const { return options.pipe != nullptr; }
  bool is_host_part = false;                               // it is the `host` of another
  std::set<std::string, std::less<>>* launched = nullptr;  // where operations are noted, or nullptr

 private:
  int pipe_tag(std::string_view stage, std::string_view tensor) const;

  std::vector<std::vector<std::int64_t>> first_rows_;  // [window][micro-batch]
  std::vector<double> item_weights_;                   // [row of x]
};

/// Throws NotSupported for what the built-in training step cannot do.
void require_supported(const Case& c, const RunOptions& options);
/// Taps what a layer looks its rows up by, as an input of the stage.
void tap_indices(Run& run, const char* stage, const LayerState& layer, int k);
/// Records parameters, optimizer state and running values under the names of the windows that left them.
void record_final_state(Run& run);

}  // namespace tally
