#include "properties/diagnosis/tap_words.hpp"

#include <array>
#include <string_view>

#include "oracle/case/optimizer_state.hpp"

namespace tally {
namespace {

/// `before` and `after` stand around what follows the prefix in a tensor's name.
struct TapWords {
  std::string_view stage, prefix, before, after;
};

constexpr std::array<TapWords, 25> all_tap_words{{
    {"count", "items", "the number of items", ""},
    {"loss", "in.factor", "what each item's loss is multiplied by", ""},
    {"loss", "in.y", "the model's output, as the loss reads it", ""},
    {"loss", "d.y", "the gradient of the model's output", ""},
    {"loss", "loss", "the losses of the rows", ""},
    {"backward", "d.", "the micro-batch's gradient of ", ""},
    {"accumulate", "in.buffer.", "the gradient (.grad) of ", " before the micro-batch is added"},
    {"accumulate", "buffer.", "the gradient (.grad) of ", " with the micro-batch added"},
    {"reduce", "reduced.", "the sum over ranks of the gradient of ", ""},
    {"overflow_check", "found", "whether an overflow was found", ""},
    {"overflow_check", "in.buffer.", "the accumulated gradient of ", ""},
    {"unscale", "in.buffer.", "the accumulated gradient of ", ""},
    {"unscale", "d.", "the unscaled gradient of ", ""},
    {"norm", "norm", "the norm of all gradients", ""},
    {"clip", "coefficient", "what the clip multiplies gradients by", ""},
    {"clip", "d.", "the clipped gradient of ", ""},
    {"decay", "d.", "the gradient of ", " with its weight decay"},
    {"optimizer", "in.d.", "the gradient of ", ", as the step reads it"},
    {"optimizer", "in.learning_rate", "the learning rate of the step", ""},
    {"optimizer", "in.step", "the steps that the optimizer has counted", ""},
    {"schedule", "learning_rate", "the learning rate of the window", ""},
    {"schedule", "step", "the steps that were taken", ""},
    {"scaler", "scale", "the loss scale behind the window", ""},
    {"scaler", "growth_counter", "the scaler's count of windows without an overflow", ""},
    {"optimizer", "in.", "what the step reads of ", ""},
}};

}  // namespace

std::string words_of_tap(const TapName& name) {
  for (const TapWords& words : all_tap_words) {
    const bool whole = words.prefix.back() != '.';
    if (name.stage != words.stage) continue;
    if (whole ? name.tensor != words.prefix : !name.tensor.starts_with(words.prefix)) continue;
    const std::string rest = whole ? "" : name.tensor.substr(words.prefix.size());
    return std::string(words.before) + rest + std::string(words.after);
  }
  if (name.stage == "optimizer") {
    const std::string_view parameter = parameter_of_state(name.tensor);
    if (parameter.empty()) return "the parameter " + name.tensor + " behind the step";
    const std::string state = name.tensor.substr(0, name.tensor.size() - parameter.size() - 1);
    return "the optimizer's " + state + " of " + std::string(parameter);
  }
  if (name.stage == "forward" && name.tensor.ends_with(".y") && !name.tensor.starts_with("in."))
    return "the output of " + name.tensor.substr(0, name.tensor.size() - 2);
  return "";
}

}  // namespace tally
