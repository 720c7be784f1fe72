// A training step of one's own: linear layers and ReLU, mean squares or cross-entropy, accumulation over micro-batches,
// a static loss scale, SGD with momentum. Everything in fp32. What it does not do it declines, with the reason.
//
// As a user would have it: no line of Tally but its header. With -DMEAN_OF_MEANS it has a famous mistake: the mean of
// every micro-batch is divided by the number of micro-batches, however many rows each has.
#include <cmath>
#include <cstdint>
#include <stdexcept>
#include <string>
#include <vector>

#include "handed_over.hpp"
#include "losses.hpp"
#include "products.hpp"

namespace {

struct Layer {
  std::string label;
  std::int64_t in, out;
  bool linear, bias;
  Floats x, y;  // of the micro-batch under way
};

struct Parameter {
  std::string name;
  Shape shape;
  Floats value, gradient, buffer, momentum;
};

class Step : private HandedOver {
 public:
  explicit Step(const tally_run& run) : HandedOver(run) {
    require_fp32_and_plain_recipe();
    read_model();
    rate_ = static_cast<float>(number("/recipe/learning_rate/base"));
    momentum_ = static_cast<float>(number("/recipe/optimizer/momentum"));
    one_minus_dampening_ = static_cast<float>(1 - number("/recipe/optimizer/dampening"));
    nesterov_ = text("/recipe/optimizer/nesterov") == "true";
    if (const tally_tensor* step = run_.tensor(run_.tally, "step"))
      steps_ = *static_cast<const std::int64_t*>(step->data);
  }

  void train() {
    const std::int64_t windows = run_.count(run_.tally, "/windows");
    for (window_ = 0; window_ < windows; ++window_) train_window();
  }

 private:
  void add_parameter(const std::string& name, const Shape& shape) {
    Parameter p{name, shape, floats(name), {}, {}, floats("momentum." + name)};
    p.gradient.resize(p.value.size());
    parameters_.push_back(p);
  }

  void read_model() {
    std::int64_t features = integer("/model/input");
    const std::int64_t count = run_.count(run_.tally, "/model/layers");
    for (std::int64_t i = 0; i < count; ++i) {
      const std::string at = "/model/layers/" + std::to_string(i);
      const std::string kind = text(at + "/kind"), name = text(at + "/name");
      if (kind != "linear" && kind != "relu") throw Declined("a layer '" + kind + "'; this step takes linear and relu");
      Layer layer{
          name.empty() ? kind + "#" + std::to_string(i) : name, features, features, kind == "linear", false, {}, {}};
      if (layer.linear) {
        layer.out = features = integer(at + "/out");
        layer.bias = text(at + "/bias") == "true";
        add_parameter(name + ".weight", {layer.out, layer.in});
        if (layer.bias) add_parameter(name + ".bias", {layer.out});
      }
      layers_.push_back(layer);
    }
    outputs_ = features;
    x_ = floats("x");
    squares_ = text("/model/loss/kind") == "mse";
    if (squares_) {
      target_ = floats("target");
      return;
    }
    ignored_ = integer("/model/loss/ignore_index");
    const tally_tensor* target = run_.tensor(run_.tally, "target");
    const auto* first = static_cast<const std::int64_t*>(target->data);
    classes_.assign(first, first + target->bytes / sizeof(std::int64_t));
  }

  /// Rows that count: none that is ignored.
  std::int64_t items(std::int64_t first, std::int64_t rows) const {
    std::int64_t count = 0;
    for (std::int64_t row = first; row < first + rows; ++row) count += squares_ || classes_[row] != ignored_;
    return count;
  }

  void train_window() {
    const std::int64_t k = micro_batches(window_);
    std::int64_t window_rows = 0;
    for (std::int64_t i = 0; i < k; ++i) window_rows += rows_of(window_, i);
    const std::int64_t window_items = items(row_, window_rows);
    for (Parameter& p : parameters_) {
      p.buffer.assign(p.value.size(), 0);
      tap_w("cast", "in." + p.name, p.shape, p.value);
      tap_w("cast", p.name, p.shape, p.value);
    }
    for (micro_batch_ = 0; micro_batch_ < k; ++micro_batch_) {
      rows_ = rows_of(window_, micro_batch_);
      forward();
      backward(loss(factor(window_items, items(row_, rows_), k)));
      accumulate();
      row_ += rows_;
    }
    step();
  }

  double scale() const { return text("/recipe/loss_scale/kind") == "static" ? number("/recipe/loss_scale/scale") : 1; }

