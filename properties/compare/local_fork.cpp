// The gradient of an output, or of a parameter, that several layers read, (add.3), of each micro-batch.
#include <algorithm>

#include "oracle/tolerance/added_in_turn.hpp"
#include "properties/compare/local_walk.hpp"

namespace tally {
namespace {

/// `tensor` is what the tensors that were given come to; nothing is asked where one of them is missing.
void check_sum(LocalWalk& walk, const std::string& tensor, const std::vector<const Tensor*>& given) {
  if (std::ranges::count(given, nullptr) > 0) return;
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
  walk.check_output("fork", tensor, sum, {}, bits);
}

}  // namespace

void check_fork(LocalWalk& walk, const LayerView& layer, int first, int last) {
  for (walk.micro_batch = first; walk.micro_batch < last; ++walk.micro_batch) {
    std::vector<const Tensor*> given;
    for (auto reader = layer.readers.rbegin(); reader != layer.readers.rend(); ++reader) {
      const StageTensor from = gradient_given_by(walk.layers, *reader);
      given.push_back(walk.handed("fork", "in.d." + walk.layers[reader->layer].input_name(reader->input),
                                  walk.tap(from.stage, from.tensor)));
    }
    check_sum(walk, "d." + layer.label + ".y", given);
  }
  walk.micro_batch = -1;
}

void check_shared_parameters(LocalWalk& walk, int first, int last) {
  for (const SharedParameter& shared : shared_parameters(walk.c.model)) {
    for (walk.micro_batch = first; walk.micro_batch < last; ++walk.micro_batch) {
      std::vector<const Tensor*> given;
      for (auto user = shared.users.rbegin(); user != shared.users.rend(); ++user) {
        const std::string gradient = walk.layers[*user].gradient_name("weight");
        given.push_back(walk.handed("fork", "in." + gradient, walk.tap("backward", gradient)));
      }
      check_sum(walk, "d." + shared.name, given);
    }
  }
  walk.micro_batch = -1;
}

}  // namespace tally
