#include "properties/diagnosis/suspects/running_update.hpp"

namespace tally {

std::optional<RunningUpdate> running_update(const Evidence& evidence, const HeldTensor& held) {
  const Case& c = evidence.c;
  const int w = held.name.window, k = held.name.micro_batch;
  for (std::size_t i = 0; i < c.model.layers.size(); ++i) {
    const std::string label = label_of(c.model, i);
    const bool mean = held.name.tensor == label + ".running_mean";
    if (c.model.layers[i].kind != "batch_norm" || !(mean || held.name.tensor == label + ".running_var")) continue;
    const auto running = evidence.tap(w, k, "running_stats", "in." + held.name.tensor);
    const auto batch = evidence.tap(w, k, "running_stats", "in." + label + (mean ? ".mean" : ".var"));
    if (!running || !batch) return std::nullopt;
    const auto n = static_cast<double>(k < 0 ? evidence.rows(w) : evidence.rows(w, k));
    const double momentum = c.model.layers[i].number("momentum").to_double();
    return RunningUpdate{*running, *batch, momentum, mean ? 1 : n / (n - 1)};
  }
  return std::nullopt;
}

Values mixed(const Values& running, double kept, const Values& batch, double taken) {
  Values moved = running;
  for (std::size_t i = 0; i < moved.size(); ++i) moved[i] = kept * running[i] + taken * batch[i];
  return moved;
}

}  // namespace tally
