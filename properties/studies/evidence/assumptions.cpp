#include "properties/studies/evidence/assumptions.hpp"

namespace tally {

const std::vector<TestedAssumption>& tested_assumptions() {
  static const std::vector<TestedAssumption> all{
      {"size", "statistical lens", "a bias that all elements share grows as the root of their number"},
      {"size", "elementwise", "stages of 10^7 elements, each of them predicted or its worst case counted"},
      {"size", "order of addition", "long sums, split as kernels split them"},
      {"input", "statistical lens", "0, 1 and grey values: many products share their significand"},
      {"input", "rounding", "one-hot rows: sums of one addend, exact zeros"},
      {"initial values", "statistical lens", "constant weights: a whole tensor rounds alike"},
      {"initial values", "variance", "equal features: a variance that is rounding alone"},
      {"structure", "variance", "means and deviations of real activations, widths up to 10^3"},
      {"structure", "1 / square root", "the same, backward"},
      {"activation", "exp, log, tanh, erf", "arguments as they come"},
      {"linear layers", "decisions", "depth: intervals that leave ReLU masks open"},
      {"formats", "storage", "16-bit activations over several layers"},
      {"formats", "gradient buffer", "buffers narrower than products"},
      {"formats", "master", "small steps of large numbers"},
      {"formats", "GEMM", "TF32 operands and fp16 accumulators"},
      {"loss", "softmax", "logits as initial values leave them"},
      {"optimizer", "constants", "betas, corrections and rates as PyTorch's defaults have them"},
      {"optimizer", "elementwise", "products by a constant; first steps of Adam, all ± the rate: bits are predicted"},
      {"clip", "order of addition", "norms over all parameters"},
      {"loss scale", "decisions", "GradScaler's 65536: windows that overflow and are skipped"},
      {"micro-batches", "divisor", "1/K and 1/N, exact and not"},
      {"windows", "gradient buffer", "what one window leaves to the next"},
  };
  return all;
}

}  // namespace tally
