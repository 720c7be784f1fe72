// The last linear layer, the loss and both backward, `head_chunk` rows at a time: logits z = x W^T + b, (linear.1), kept
// in fp32 and never stored in S; loss and dz as kernels/losses/softmax_loss.hpp has them, fp32; then of those
// rows dx, (linear.2), stored S, and what they add to dW, (linear.3), and db, (linear.4), which is stored S when the
// last rows are through.
//
//   x, dx [rows, width] S   W, dW [classes, width] S   b, db [classes] S   z, dz [head_chunk, classes] fp32
//
// One thread an element, grid-stride; every sum of products acc = fma(a, b, acc) from the first term to the last, in dW
// over all rows of the micro-batch. The bias is added last.
#pragma once

#include "kernels/elementwise.hpp"
#include "kernels/layer_arguments.hpp"
#include "kernels/losses/softmax_loss.hpp"

namespace tally {
inline namespace TALLY_SIDE {

template <class S>
__global__ void head_logits(const S* x, const S* weight, const S* bias, float* z, std::int64_t rows,
                            std::int64_t classes, std::int64_t width) {
  for (std::int64_t i = first_element(); i < rows * classes; i += element_stride()) {
    const std::int64_t row = i / classes, c = i % classes;
    float sum = 0.0f;
    for (std::int64_t j = 0; j < width; ++j)
      sum = __fmaf_rn(to_float(x[row * width + j]), to_float(weight[c * width + j]), sum);
    z[i] = bias != nullptr ? __fadd_rn(sum, to_float(bias[c])) : sum;
  }
}

template <class S>
__global__ void head_input_gradient(const float* dz, const S* weight, S* dx, std::int64_t rows, std::int64_t classes,
                                    std::int64_t width) {
  for (std::int64_t i = first_element(); i < rows * width; i += element_stride()) {
    const std::int64_t row = i / width, j = i % width;
    float sum = 0.0f;
    for (std::int64_t c = 0; c < classes; ++c)
      sum = __fmaf_rn(dz[row * classes + c], to_float(weight[c * width + j]), sum);
    dx[i] = from_float<S>(sum);
  }
}

/// Adds the chunk's rows to dW; the first chunk's sums begin at 0, and the last one's are stored.
template <class S>
__global__ void head_weight_gradient(const float* dz, const S* x, float* dw_sum, S* dw, std::int64_t rows,
                                     std::int64_t classes, std::int64_t width, bool first, bool last) {
  for (std::int64_t i = first_element(); i < classes * width; i += element_stride()) {
    const std::int64_t c = i / width, j = i % width;
    float sum = first ? 0.0f : dw_sum[i];
    for (std::int64_t row = 0; row < rows; ++row)
      sum = __fmaf_rn(dz[row * classes + c], to_float(x[row * width + j]), sum);
    dw_sum[i] = sum;
    if (last) dw[i] = from_float<S>(sum);
  }
}

/// The same, column sums of dz.
template <class S>
__global__ void head_bias_gradient(const float* dz, float* db_sum, S* db, std::int64_t rows, std::int64_t classes,
                                   bool first, bool last) {
  for (std::int64_t c = first_element(); c < classes; c += element_stride()) {
    float sum = first ? 0.0f : db_sum[c];
    for (std::int64_t row = 0; row < rows; ++row) sum = __fadd_rn(sum, dz[row * classes + c]);
    db_sum[c] = sum;
    if (last) db[c] = from_float<S>(sum);
  }
}

/// Losses and dz of a chunk's logits, which are all that `a` holds, by one block. `Softmax` as in softmax_loss.hpp.
template <class Softmax>
void loss_of_chunk(Stream& stream, const CrossEntropyArguments& a) {
  const LaunchPart part("loss");
  const bool plain = a.class_weight == nullptr && !a.smoothed && a.z_loss == 0;
  by_row_lanes(a.classes, [&]<int lanes>() {
    if (!take_way({{"plain", plain}, {"smoothed or weighted", !plain}}) || a.rows == 0) return;
    const auto kernel = plain ? softmax_loss<Softmax, float, lanes, true> : softmax_loss<Softmax, float, lanes, false>;
    launch(stream, {1, dim3(lanes, static_cast<unsigned>(a.rows))}, kernel, static_cast<const float*>(a.z), a.target,
           Smoothing{a.class_weight, a.keep, a.spread, a.smoothed, a.z_loss}, a.loss, static_cast<float*>(a.dz), a.rows,
           a.classes, a.ignore_index, a.factor);
  });
}

/// `rows` rows of all, from `first` on.
template <class S, auto loss_of>
void launch_chunk(Stream& stream, const HeadLossArguments& a, std::int64_t first, std::int64_t rows) {
  const S *x = static_cast<const S*>(a.x) + first * a.width, *weight = static_cast<const S*>(a.weight);
  auto* z = static_cast<float*>(const_cast<void*>(a.loss.z));
  auto* dz = static_cast<float*>(a.loss.dz);
  const bool begins = first == 0, ends = first + rows == a.loss.rows, all = declaring_paths();
  CrossEntropyArguments loss = a.loss;
  loss.target = a.loss.target + first;
  loss.loss = a.loss.loss + first;
  loss.rows = rows;
  {
    const LaunchPart part("logits");
    launch_elements<head_logits<S>>(stream, rows * loss.classes, x, weight, static_cast<const S*>(a.bias), z, rows,
                                    loss.classes, a.width);
  }
  loss_of(stream, loss, a.storage);
  if (a.dx != nullptr || all) {
    const LaunchPart part("dx");
    launch_elements<head_input_gradient<S>>(stream, rows * a.width, dz, weight, static_cast<S*>(a.dx) + first * a.width,
                                            rows, loss.classes, a.width);
  }
  if (a.dw != nullptr || all) {
    const LaunchPart part("dW");
    launch_elements<head_weight_gradient<S>>(stream, loss.classes * a.width, dz, x, a.dw_sum, static_cast<S*>(a.dw),
                                             rows, loss.classes, a.width, begins, ends);
  }
  if (a.db == nullptr && !all) return;
  const LaunchPart part("db");
  launch_elements<head_bias_gradient<S>>(stream, loss.classes, dz, a.db_sum, static_cast<S*>(a.db), rows, loss.classes,
                                         begins, ends);
}

/// `loss_of` takes the stream, the loss of a chunk and the storage format.
template <auto loss_of>
void head_and_loss_in_chunks(Stream& stream, const HeadLossArguments& a) {
  by_storage(a.storage, [&]<class S>(S) {
    const std::int64_t rows = a.loss.rows;
    take_way({{"one chunk", rows <= head_chunk},
              {"several chunks, the last one full", rows > head_chunk && rows % head_chunk == 0},
              {"several chunks, the last one cut", rows > head_chunk && rows % head_chunk != 0}});
    for (std::int64_t first = 0; first < std::max<std::int64_t>(rows, 1); first += head_chunk)
      launch_chunk<S, loss_of>(stream, a, first, std::min(rows - first, head_chunk));
  });
}

}  // namespace TALLY_SIDE
}  // namespace tally
