#include "properties/generators/selecting_model.hpp"

#include <algorithm>
#include <array>

#include "oracle/case/expected_tensors.hpp"
#include "oracle/case/sequences.hpp"
#include "properties/generators/choices.hpp"

namespace tally {
namespace {

constexpr std::int64_t codes = 4, of_each = 3, width = 8, outputs = 4, longest = 8;
constexpr std::array<std::array<int, 4>, codes> code_of{{{1, 1, 1, 1}, {1, -1, 1, -1}, {1, 1, -1, -1}, {1, -1, -1, 1}}};

Layer made(const char* kind, const char* name, std::vector<std::string> inputs, const Options& options = {}) {
  Layer made = layer(kind, name, options);
  made.inputs = std::move(inputs);
  return made;
}

Layer product(const char* name, std::vector<std::string> inputs, std::int64_t out) {
  return made("linear", name, std::move(inputs), {{"out", out}, {"bias", false}});
}

std::vector<Layer> layers(std::int64_t heads, bool causal) {
  return {layer("embedding", "wte", {{"width", width}}),
          product("q", {"wte"}, heads * width),
          product("k", {"wte"}, width),
          product("v", {"wte"}, width),
          made("attention", "att", {"q", "k", "v"},
               {{"heads", heads}, {"kv_heads", std::int64_t{1}}, {"causal", causal}, {"scale", Decimal{"0.25"}}}),
          product("o", {"att"}, width),
          made("add", "sum", {"wte", "o"}),
          made("linear", "fc", {"sum"}, {{"out", width}}),
          layer("relu", "relu"),
          product("out", {"relu"}, outputs)};
}

/// Whole numbers from -1 to 1, always the same ones for a place.
double small(std::size_t place) { return static_cast<double>((place * 2654435761u >> 13) % 3) - 1; }

template <class Of>
Tensor filled(Dtype dtype, std::int64_t rows, std::int64_t columns, Of of) {
  Tensor tensor(dtype, {rows, columns});
  for (std::size_t i = 0; i < tensor.elements(); ++i) {
    const auto column = static_cast<std::int64_t>(i) % columns;
    tensor.set(i, of(static_cast<std::int64_t>(i) / columns, column));
  }
  return tensor;
}

/// The cut of the case's first window, its sequences cut where they are longer.
void cut(Case& to, const Case& c) {
  to.windows = {c.windows.front()};
  const std::vector<std::int64_t> places = places_in_sequences(c);
  std::size_t row = 0;
  for (const std::int64_t size : to.windows.front()) {
    std::int64_t length = 0;
    for (std::int64_t i = 0; i < size; ++i, ++row) {
      const bool begins = i == 0 || places[row] == 0 || length == longest;
      if (begins) to.sequences.push_back(length = 0);
      to.sequences.back() = ++length;
    }
  }
}

/// The codes of a sequence in turn, each twice, of tokens that the case's own draw.
Tensor tokens_of(const Case& to, const Case& c) {
  const std::vector<std::int64_t> places = places_in_sequences(to);
  Tensor tokens(Dtype::i64, {rows_of(to)});
  for (std::size_t row = 0; row < places.size(); ++row) {
    const std::int64_t draw = c.tensors.at("tokens").integer(row), code = (places[row] / 2 + c.model.input) % codes;
    tokens.set_bits(row, static_cast<std::uint64_t>(code + codes * (draw % of_each)));
  }
  return tokens;
}

void fill(Case& to, std::int64_t heads) {
  const Dtype master = Dtype::fp32;
  const auto at = [](std::int64_t i, std::int64_t j) { return static_cast<std::size_t>(i * 64 + j); };
  to.tensors["wte.weight"] = filled(master, codes * of_each, width, [&](std::int64_t token, std::int64_t j) {
    if (j < 4)
      return static_cast<double>(code_of[static_cast<std::size_t>(token % codes)][static_cast<std::size_t>(j)]);
    return j == 4 ? 1 : small(at(token, j)) / 2;
  });
  const auto diagonal = [&](std::int64_t rows, double of_code, double of_one, double of_rest) {
    return filled(master, rows, width, [=](std::int64_t i, std::int64_t j) {
      return i % width != j ? 0 : j < 4 ? of_code : j == 4 ? of_one : of_rest;
    });
  };
  to.tensors["q.weight"] = diagonal(heads * width, 8, 32, 0);
  to.tensors["k.weight"] = diagonal(width, 16, -16, 2);
  to.tensors["v.weight"] = diagonal(width, 1, 1, 1);
  to.tensors["o.weight"] = filled(master, width, heads * width, [&](std::int64_t i, std::int64_t j) {
    return j % width == (i + 1) % width ? small(at(i, j)) : 0;
  });
  to.tensors["fc.weight"] = filled(master, width, width, [&](std::int64_t i, std::int64_t j) {
    return i == j ? 1 : j == (i + 3) % width ? small(at(i + 16, j)) : 0;
  });
  Tensor& bias = to.tensors["fc.bias"] = Tensor(master, {width});  // no output of fc is 0, where ReLU has no slope
  for (std::size_t i = 0; i < bias.elements(); ++i) bias.set(i, 0.125);
  to.tensors["out.weight"] =
      filled(master, outputs, width, [&](std::int64_t i, std::int64_t j) { return small(at(i + 32, j)); });
  to.tensors["target"] = filled(to.precision.storage, rows_of(to), outputs,
                                [&](std::int64_t i, std::int64_t j) { return small(at(i, j + 16)) / 2; });
}

}  // namespace

Case selecting_model(const Case& c) {
  Case to;
  to.name = "selecting " + c.name;
  to.precision.storage = c.precision.storage;
  to.execution = c.execution;
  to.execution.recomputed.clear();          // labels of the other model
  to.execution.kernels.erase("gemm.math");  // its precision's
  to.normalisation = Normalisation::sum;
  const std::int64_t heads = 1 + c.model.input % 2;
  to.model.input = codes * of_each;
  to.model.tokens = true;
  to.model.layers = layers(heads, c.model.input % 3 != 0);
  to.model.loss = choice("loss", "mse");
  to.recipe = {choice("optimizer", "sgd"), choice("learning_rate", "constant", {{"base", Decimal{"0.25"}}}),
               choice("weight_decay", "none"), choice("clip", "none"), choice("loss_scale", "none")};
  cut(to, c);
  to.tensors["tokens"] = tokens_of(to, c);
  fill(to, heads);
  return to;
}

}  // namespace tally
