// What a step reads of its case, what it takes of it, and how it hands over its taps: Tally's functions in words of C++.
#pragma once

#include <tally/subject.h>

#include <cstdint>
#include <stdexcept>
#include <string>
#include <vector>

using Floats = std::vector<float>;
using Shape = std::vector<std::int64_t>;

/// This step does no such thing.
struct Declined : std::runtime_error {
  using std::runtime_error::runtime_error;
};

class HandedOver {
 public:
  explicit HandedOver(const tally_run& run) : run_(run) {}

 protected:
  // --- what the case says
  std::string text(const std::string& pointer) const {
    const char* found = run_.text(run_.tally, pointer.c_str());
    return found != nullptr ? found : "";
  }
  double number(const std::string& pointer) const { return run_.number(run_.tally, pointer.c_str()); }
  std::int64_t integer(const std::string& pointer) const { return static_cast<std::int64_t>(number(pointer)); }

  void only(const std::string& pointer, const std::string& wanted) const {
    if (text(pointer) != wanted)
      throw Declined(pointer.substr(1) + " is '" + text(pointer) + "'; this step takes '" + wanted + "'");
  }

  Floats floats(const std::string& name) const {
    const tally_tensor* tensor = run_.tensor(run_.tally, name.c_str());
    if (tensor == nullptr) return {};
    const auto* first = static_cast<const float*>(tensor->data);
    return {first, first + tensor->bytes / sizeof(float)};
  }

  /// Everything else is declined.
  void require_fp32_and_plain_recipe() const {
    for (const char* key : {"storage", "compute", "accumulate", "master"})
      only(std::string("/precision/") + key, "fp32");
    only("/recipe/optimizer/kind", "sgd");
    only("/recipe/learning_rate/kind", "constant");
    for (const char* section : {"weight_decay", "clip"}) only(std::string("/recipe/") + section + "/kind", "none");
    if (text("/recipe/loss_scale/kind") != "static") only("/recipe/loss_scale/kind", "none");
    if (text("/model/loss/kind") == "mse") return only("/model/loss/item_weights", "false");
    only("/model/loss/kind", "cross_entropy");
    if (number("/model/loss/label_smoothing") != 0) throw Declined("label_smoothing; this step takes 0");
    if (run_.count(run_.tally, "/model/loss/weight") != 0) throw Declined("class weights; this step takes none");
  }

  std::int64_t rows_of(std::int64_t window, std::int64_t k) const {
    return integer("/windows/" + std::to_string(window) + "/" + std::to_string(k));
  }
  std::int64_t micro_batches(std::int64_t window) const {
    return run_.count(run_.tally, ("/windows/" + std::to_string(window)).c_str());
  }

  // --- what is handed over
  void tap(const std::string& stage, const std::string& tensor, std::int32_t dtype, const Shape& shape,
           const void* data, bool of_micro_batch) {
    std::string name = "w" + std::to_string(window_) + "/";
    if (of_micro_batch) name += "m" + std::to_string(micro_batch_) + "/";
    name += stage + "/" + tensor;
    run_.tap(run_.tally, name.c_str(), dtype, static_cast<std::int32_t>(shape.size()), shape.data(), data, TALLY_HOST);
  }
  void tap_m(const std::string& stage, const std::string& tensor, const Shape& shape, const Floats& values) {
    tap(stage, tensor, TALLY_FP32, shape, values.data(), true);
  }
  void tap_w(const std::string& stage, const std::string& tensor, const Shape& shape, const Floats& values) {
    tap(stage, tensor, TALLY_FP32, shape, values.data(), false);
  }

  const tally_run& run_;
  std::int64_t window_ = 0, micro_batch_ = 0;  // under way: where a tap belongs
};
