// Data and a small language model for which every sum is exact in any order.
#include "properties/generators/exact_cases.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <random>

#include "oracle/case/contract.hpp"
#include "oracle/case/rows.hpp"
#include "oracle/case/tensors/tensor.hpp"
#include "properties/generators/choices.hpp"

namespace tally {
namespace {

/// What fits a storage format: odd factors, two of which fill it, and the powers of two a gradient is made of.
struct Widths {
  int least, most;                  // factors, odd
  std::array<int, 2> steps;         // exponents of y - target, of even and odd micro-batches
  static constexpr int within = 7;  // the larger one in a micro-batch of three rows; the smaller is 2^12 below
};

Widths widths_of(Dtype storage) {
  switch (storage) {
    case Dtype::fp32:
      return {47, 63, {-5, 2}};
    case Dtype::fp16:
      return {17, 31, {-5, 0}};
    case Dtype::bf16:
      return {9, 15, {-5, 7}};
    default:
      throw unsupported_format(storage, "cancelling data");
  }
}

class CancellingData {
 public:
  CancellingData(const Plan& plan, Case& c)
      : case_(c), widths_(widths_of(plan.precision.storage)), random_(plan.seed), outputs_(plan.outputs) {
    a_ = odd();
    do b_ = odd();
    while (b_ == a_);
  }

  void draw() {
    draw_layer();
    for (std::size_t w = 0; w < case_.windows.size(); ++w) {
      for (std::size_t k = 0; k < case_.windows[w].size(); ++k) draw_micro_batch(w, k);
    }
    for (auto& [name, tensor] : case_.tensors) tensor.drawing.reset();
  }

 private:
  using Rows = std::array<double, 4>;

  std::int64_t below(std::int64_t n) { return static_cast<std::int64_t>(random_() % static_cast<std::uint64_t>(n)); }
  double between(int least, int most) { return static_cast<double>(least + below(most - least + 1)); }
  double sign() { return below(2) == 0 ? 1 : -1; }
  double odd() { return widths_.least + 2 * static_cast<double>(below((widths_.most - widths_.least) / 2 + 1)); }

  Tensor& layer(const std::string& name) { return case_.tensors.at(case_.model.layers.back().name + "." + name); }

  void draw_layer() {
    for (std::int64_t o = 0; o < outputs_; ++o) {
      const double v = sign() * odd();
      set(layer("weight"), o, {v * b_, between(-2, 2), -v * a_, between(-2, 2)});
      layer("bias").set(static_cast<std::size_t>(o), between(-3, 3));
    }
  }

  void draw_micro_batch(std::size_t window, std::size_t k) {
    const std::int64_t first = first_row(case_, window, k), count = case_.windows[window][k];
    for (std::int64_t i = 0; i < count; ++i) {
      const double u = sign() * odd();
      const bool repeated = count == 3 && i == 2;
      set(case_.tensors.at("x"), first + i,
          repeated ? row(case_.tensors.at("x"), first) : Rows{u * a_, between(-1, 1), u * b_, between(-1, 1)});
    }
    for (std::int64_t o = 0; o < outputs_; ++o) {
      const double outer = sign();
      for (std::int64_t i = 0; i < count; ++i) {
        int exponent = widths_.steps[k % 2];
        if (count == 3) exponent = i == 1 ? Widths::within - 12 : Widths::within;
        const double side = count != 3 || i == 1 ? sign() : i == 0 ? outer : -outer;
        set_target(first + i, o, std::ldexp(side, exponent));
      }
    }
  }

  void set_target(std::int64_t r, std::int64_t o, double step) {
    const Rows x = row(case_.tensors.at("x"), r), w = row(layer("weight"), o);
    double y = layer("bias").value(static_cast<std::size_t>(o));
    for (std::size_t i = 0; i < x.size(); ++i) y += x[i] * w[i];
    case_.tensors.at("target").set(static_cast<std::size_t>(r * outputs_ + o), y - step);
  }

  static Rows row(const Tensor& tensor, std::int64_t i) {
    Rows values{};
    for (std::size_t j = 0; j < values.size(); ++j) values[j] = tensor.value(static_cast<std::size_t>(i) * 4 + j);
    return values;
  }
  static void set(Tensor& tensor, std::int64_t i, const Rows& values) {
    for (std::size_t j = 0; j < values.size(); ++j) tensor.set(static_cast<std::size_t>(i) * 4 + j, values[j]);
  }

  Case& case_;
  Widths widths_;
  std::mt19937_64 random_;
  std::int64_t outputs_;
  double a_ = 0, b_ = 0;
};

}  // namespace

void draw_cancelling(const Plan& plan, Case& c) { CancellingData(plan, c).draw(); }

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
