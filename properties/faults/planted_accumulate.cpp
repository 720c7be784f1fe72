#include "properties/faults/planted_accumulate.hpp"

#include "kernels/training_step/stages.hpp"
#include "properties/faults/planted_change.hpp"

namespace tally {

void accumulate_by(Run& run, const std::function<double(double buffer, double gradient)>& sum, Mix mix) {
  std::vector<Tensor> before;
  for (Parameter& parameter : run.parameters) before.push_back(parameter.buffer.read());
  stage::accumulate(run);
  std::size_t next = 0;
  for (Parameter& parameter : run.parameters) {
    const void* address = run.gradient_of(&parameter, run.micro_batch);
    const Tensor gradient = read(run, address, parameter.gradient.dtype, {parameter.elements});
    const Tensor& old = before[next++];
    change(run, parameter.buffer,
           [&](std::size_t i, double right) { return mixed(mix, i, right, sum(old.value(i), gradient.value(i))); });
    run.tap("accumulate", "buffer." + parameter.name, parameter.buffer);
  }
}

}  // namespace tally