  /// What the loss is multiplied by on its way back.
  float factor(std::int64_t window_items, std::int64_t own_items, std::int64_t k) const {
    const std::string normalisation = text("/normalisation");
    double divisor = 1;
    if (normalisation == "window_items") divisor = static_cast<double>(window_items);
    if (normalisation == "mean_of_means") divisor = static_cast<double>(k * own_items);
    if (normalisation == "mean_of_means_configured") divisor = static_cast<double>(micro_batches(0) * own_items);
#ifdef MEAN_OF_MEANS
    divisor = static_cast<double>(k * own_items);
#endif
    return divisor == 0 ? 0 : static_cast<float>(scale() / divisor);
  }

  Parameter& parameter(const std::string& name) {
    for (Parameter& p : parameters_)
      if (p.name == name) return p;
    throw std::logic_error(name);
  }

  void forward() {
    const std::int64_t in = layers_.front().in;
    Floats x(x_.begin() + row_ * in, x_.begin() + (row_ + rows_) * in);
    for (Layer& layer : layers_) {
      layer.x = x;
      layer.y.assign(static_cast<std::size_t>(rows_ * layer.out), 0);
      tap_m("forward", "in." + layer.label + ".x", {rows_, layer.in}, layer.x);
      if (layer.linear) {
        multiply(layer);
      } else {
        for (std::size_t i = 0; i < x.size(); ++i) layer.y[i] = x[i] > 0 ? x[i] : x[i] != x[i] ? x[i] : 0;
      }
      tap_m("forward", layer.label + ".y", {rows_, layer.out}, layer.y);
      x = layer.y;
    }
  }

  void multiply(Layer& layer) {
    const Parameter& weight = parameter(layer.label + ".weight");
    tap_m("forward", "in." + weight.name, weight.shape, weight.value);
    if (layer.bias)
      tap_m("forward", "in." + layer.label + ".bias", {layer.out}, parameter(layer.label + ".bias").value);
    layer.y = product(layer.x, weight.value, sizes_of(layer));
    if (!layer.bias) return;
    const Floats& bias = parameter(layer.label + ".bias").value;
    for (std::size_t i = 0; i < layer.y.size(); ++i) layer.y[i] += bias[i % bias.size()];
  }

  Sizes sizes_of(const Layer& layer) const { return {rows_, layer.in, layer.out}; }

  /// The gradient of the scaled loss by the model's output.
  Floats loss(float factor) {
    const Floats& y = layers_.back().y;
    Floats losses(static_cast<std::size_t>(rows_)), dy(y.size());
    tap_m("loss", "in.y", {rows_, outputs_}, y);
    if (squares_)
      tap_m("loss", "in.target", {rows_, outputs_},
            Floats(target_.begin() + row_ * outputs_, target_.begin() + (row_ + rows_) * outputs_));
    else
      tap("loss", "in.target", TALLY_I64, {rows_}, classes_.data() + row_, true);
    tap_m("loss", "in.factor", {}, {factor});
    for (std::int64_t r = 0; r < rows_; ++r) {
      const float* row = &y[r * outputs_];
      float* const gradient = &dy[r * outputs_];
      const std::int64_t target = squares_ ? 0 : classes_[row_ + r];
      if (squares_) losses[r] = squares(row, &target_[(row_ + r) * outputs_], outputs_, factor, gradient);
      if (!squares_ && target != ignored_) losses[r] = cross_entropy(row, target, outputs_, factor, gradient);
    }
    tap_m("loss", "loss", {rows_}, losses);
    tap_m("loss", "d.y", {rows_, outputs_}, dy);
    return dy;
  }

  void backward(Floats dy) {
    for (std::size_t l = layers_.size(); l-- > 0;) {
      Layer& layer = layers_[l];
      tap_m("backward", "in.d." + layer.label + ".y", {rows_, layer.out}, dy);
      tap_m("backward", "in." + layer.label + ".x", {rows_, layer.in}, layer.x);
      if (layer.linear) parameter_gradients(layer, dy);
      bool below = false;  // is there anything to learn below?
      for (std::size_t other = 0; other < l; ++other) below = below || layers_[other].linear;
      if (!below) return;
      dy = layer.linear ? through_linear(layer, dy) : relu_gradient(dy, layer.x);
      tap_m("backward", "d." + layer.label + ".x", {rows_, layer.in}, dy);
    }
  }

