#include "properties/generators/ordinary/images.hpp"

#include "properties/digits/data.hpp"

namespace tally {

void show_digits(const Plan& plan, Case& c) {
  constexpr std::size_t pixels = 64;
  const Digits& data = digits_data();
  Tensor &x = c.tensors.at("x"), &target = c.tensors.at("target");
  const auto columns = static_cast<std::size_t>(plan.input), rows = static_cast<std::size_t>(x.shape[0]);
  const bool labelled = plan.loss.kind == "cross_entropy" && plan.outputs >= 10;
  for (std::size_t row = 0; row < rows; ++row) {
    const std::size_t image = (plan.seed + row) % data.labels.size();
    for (std::size_t i = 0; i < columns; ++i) x.set(row * columns + i, data.pixels[image * pixels + i % pixels] / 16.0);
    if (labelled) target.set(row, data.labels[image]);
  }
  x.drawing.reset();
  if (labelled) target.drawing.reset();
}

}  // namespace tally
