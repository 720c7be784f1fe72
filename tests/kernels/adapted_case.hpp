// Attention whose q and k turn by their positions, and models of which a part stands still.
#pragma once

#include <algorithm>

#include "tests/kernels/attention_case.hpp"

namespace tally {

/// The small model with rotary layers before q and k, which turn four features together; or with all three as slices of one product as well.
inline Case turned_model(unsigned seed, const Options& rotary = {}, bool fused = false, Dtype storage = Dtype::fp32) {
  Case c = small_attention_model(seed, storage);
  auto& layers = c.model.layers;
  if (fused) {
    layers[2] = reading({"n1"}, layer_of("linear", "qkv", {{"out", std::int64_t{16}}}));
    const auto slice = [](const char* name, std::int64_t begin, std::int64_t end) {
      return reading({"qkv"}, layer_of("slice", name, {{"begin", begin}, {"end", end}}));
    };
    layers[3] = slice("q", 0, 8), layers[4] = slice("k", 8, 12);
    layers.insert(layers.begin() + 5, slice("v", 12, 16));
  }
  const auto attention = std::ranges::find(layers, std::string("attention"), &Layer::kind);
  attention->inputs = {"qr", "kr", "v"};
  const auto turn = [&](const char* name, const char* read, std::int64_t heads) {
    Options options = rotary;
    options.emplace("heads", heads);
    return reading({read}, layer_of("rotary", name, options));
  };
  const auto at = attention - layers.begin();
  layers.insert(layers.begin() + at, {turn("qr", "q", 2), turn("kr", "k", 1)});
  c.tensors.clear();
  fill_tensors(c);
  draw_normal(c, seed);
  return c;
}

/// The small model with an adapter of rank 2 on q, which is frozen with the norm before it and the embedding.
inline Case adapted_model(unsigned seed, Dtype storage = Dtype::fp32) {
  Case c = small_attention_model(seed, storage);
  auto& layers = c.model.layers;
  for (const std::size_t i : {0, 1, 2}) layers[i].trainable = false;
  const auto linear = [](const char* name, std::int64_t out, const char* read) {
    return reading({read}, layer_of("linear", name, {{"out", out}, {"bias", false}}));
  };
  layers.insert(layers.begin() + 3, {linear("q_a", 2, "n1"), linear("q_b", 8, "q_a"),
                                     reading({"q_b"}, layer_of("scale", "q_s", {{"factor", Decimal{"1.5"}}})),
                                     reading({"q", "q_s"}, layer_of("add", "q_sum"))});
  std::ranges::find(layers, std::string("attention"), &Layer::kind)->inputs[0] = "q_sum";
  c.tensors.clear();
  fill_tensors(c);
  draw_normal(c, seed);
  return c;
}

}  // namespace tally