  void parameter_gradients(const Layer& layer, const Floats& dy) {
    Parameter& weight = parameter(layer.label + ".weight");
    weight.gradient = weight_gradient(dy, layer.x, sizes_of(layer));
    tap_m("backward", "d." + weight.name, weight.shape, weight.gradient);
    if (!layer.bias) return;
    Parameter& bias = parameter(layer.label + ".bias");
    for (std::int64_t o = 0; o < layer.out; ++o) {
      float sum = 0;
      for (std::int64_t r = 0; r < rows_; ++r) sum += dy[r * layer.out + o];
      bias.gradient[o] = sum;
    }
    tap_m("backward", "d." + bias.name, bias.shape, bias.gradient);
  }

  Floats through_linear(const Layer& layer, const Floats& dy) {
    const Parameter& weight = parameter(layer.label + ".weight");
    tap_m("backward", "in." + weight.name, weight.shape, weight.value);
    return input_gradient(dy, weight.value, sizes_of(layer));
  }

  void accumulate() {
    for (Parameter& p : parameters_) {
      tap_m("accumulate", "in.d." + p.name, p.shape, p.gradient);
      tap_m("accumulate", "in.buffer." + p.name, p.shape, p.buffer);
      for (std::size_t i = 0; i < p.buffer.size(); ++i) p.buffer[i] += p.gradient[i];
      tap_m("accumulate", "buffer." + p.name, p.shape, p.buffer);
    }
  }

  void step() {
    const auto inverse_scale = static_cast<float>(1 / scale());
    for (Parameter& p : parameters_) {
      tap_w("unscale", "in.buffer." + p.name, p.shape, p.buffer);
      tap_w("unscale", "in.inverse_scale", {}, {inverse_scale});
      for (float& each : p.buffer) each *= inverse_scale;
      tap_w("unscale", "d." + p.name, p.shape, p.buffer);
    }
    tap_w("optimizer", "in.learning_rate", {}, {rate_});
    tap("optimizer", "in.step", TALLY_I64, {}, &steps_, false);
    for (Parameter& p : parameters_) step(p);
    tap("schedule", "in.step", TALLY_I64, {}, &steps_, false);
    ++steps_;
    tap("schedule", "step", TALLY_I64, {}, &steps_, false);
    tap_w("schedule", "learning_rate", {}, {rate_});
  }

  void step(Parameter& p) {
    tap_w("optimizer", "in.d." + p.name, p.shape, p.buffer);
    tap_w("optimizer", "in." + p.name, p.shape, p.value);
    const bool keeps = momentum_ != 0, first = p.momentum.empty();
    if (keeps && !first) tap_w("optimizer", "in.momentum." + p.name, p.shape, p.momentum);
    if (keeps) p.momentum.resize(p.value.size());
    for (std::size_t i = 0; i < p.value.size(); ++i) {
      float direction = p.buffer[i];
      if (keeps) {
        const float moved = first ? direction : momentum_ * p.momentum[i] + one_minus_dampening_ * direction;
        p.momentum[i] = moved;
        direction = nesterov_ ? direction + momentum_ * moved : moved;
      }
      p.value[i] -= rate_ * direction;
    }
    tap_w("optimizer", p.name, p.shape, p.value);
    if (keeps) tap_w("optimizer", "momentum." + p.name, p.shape, p.momentum);
  }

  std::vector<Layer> layers_;
  std::vector<Parameter> parameters_;
  Floats x_, target_;
  std::vector<std::int64_t> classes_;
  std::int64_t outputs_ = 0, ignored_ = 0, steps_ = 0, row_ = 0, rows_ = 0;
  bool squares_ = false, nesterov_ = false;
  float rate_ = 0, momentum_ = 0, one_minus_dampening_ = 0;
};

/// An exception must not leave a function that C calls.
std::int32_t run(const tally_run* case_) {
  try {
    Step(*case_).train();
    return TALLY_RAN;
  } catch (const Declined& reason) {
    case_->say(case_->tally, reason.what());
    return TALLY_DECLINED;
  } catch (const std::exception& problem) {
    case_->say(case_->tally, problem.what());
    return TALLY_FAILED;
  }
}

/// Sums run one after another, so that no height is declared; constants are derived in binary64.
const char claims[] = R"({"subject": "my step", "constants": "binary64", "divide": "micro_batch",
  "flushes_subnormals": false, "tensor_cores": false, "kernels": {}})";

const tally_step step{TALLY_STEP_ABI, "my step", claims, nullptr, run};

}  // namespace

extern "C" const tally_step* tally_step_entry(void) { return &step; }
