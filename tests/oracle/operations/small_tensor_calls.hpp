// A small call of each move, of each index, product, convolution, pool, norm and loss, and of attention.
#pragma once

#include "tests/oracle/operations/machines.hpp"

namespace tally::oracle::operations {

inline void add_small_calls_of_tensors(std::map<std::string, Call>& all) {
  const Element whole = Element::int64, boolean = Element::boolean;
  const auto add = [&](const std::string& name, const Arguments& arguments, const std::vector<Argument>& out) {
    all[name] = call_of(name, arguments, out);
  };
  const View x = vector_of({0.5, -0.25}), y = vector_of({2, 0.75}), b = vector_of({1, 0}, boolean),
             c = vector_of({1, 1}, boolean);
  const View one = number_of(1), g = vector_of({2, 3});
  // Moves and indices.
  const View square = tensor({2, 2}, {1, 2, 3, 4}), first = tensor({1, 2}, {1, 2}), zero = vector_of({0}, whole);
  const std::vector<View> list{x, y};
  Argument index{std::vector<View>{zero}};
  for (const char* name :
       {"unsafe_split", "unsafe_split_with_sizes", "unsafe_chunk", "split_copy", "split_with_sizes_copy"})
    add(name, {{"self", x}, {"dim", 0}}, {std::vector<View>{vector_of({0.5}), vector_of({-0.25})}});
  add("cat", {{"tensors", list}, {"dim", 0}}, {vector_of({0.5, -0.25, 2, 0.75})});
  add("stack", {{"tensors", list}, {"dim", 0}}, {tensor({2, 2}, {0.5, -0.25, 2, 0.75})});
  add("slice_backward", {{"grad_output", g}, {"dim", 0}, {"start", 1}}, {vector_of({0, 2, 3})});
  add("select_backward", {{"grad_output", number_of(2)}, {"dim", 0}, {"index", 1}}, {vector_of({0, 2})});
  add("constant_pad_nd", {{"self", x}, {"pad", Sizes{0, 1}}}, {vector_of({0.5, -0.25, 0})});
  add("tril", {{"self", square}}, {tensor({2, 2}, {1, 0, 3, 4})});
  add("triu", {{"self", square}}, {tensor({2, 2}, {1, 2, 0, 4})});
  add("flip", {{"self", x}, {"dims", Sizes{0}}}, {vector_of({-0.25, 0.5})});
  add("roll", {{"self", x}, {"shifts", Sizes{1}}, {"dims", Sizes{0}}}, {vector_of({-0.25, 0.5})});
  add("embedding", {{"weight", square}, {"indices", zero}}, {first});
  add("gather", {{"self", x}, {"dim", 0}, {"index", zero}}, {vector_of({0.5})});
  add("index_select", {{"self", x}, {"dim", 0}, {"index", zero}}, {vector_of({0.5})});
  for (const char* name : {"full", "full_like", "new_full"}) add(name, {{"fill_value", 3}}, {vector_of({3, 3})});
  add("fill", {{"value", 3}}, {vector_of({3, 3})});
  add("scalar_tensor", {{"s", 3}}, {number_of(3)});
  add("where", {{"condition", b}, {"self", x}, {"other", y}}, {vector_of({0.5, 0.75})});
  add("masked_fill", {{"mask", b}, {"self", x}, {"value", 5}}, {vector_of({5, -0.25})});
  add("arange", {}, {vector_of({0, 1}, whole)});
  add("index", {{"self", x}, {"indices", index}}, {vector_of({0.5})});
  for (const char* name : {"index_put", "_index_put_impl", "_unsafe_index_put"})
    add(name, {{"self", x}, {"indices", index}, {"values", vector_of({5})}}, {vector_of({5, -0.25})});
  add("index_add", {{"self", x}, {"dim", 0}, {"index", zero}, {"source", vector_of({5})}}, {vector_of({5.5, -0.25})});
  add("scatter", {{"self", x}, {"dim", 0}, {"index", zero}, {"value", 5}}, {vector_of({5, -0.25})});
  add("scatter_add", {{"self", x}, {"dim", 0}, {"index", zero}, {"src", vector_of({5})}}, {vector_of({5.5, -0.25})});
  add("embedding_dense_backward", {{"grad_output", first}, {"indices", zero}}, {tensor({2, 2}, {1, 2, 0, 0})});
  // Products, convolutions, pools.
  const View row = tensor({1, 2}, {1, 2}), column = tensor({2, 1}, {3, 4});
  add("mm", {{"self", row}, {"mat2", column}}, {tensor({1, 1}, {11})});
  add("mv", {{"self", row}, {"vec", tensor({2}, {3, 4})}}, {tensor({1}, {11})});
  add("dot", {{"self", tensor({2}, {1, 2})}, {"tensor", tensor({2}, {3, 4})}}, {tensor({}, {11})});
  add("bmm", {{"self", tensor({1, 1, 2}, {1, 2})}, {"mat2", tensor({1, 2, 1}, {3, 4})}}, {tensor({1, 1, 1}, {11})});
  add("addmm", {{"self", one}, {"mat1", row}, {"mat2", column}}, {tensor({1, 1}, {12})});
  add("baddbmm", {{"self", one}, {"batch1", tensor({1, 1, 2}, {1, 2})}, {"batch2", tensor({1, 2, 1}, {3, 4})}},
      {tensor({1, 1, 1}, {12})});
  add("linear", {{"input", row}, {"weight", tensor({1, 2}, {3, 4})}}, {tensor({1, 1}, {11})});
  add("_grouped_mm", {{"self", row}, {"mat2", tensor({1, 2, 1}, {3, 4})}, {"offs", vector_of({1}, Element::int32)}},
      {tensor({1, 1}, {11})});
  const View image = tensor({1, 1, 2}, {1, 2}), kernel = tensor({1, 1, 2}, {3, 4}), pixel = tensor({1, 1, 1}, {11});
  Arguments geometry{{"input", image},      {"weight", kernel},     {"stride", Sizes{1}},
                     {"padding", Sizes{0}}, {"dilation", Sizes{1}}, {"groups", 1}};
  for (const char* name : {"convolution", "_convolution"}) add(name, geometry, {pixel});
  geometry["grad_output"] = tensor({1, 1, 1}, {2});
  add("convolution_backward", geometry, {tensor({1, 1, 2}, {6, 8}), tensor({1, 1, 2}, {2, 4}), vector_of({2})});
  const View plane = tensor({1, 1, 2}, {1, 3}), half = tensor({1, 1, 1}, {2});
  Arguments window{{"self", plane}, {"grad_output", half}, {"kernel_size", Sizes{1, 2}}};
  for (const char* name : {"avg_pool2d", "_adaptive_avg_pool2d", "adaptive_avg_pool2d"}) add(name, window, {half});
  for (const char* name : {"avg_pool2d_backward", "_adaptive_avg_pool2d_backward"})
    add(name, window, {tensor({1, 1, 2}, {1, 1})});
  add("max_pool2d_with_indices", window, {tensor({1, 1, 1}, {3}), tensor({1, 1, 1}, {1}, whole)});
  window["indices"] = tensor({1, 1, 1}, {1}, whole);
  add("max_pool2d_with_indices_backward", window, {tensor({1, 1, 2}, {0, 2})});
  // Norms: of -1 and 1, whose mean is 0 and whose variance is 1; eps is 3.
  const View two = tensor({1, 2}, {-1, 1}), normed = tensor({1, 2}, {-0.5, 0.5}), channel = tensor({1, 1, 2}, {-1, 1}),
             rstd = vector_of({0.5}), mean = vector_of({0});
  const Arguments norm{{"input", two}, {"normalized_shape", Sizes{2}}, {"eps", 3.0}, {"N", 1}, {"C", 2}, {"HxW", 1},
                       {"group", 1}};
  for (const char* name : {"native_layer_norm", "native_group_norm"}) add(name, norm, {normed, mean, rstd});
  add("_fused_rms_norm", norm, {normed, rstd});
  const View y3 = tensor({1, 1, 2}, {-0.5, 0.5});
  for (const char* name :
       {"native_batch_norm", "_native_batch_norm_legit", "_native_batch_norm_legit_functional", "cudnn_batch_norm"})
    add(name, {{"input", channel}, {"training", true}, {"eps", 3.0}, {"momentum", 0.1}}, {y3, mean, rstd});
  add("_native_batch_norm_legit_no_training",
      {{"input", channel}, {"running_mean", mean}, {"running_var", vector_of({1})}, {"eps", 3.0}, {"momentum", 0.1}},
      {y3});
  Arguments back = norm;  // g = 1, 0: its mean is 1/2, of g xhat -1/4
  back["grad_out"] = tensor({1, 2}, {1, 0});
  back["mean"] = mean;
  back["rstd"] = rstd;
  const View dx = tensor({1, 2}, {0.5 * (1 - 0.5 - 0.5 * 0.25), 0.5 * (-0.5 + 0.5 * 0.25)});
  for (const char* name : {"native_layer_norm_backward", "native_group_norm_backward"})
    add(name, back, {dx, vector_of({-0.5, 0}), vector_of({1, 0})});
  const Arguments batch{{"grad_out", tensor({1, 1, 2}, {1, 0})},
                        {"input", channel},
                        {"save_mean", mean},
                        {"save_invstd", rstd},
                        {"train", true},
                        {"eps", 3.0}};
  add("native_batch_norm_backward", batch, {tensor({1, 1, 2}, dx.read()), vector_of({-0.5}), vector_of({1})});
  add("cudnn_batch_norm_backward",
      {{"grad_output", tensor({1, 1, 2}, {1, 0})},
       {"input", channel},
       {"save_mean", mean},
       {"save_var", rstd},
       {"epsilon", 3.0}},
      {tensor({1, 1, 2}, dx.read()), vector_of({-0.5}), vector_of({1})});
  // Losses and attention: one key has all the weight.
  const Arguments labelled{{"self", square},
                           {"target", vector_of({1, 0}, whole)},
                           {"reduction", 1},
                           {"grad_output", one},
                           {"total_weight", number_of(2)}};
  for (const char* name : {"nll_loss_forward", "nll_loss2d_forward"})
    add(name, labelled, {number_of(-2.5), number_of(2)});
  for (const char* name : {"nll_loss_backward", "nll_loss2d_backward"})
    add(name, labelled, {tensor({2, 2}, {0, -0.5, -0.5, 0})});
  const Arguments pair{{"self", x}, {"target", y}, {"reduction", 2}, {"grad_output", one}};
  add("mse_loss", pair, {number_of(3.25)});
  add("mse_loss_backward", pair, {vector_of({-3, -2})});
  const View q = tensor({1, 1, 1, 2}, {1, 2}), k = tensor({1, 1, 1, 2}, {3, 4}), v = tensor({1, 1, 1, 2}, {5, 6}),
             lse = tensor({1, 1, 1}, {11});
  Arguments attention{{"query", q}, {"key", k}, {"value", v}, {"scale", 1.0}};
  add("_scaled_dot_product_flash_attention_for_cpu", attention, {tensor({1, 1, 1, 2}, {5, 6}), lse});
  for (const auto& [name, of] :
       std::map<std::string, View>{{"grad_out", tensor({1, 1, 1, 2}, {1, 2})}, {"out", v}, {"logsumexp", lse}})
    attention[name] = of;
  const View none = tensor({1, 1, 1, 2}, {0, 0});
  add("_scaled_dot_product_flash_attention_for_cpu_backward", attention,
      {none, tensor({1, 1, 1, 2}, {0, 0}), tensor({1, 1, 1, 2}, {1, 2})});
}

}  // namespace tally::oracle::operations
