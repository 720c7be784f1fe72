#include "properties/studies/evidence/change.hpp"

#include <cmath>

namespace tally {
namespace {

using executor::Schedule;

bool is_floating(const Tensor& tensor) { return tensor.dtype != Dtype::i64 && tensor.dtype != Dtype::u8; }

double power(Schedule& random) { return std::ldexp(1.0, static_cast<int>(random.below(7)) - 3); }

void change_element(Tensor& tensor, Schedule& random) {
  const std::size_t i = random.below(tensor.elements());
  switch (random.below(5)) {
    case 0:
      return tensor.set_bits(i, tensor.bits(i) ^ (std::uint64_t{1} << random.below(8 * size_of(tensor.dtype))));
    case 1:
      return tensor.set_bits(i, tensor.bits(i) + (random.below(2) == 0 ? 1 : -1));
    case 2:
      return tensor.set(i, -tensor.value(i));
    case 3:
      return tensor.set(i, tensor.value(i) * power(random));
    default:
      return tensor.set_bits(i, tensor.bits(random.below(tensor.elements())));
  }
}

void scale(Tensor& tensor, double factor) {
  for (std::size_t i = 0; i < tensor.elements(); ++i) tensor.set(i, tensor.value(i) * factor);
}

/// What the contract asks of the values; the tensor goes back to what it was where that cannot be had.
void make_valid(const std::string& name, Tensor& tensor, const Tensor& before) {
  const bool variance = name.ends_with("running_var") || name.starts_with("exp_avg_sq");
  for (std::size_t i = 0; i < tensor.elements(); ++i) {
    if (variance) tensor.set(i, std::fabs(tensor.value(i)));
    if (!std::isfinite(tensor.value(i))) {
      tensor = before;
      return;
    }
  }
  tensor.drawing.reset();
}

void change_data(Case& c, Schedule& random) {
  std::vector<std::string> names;
  for (const auto& [name, tensor] : c.tensors) {
    if (is_floating(tensor) && tensor.elements() > 0) names.push_back(name);
  }
  const std::string& name = names[random.below(names.size())];
  Tensor& tensor = c.tensors.at(name);
  const Tensor before = tensor;
  random.below(8) == 0 ? scale(tensor, random.below(2) == 0 ? 2 : 0.5) : change_element(tensor, random);
  make_valid(name, tensor, before);
}

}  // namespace

void change(CleanCase& made, Schedule& random) {
  switch (random.below(8)) {
    case 0:
      made.run.subject.order_seed = random.next() | 1;
      break;
    case 1:
      made.run.subject.schedule_seed = random.next() | 1;
      break;
    default:
      change_data(made.c, random);
  }
}

}  // namespace tally
