// The text of a small case with a batch_norm.
#pragma once

#include <string>

namespace tally {

/// Five rows through a linear layer and a batch_norm; `more` stands behind its statistics, ", \"running\": …", and
/// `execution` behind the windows.
inline std::string text(const std::string& windows, const std::string& statistics, const std::string& more = "",
                        const std::string& execution = "", const std::string& version = "3") {
  return R"({"tally_case": )" + version + R"(, "model": {"input": 1, "layers": [
    {"kind": "linear", "name": "fc", "out": 1, "bias": false},
    {"kind": "batch_norm", "name": "bn", "affine": false, "statistics": ")" +
         statistics + "\"" + more + R"(}], "loss": {"kind": "mse"}}, "windows": )" + windows + execution +
         R"(, "precision": {"storage": "fp32", "compute": "fp32", "accumulate": "fp32", "master": "fp32", "tf32": false},
    "recipe": {"optimizer": {"kind": "sgd"}, "learning_rate": {"kind": "constant", "base": 0.5},
    "weight_decay": {"kind": "none"}, "clip": {"kind": "none"}, "loss_scale": {"kind": "none"}},
    "tensors": {"fc.weight": {"dtype": "fp32", "shape": [1, 1], "data": [1]},
    "bn.running_mean": {"dtype": "fp32", "shape": [1], "data": [0]},
    "bn.running_var": {"dtype": "fp32", "shape": [1], "data": [1]},
    "x": {"dtype": "fp32", "shape": [5, 1], "data": [1, 2, 3, 4, 5]},
    "target": {"dtype": "fp32", "shape": [5, 1], "data": [0, 0, 0, 0, 0]}}})";
}

}  // namespace tally
