// What each layer's and loss's kernels take: device addresses, sizes, constants already rounded to fp32. S is the
// storage format; statistics, row losses and sums are fp32. Matrices are [rows, features], row-major. Any size may be
// 0.
#pragma once

#include <cstdint>

#include "oracle/case/tensors/tensor.hpp"

namespace tally {

/// z [rows, features] S += bias [features] S, in place.
struct BiasAddArguments {
  Dtype storage;
  void* z;
  const void* bias;
  std::int64_t rows, features;
};

/// db [features] S = column sums of dy [rows, features] S. `partial` fp32 [bias_gradient_chunks(rows), features], at
/// least one row of it: where variants that add in two stages or by atomics leave their sums; others take nullptr.
struct BiasGradientArguments {
  Dtype storage;
  const void* dy;
  void* db;
  std::int64_t rows, features;
  float* partial = nullptr;
};

/// Rows whose sum is one partial result.
inline constexpr std::int64_t bias_gradient_chunk = 16;
inline std::int64_t bias_gradient_chunks(std::int64_t rows) {
  return (rows + bias_gradient_chunk - 1) / bias_gradient_chunk;
}

/// An activation. Forward: y from x. Backward: dx from x and dy. All S, `elements` long.
struct ActivationArguments {
  Dtype storage;
  const void *x, *dy;  // dy: backward only
  void* out;           // y or dx
  std::int64_t elements;
};

/// out = a + b, element by element; `out` may be one of them. All S.
struct AddArguments {
  Dtype storage;
  const void *a, *b;
  void* out;
  std::int64_t elements;
};

/// Rows of a table S [table_rows, width] by index i64 [rows], each from 0 to table_rows - 1: out [rows, width] S =
/// table[index], or x + table[index] of a layer that adds them to x [rows, width] S.
struct LookUpArguments {
  Dtype storage;
  const void* table;
  const std::int64_t* index;
  const void* x;  // nullptr: the rows alone
  void* out;
  std::int64_t rows, width;
};

/// dtable [table_rows, width] S: to the row that the index names, each row of dy [rows, width] S is added; nothing to
/// row `except`. `order` i64 [rows] and `sums` fp32 [table_rows, width]: where variants that sort the rows, or add by
/// atomics, leave what they need; others take nullptr.
struct TableGradientArguments {
  Dtype storage;
  const void* dy;
  const std::int64_t* index;
  void* dtable;
  std::int64_t rows, width, table_rows, except;
  std::int64_t* order = nullptr;
  float* sums = nullptr;
};

/// dx = dy, S.
struct CopyArguments {
  Dtype storage;
  const void* from;
  void* to;
  std::int64_t elements;
};

/// out = mask ? x * factor : 0, forward and backward alike. mask u8, factor = 1 / (1 - p).
struct DropoutArguments {
  Dtype storage;
  const void* x;
  const std::uint8_t* mask;
  void* out;
  std::int64_t elements;
  float factor;
};

/// mean, var, rstd fp32 [features] of x [rows, features] S. `frozen`: of running_mean and running_var instead.
struct BatchNormStatisticsArguments {
  Dtype storage;
  const void* x;
  const void *running_mean, *running_var;  // frozen only
  float *mean, *var, *rstd;
  std::int64_t rows, features;
  float inverse_rows, eps;
  Dtype running_format = Dtype::fp32;  // of the running values
};

/// Normalisation by given mean and rstd, and by batch_norm's or layer_norm's own; rms_norm has no mean and no bias.
/// weight and bias S [features], or nullptr where the layer has none. mean, rstd fp32: [features] (batch_norm) or
/// [rows] (layer_norm, written by it).
struct NormForwardArguments {
  Dtype storage;
  const void *x, *weight, *bias;
  float *mean, *rstd;
  void* y;
  std::int64_t rows, features;
  float inverse_features, eps;  // layer_norm and rms_norm
  float offset = 0;             // rms_norm: added to the weight
};

/// Column sums over rows, from x, dy S and mean, rstd: dw = sum of dy h, db = sum of dy. S copies and fp32 sums; each
/// of the four may be nullptr.
struct NormGradientArguments {
  Dtype storage;
  const void *x, *dy;
  const float *mean, *rstd;
  void *dw, *db;
  float *dw_sum, *db_sum;
  std::int64_t rows, features;
};

/// dx S of a norm. batch_norm takes its group's sums (nullptr: frozen); layer_norm takes its own.
struct NormBackwardArguments {
  Dtype storage;
  const void *x, *dy, *weight;
  const float *mean, *rstd;
  const float *dw_sum, *db_sum;
  void* dx;
  std::int64_t rows, features;
  float inverse_count;  // 1 / rows of the group (batch_norm), 1 / features (layer_norm, rms_norm)
  float offset = 0;     // rms_norm
};

/// Attention over the rows of a micro-batch. q, y, dy, dq [rows, heads size], k, v, dk, dv [rows, kv_heads size], all
/// S; lse, delta fp32 [rows, heads]. Row i of query head h reads head h kv_heads / heads of the rows from `begin`[i] to
/// `end`[i] - 1, i64 [rows], which are those of its sequence: with `causal` none behind itself, with a window none that
/// is `window` or more away. `sums` fp32, as the larger of what is written: where kernels keep sums. A weight is kept
/// where mask[h pairs + p] is not 0, p the number of pair (i, j) among the pairs of rows of one sequence
/// (oracle/case/rows.hpp) in the micro-batch, and multiplied by `kept`. What a kernel does not take is nullptr; without
/// a mask every weight is kept as it is.
struct AttentionArguments {
  Dtype storage;
  const void *q, *k, *v;
  const std::int64_t *begin, *end;
  std::int64_t rows, heads, kv_heads, size;
  bool causal;
  std::int64_t window;  // 0: none
  float scale;
  void* y;
  float *lse, *delta;
  float* sums;
  const void* dy = nullptr;
  void *dq = nullptr, *dk = nullptr, *dv = nullptr;
  const std::uint8_t* mask = nullptr;  // [heads, pairs]
  std::int64_t pairs = 0;
  float kept = 1;  // 1 / (1 - p)
};

/// Softmax cross-entropy, loss fp32 [rows] and dz S at once. z S [rows, classes], target i64 [rows].
struct CrossEntropyArguments {
  Dtype storage;
  const void* z;
  const std::int64_t* target;
  const float* class_weight;  // [classes], or nullptr
  float* loss;
  void* dz;
  std::int64_t rows, classes, ignore_index;
  float factor;        // c
  float keep, spread;  // 1 - smoothing, smoothing / classes
  bool smoothed;       // smoothing != 0
  float z_loss = 0;    // what multiplies the square of each row's log of the sum
};

/// Mean squared error, loss fp32 [rows] and dy S at once. y, target S [rows, features].
struct MseArguments {
  Dtype storage;
  const void *y, *target;
  const std::int64_t* item_weight;  // [rows], or nullptr
  float* loss;
  void* dy;
  std::int64_t rows, features;
  float factor;  // c
  float inverse_features, two_over_features;
};

// What kernels take that add two tensors and normalise the sum, and that go back through both.

/// sum = a + b, all [rows, features] S, and the RMS norm of what is stored there: `norm`, whose x is not read.
struct AddNormArguments {
  const void *a, *b;
  void* sum;
  NormForwardArguments norm;
};

/// dx of the RMS norm of the sum, and what the sum's other reader gives, `residual`, added to it: all [rows, features]
/// S.
struct AddNormBackwardArguments {
  NormBackwardArguments norm;
  const void* residual;
  void* sum;
};

// What the kernels of a gated layer take.

/// y from gate and up; or dgate and dup from these and dy. All S, `elements` long. What a kernel does not take is
/// nullptr.
struct GatedArguments {
  Dtype storage;
  const void *gate, *up, *dy;
  void *y, *dgate, *dup;
  std::int64_t elements;
};

// What a kernel takes that runs the last linear layer and the softmax cross-entropy as one.

/// Rows of a micro-batch whose logits are there at once.
inline constexpr std::int64_t head_chunk = 4;

/// The logits are x [rows, width] S times weight [classes, width] S, and bias [classes] S or nullptr. `loss` is the
/// loss over all rows, whose z and dz have room for `head_chunk` rows, fp32 [head_chunk, classes]; its storage is not
/// read. Where they are not nullptr: dx [rows, width], dw [classes, width] and db [classes], all S; dw_sum and db_sum
/// fp32, as dw and db, in which they are added.
struct HeadLossArguments {
  Dtype storage;
  const void *x, *weight, *bias;
  CrossEntropyArguments loss;
  std::int64_t width;
  void *dx, *dw, *db;
  float *dw_sum, *db_sum;
};

// What the kernels of a rotary layer take.

/// Every pair of x [rows, heads size] S turned into y, S: forth, or back by the negative sine. turns fp32
/// [rows, rotated]: of each row the cosines of its rotated / 2 angles, then their sines.
struct RotaryArguments {
  Dtype storage;
  const void* x;
  void* y;
  const float* turns;
  std::int64_t rows, heads, size, rotated;
  bool interleaved, back;
};

// What the kernels of a scale layer take.

/// out = fl(x · factor), forward and backward alike. All S, `elements` long.
struct ScaleArguments {
  Dtype storage;
  const void* x;
  void* out;
  std::int64_t elements;
  float factor;
};

// What the kernels of a slice layer take.

/// part [rows, width] S and whole [rows, features] S, of which the part are the features from `begin` on. Forward
/// copies them out of the whole; backward copies the part into the whole, and 0 everywhere else.
struct SliceArguments {
  Dtype storage;
  const void* from;
  void* to;
  std::int64_t rows, features, begin, width;
};

}  // namespace tally
