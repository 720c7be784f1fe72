#include "properties/generators/cancelling_data.hpp"

#include <array>
#include <cmath>
#include <random>

#include "oracle/case/formats.hpp"

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

}  // namespace tally
