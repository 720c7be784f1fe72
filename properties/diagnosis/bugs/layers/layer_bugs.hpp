// Bugs of one formula an element: activations, and layers that normalise.
#pragma once

#include <optional>
#include <source_location>
#include <string>
#include <vector>

#include "oracle/case/contract.hpp"
#include "properties/diagnosis/evidence.hpp"

namespace tally {

// Known mistakes in an activation and in its derivative, for the suspect activation-otherwise.

/// One element: dy is 0 in forward; of dropout whether it is kept, and the rate p.
struct ActivationElement {
  double x, dy;
  bool kept;
  double p;
};

/// What a stage would leave with one thing done otherwise.
struct ActivationOtherwise {
  const char *kind, *stage;  // stage empty: both directions
  std::string sentence, formula;
  double (*left)(const ActivationElement& a);
};

/// Of a kind or a family of kinds. What may be wrong with every activation, that it is another or that its derivative is
/// left out, is known without.
struct RegisterActivationOtherwise {
  explicit RegisterActivationOtherwise(std::vector<ActivationOtherwise> ways,
                                       std::source_location at = std::source_location::current());
};

// Activations by their exact mathematics.

/// Whether layers of the kind are activations: they have one input, no tensors, and no option but the one that chooses
/// between kernels.
bool is_activation(const Contract& contract);
/// y of every x.
Values activated(const Layer& layer, const Values& x);
/// dx of every x and dy.
Values activation_gradient(const Layer& layer, const Values& x, const Values& dy);

// Batch norm and layer norm in binary64, with one thing done otherwise: for suspects.

/// How a normalising layer may differ from its definition; as it stands, nothing does.
struct NormalisedAs {
  std::string sentence, formula;
  double count_less = 0;           // the mean's divisor is n less this
  double variance_count_less = 0;  // the variance's
  bool keeps_mean = false;         // x is not centred
  bool centred_variance = true;    // else E[x²]
  double (*rstd)(double variance, double eps) = nullptr;
  /// dx = rstd (g - a mean(g) - b x̂ mean(g x̂)), g = weight dy
  double a = 1, b = 1;
  bool weighted = true;     // g = weight dy; else dy
  int powers_of_rstd = 1;   // before the bracket
  bool raw_x = false;       // the weight's gradient is Σ dy x
  bool centred_x = false;   // the weight's gradient is Σ dy (x - mean)
  double sum_for_mean = 0;  // the means in dx are sums where 1
};

/// What it leaves in this tensor of a layer_norm, or of a batch_norm with its micro-batch's statistics: y, mean, var,
/// rstd, dx, and the parameters' gradients. nullopt for any other tensor, or where a tap is missing.
std::optional<Values> normalised(const Evidence& evidence, const HeldTensor& held, const NormalisedAs& as);

}  // namespace tally
