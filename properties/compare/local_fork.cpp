// The gradient of an output that several layers read, (add.3), of each micro-batch.
#include <algorithm>

#include "oracle/tolerance/added_in_turn.hpp"
#include "properties/compare/local_walk.hpp"

namespace tally {

void check_fork(LocalWalk& walk, const LayerView& layer, int first, int last) {
  for (walk.micro_batch = first; walk.micro_batch < last; ++walk.micro_batch) {
    std::vector<const Tensor*> given;
    for (auto reader = layer.readers.rbegin(); reader != layer.readers.rend(); ++reader) {
      const StageTensor from = gradient_given_by(walk.layers, *reader);
      given.push_back(walk.handed("fork", "in.d." + walk.layers[reader->layer].input_name(reader->input),
                                  walk.tap(from.stage, from.tensor)));
    }
    if (std::ranges::count(given, nullptr) > 0) continue;
    const auto sum = [&] {
      std::vector<oracle::Expected> read;
      std::vector<const oracle::Expected*> addends;
      for (const Tensor* each : given) read.push_back(oracle::as_read(*each));
      for (const oracle::Expected& each : read) addends.push_back(&each);
      return oracle::added_in_turn(walk.declared, "gradient.add", addends);
    };
    const Bits bits{[&] {
      std::vector<oracle::Matrix<float>> addends;
      for (const Tensor* each : given) addends.push_back(oracle::floats_of(*each));
      return oracle::predicted_in_turn(walk.declared, "gradient.add", addends);
    }};
    walk.check_output("fork", "d." + layer.label + ".y", sum, {}, bits);
  }
  walk.micro_batch = -1;
}

}  // namespace tally
