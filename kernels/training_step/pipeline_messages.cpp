// What stages of a pipeline hand to each other: the output of a part to the part behind it, and back the gradient of what
// that read.
#include <string>
#include <vector>

#include "kernels/ranks/link.hpp"
#include "kernels/training_step/stages.hpp"
#include "oracle/case/pipeline.hpp"
#include "oracle/layers/contract.hpp"

namespace tally::stage {
namespace {

/// "w0/m2/send, p1 to p2", of parts. Each message of a window has a name of its own.
std::string about_message(const Run& run, std::size_t from, std::size_t to) {
  return "w" + std::to_string(run.window) + "/m" + std::to_string(run.micro_batch) + "/send, part " +
         std::to_string(from) + " to " + std::to_string(to);
}

int stage_with_part(const Run& run, std::size_t part) { return static_cast<int>(stage_of_part(run.c, part)); }

std::string first_read(const LayerState& layer) {
  return layer.label + "." + input_word(*layer.layer, layer.inputs.size(), 0);
}

/// `tensor` of the layer that begins the part behind, or the one whose output goes there, travels.
void hand_over(Run& run, std::size_t to, const std::string& tensor, void* address, std::int64_t features) {
  const std::vector<std::int64_t> shape{run.rows(run.micro_batch), features};
  run.tap("send", "in." + tensor, address, run.c.precision.storage, shape);
  Tensor value(run.c.precision.storage, shape);
  run.device.read(address, value.bytes.data(), value.bytes.size());
  run.options.pipe->send(stage_with_part(run, to), about_message(run, run.part, to),
                         {value.bytes.data(), value.bytes.size()});
}

DeviceTensor taken(Run& run, std::size_t from, const std::string& name, const std::string& tensor,
                   std::int64_t features) {
  Tensor value(run.c.precision.storage, {run.rows(run.micro_batch), features});
  run.options.pipe->receive(stage_with_part(run, from), about_message(run, from, run.part),
                            {value.bytes.data(), value.bytes.size()});
  DeviceTensor held(run.device, "received " + name, value);
  run.tap("receive", tensor, held);
  return held;
}

}  // namespace

void receive(Run& run) {
  if (run.behind_forward) {
    if (run.part_end == run.layers.size() || !run.layers[run.part_end].gives_dx) return;
    LayerState& reader = run.layers[run.part_end];
    LayerState& own = run.layers[run.part_end - 1];
    const std::string gradient = "d." + own.label + ".y";
    const bool summed = own.readers.size() > 1;
    (summed ? own.dy : reader.dx) =
        taken(run, run.part + 1, summed ? gradient : "d." + first_read(reader), gradient, own.out);
  } else if (run.part > 0) {
    LayerState& before = run.layers[run.part_begin - 1];
    before.y = taken(run, run.part - 1, before.label + ".y", first_read(run.layers[run.part_begin]), before.out);
  }
}

void send(Run& run) {
  if (run.behind_forward) {
    LayerState& own = run.layers[run.part_begin];
    if (run.part == 0 || !own.gives_dx) return;
    const LayerState& before = run.layers[run.part_begin - 1];
    if (before.readers.size() > 1)
      hand_over(run, run.part - 1, "d." + before.label + ".y", run.dy_of(before, run.micro_batch), before.out);
    else
      hand_over(run, run.part - 1, "d." + first_read(own), run.dx_of(own, run.micro_batch), own.in);
  } else if (run.part_end < run.layers.size()) {
    LayerState& own = run.layers[run.part_end - 1];
    hand_over(run, run.part + 1, own.label + ".y", run.y_of(own, run.micro_batch), own.out);
  }
}

}  // namespace tally::stage
