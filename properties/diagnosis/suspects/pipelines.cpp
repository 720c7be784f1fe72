// Suspects of the stages of a pipeline that act by what they know themselves.
#include <algorithm>
#include <cmath>

#include "oracle/case/pipeline.hpp"
#include "oracle/window/rank_norm.hpp"
#include "properties/diagnosis/suspect.hpp"

namespace tally::pipelines_suspect {
namespace {

/// The number that the stage itself has of it, for a tensor that all stages are to have alike.
std::optional<double> own_number(const Evidence& evidence, const HeldTensor& held, const std::string& stage,
                                 const std::string& tensor) {
  if (!is_pipelined(evidence.c)) return std::nullopt;
  const int pipe = std::max(held.name.pipe, 0);  // the first stage's tap names none
  const Tensor* own = evidence.trace.find(TapView{held.name.window, -1, stage, tensor, -1, pipe});
  return own == nullptr || own->elements() != 1 ? std::nullopt : std::optional(own->value(0));
}

// The norm of its own layers.
namespace own_layers {

std::optional<Values> left(const Evidence& evidence, const HeldTensor& held) {
  if (held.name.stage != "norm" || held.name.tensor != "norm") return std::nullopt;
  const std::optional<double> part = own_number(evidence, held, "norm", "part");
  if (!part) return std::nullopt;
  return Values{oracle::hands_over_squares(evidence.c) ? std::sqrt(*part) : *part};
}

const RegisterSuspect registered{{
    .name = "norm-of-own-stage",
    .faults = {"norm-of-own-stage"},
    .stages = {"norm"},
    .sentence = "each stage of the pipeline clips by the norm of its own layers alone",
    .formula = "norm of g_p",
    .remedy = "sum the squares over the pipeline's stages before the clip",
    .left = left,
}};

}  // namespace own_layers

// Its own finding.
namespace own_finding {

std::optional<Values> left(const Evidence& evidence, const HeldTensor& held) {
  if (held.name.stage != "agree" || held.name.tensor != "found") return std::nullopt;
  const std::optional<double> found = own_number(evidence, held, "agree", "in.found");
  return found ? std::optional(Values{*found}) : std::nullopt;
}

const RegisterSuspect registered{{
    .name = "stages-skip-apart",
    .faults = {"stages-skip-apart"},
    .stages = {"agree"},
    .sentence = "each stage of the pipeline acts upon the overflow that it found itself",
    .formula = "found_p",
    .remedy = "let all stages of the pipeline skip where one found an overflow",
    .left = left,
}};

}  // namespace own_finding

}  // namespace
}  // namespace tally::pipelines_suspect
