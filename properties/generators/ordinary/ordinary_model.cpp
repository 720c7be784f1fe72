// The model of an ordinary plan, and images of handwritten digits as its rows.
#include <algorithm>

#include "oracle/case/kinds.hpp"
#include "properties/campaign/training/data.hpp"
#include "properties/generators/choices.hpp"
#include "properties/generators/ordinary/ordinary_plan.hpp"

namespace tally {
namespace {

/// What stands between two linear layers.
struct Between {
  std::string norm, activation, dropout;
};

std::int64_t drawn_width(OrdinarySize size, Lots& lots) {
  if (size == OrdinarySize::small) return lots.any<std::int64_t>({10, 16, 16, 20, 24, 32, 32, 48, 64, 64});
  if (size == OrdinarySize::medium) return lots.any<std::int64_t>({96, 100, 128, 128, 192, 256});
  if (size == OrdinarySize::large) return lots.any<std::int64_t>({300, 384, 500, 512, 512});
  return lots.any<std::int64_t>({512, 640, 768, 784, 896, 1000, 1024});
}

int drawn_depth(OrdinarySize size, Lots& lots) {
  if (size == OrdinarySize::small) return lots.any({1, 2, 2, 3, 3, 4, 5, 6});
  if (size == OrdinarySize::medium) return lots.any({2, 2, 3, 3, 4});
  return size == OrdinarySize::large ? lots.any({2, 2, 3}) : lots.any({1, 2, 2});
}

/// Features of x, which the kind of input has a say in.
std::int64_t drawn_input(const std::string& values, OrdinarySize size, std::int64_t width, Lots& lots) {
  if (values == "digits") return 64;
  if (size == OrdinarySize::small) return lots.any<std::int64_t>({2, 4, 8, 10, 13, 16, 30, 32, 64});
  if (size == OrdinarySize::medium) return lots.any<std::int64_t>({20, 64, 100, 128, 256});
  if (size == OrdinarySize::large) return lots.any<std::int64_t>({128, 256, 300, 512});
  return width * lots.any<std::int64_t>({784, width}) <= 1 << 20 ? lots.any<std::int64_t>({784, width}) : 784;
}

Between drawn_between(Lots& lots) {
  Between between;
  between.norm = lots.word({"", "", "", "layer_norm", "layer_norm", "batch_norm", "batch_norm"});
  between.activation = lots.word({"relu", "relu", "relu", "gelu", "gelu", "tanh", "sigmoid"});
  between.dropout = lots.word({"", "", "", "", "", "", "0.1", "0.2", "0.5"});
  return between;
}

Layer batch_norm(const std::string& name) {
  return layer("batch_norm", name, {{"statistics", std::string("micro_batch")}});
}

void add_block(Plan& plan, int index, std::int64_t width, const Between& between, const std::string& gelu) {
  const std::string number = std::to_string(index);
  const bool bias = between.norm != "batch_norm" || index % 2 == 1;  // often left out before BatchNorm
  plan.hidden.push_back(layer("linear", "fc" + number, {{"out", width}, {"bias", bias}}));
  if (between.norm == "layer_norm") plan.hidden.push_back(layer("layer_norm", "norm" + number));
  if (between.norm == "batch_norm") plan.hidden.push_back(batch_norm("norm" + number));
  if (between.activation == "gelu") {
    plan.hidden.push_back(layer("gelu", "", {{"approximate", gelu}}));
  } else {
    plan.hidden.push_back(layer(between.activation));
  }
  if (!between.dropout.empty())
    plan.hidden.push_back(layer("dropout", "drop" + number, {{"p", Decimal{between.dropout}}}));
}

void choose_loss(Plan& plan, std::int64_t width, Lots& lots) {
  if (lots.one_in(3)) {
    plan.loss = choice("loss", "mse");
    plan.outputs = lots.any<std::int64_t>({1, 1, 10, std::min<std::int64_t>(width, 64)});
    return;
  }
  plan.loss = choice("loss", "cross_entropy", {{"label_smoothing", Decimal{lots.word({"0", "0", "0", "0.1"})}}});
  plan.outputs = width < 100 ? lots.any<std::int64_t>({2, 3, 10, 10, 10}) : lots.any<std::int64_t>({10, 10, 100});
}

/// A weight of 10^7 elements, or 10^3 features that 10^4 rows turn into as many.
void choose_huge_model(Plan& plan, Lots& lots) {
  plan.values = "pytorch/" + lots.word({"", "unit", "binary:50"});
  plan.loss = choice("loss", "mse");
  plan.input = 16;
  plan.outputs = 1000;
  const int kind = lots.any({0, 0, 1, 2});
  if (kind == 0) plan.input = 3162, plan.outputs = 3163;
  if (kind == 1) {
    plan.hidden = {layer("linear", "fc1", {{"out", std::int64_t{1000}}}),
                   layer(lots.word({"relu", "gelu", "tanh", "sigmoid"}))};
    plan.outputs = 1;
  }
}

}  // namespace

void choose_ordinary_model(Plan& plan, OrdinarySize size, Lots& lots) {
  if (size == OrdinarySize::huge) return choose_huge_model(plan, lots);
  std::string values =
      lots.word({"", "", "", "", "unit", "unit", "binary:50", "binary:10", "one_hot", "digits", "digits"});
  const std::string start = lots.word(
      {"pytorch", "pytorch", "pytorch", "pytorch", "pytorch", "pytorch", "he", "near_one", "near_one", "constant"});
  if (size == OrdinarySize::true_size && values == "digits") values = "unit";  // too few pixels
  plan.values = start + "/" + values;
  std::int64_t width = drawn_width(size, lots);
  const int depth = drawn_depth(size, lots);
  plan.input = drawn_input(values, size, width, lots);
  const Between between = drawn_between(lots);
  const std::string gelu = lots.word({"none", "none", "tanh"});
  const bool narrowing = lots.one_in(4);
  for (int i = 1; i < depth; ++i) {
    add_block(plan, i, width, between, gelu);
    if (narrowing) width = std::max<std::int64_t>(width / 2, 8);
  }
  choose_loss(plan, width, lots);
  if (depth == 1 && size == OrdinarySize::true_size) {
    plan.input = lots.any<std::int64_t>({512, 784, 1000});
    plan.outputs = lots.any<std::int64_t>({256, 512, 1000});
  }
}

bool has_batch_statistics(const Plan& plan) {
  return std::any_of(plan.hidden.begin(), plan.hidden.end(),
                     [](const Layer& l) { return l.kind == kinds::batch_norm; });
}

void show_digits(const Plan& plan, Case& c) {
  constexpr std::size_t pixels = 64;
  const Digits& data = digits_data();
  Tensor &x = c.tensors.at("x"), &target = c.tensors.at("target");
  const auto columns = static_cast<std::size_t>(plan.input), rows = static_cast<std::size_t>(x.shape[0]);
  const bool labelled = plan.loss.kind == kinds::cross_entropy && plan.outputs >= 10;
  for (std::size_t row = 0; row < rows; ++row) {
    const std::size_t image = (plan.seed + row) % data.labels.size();
    for (std::size_t i = 0; i < columns; ++i) x.set(row * columns + i, data.pixels[image * pixels + i % pixels] / 16.0);
    if (labelled) target.set(row, data.labels[image]);
  }
  x.drawing.reset();
  if (labelled) target.drawing.reset();
}

}  // namespace tally
