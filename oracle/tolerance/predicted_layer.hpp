// The bits of a layer's outputs that its subject claims to compute as kernels/arithmetic.md writes them. One file a
// kind, oracle/layers/<kind>.cpp; a kind without one is only bounded.
// Defined in predicted_layer.cpp, oracle/losses/mse.cpp.
#pragma once

#include <source_location>

#include "oracle/tolerance/as_written.hpp"

namespace tally::oracle {

/// The statistics that the subject left, which its later lines read: empty where there are none, or no tap of them.
/// batch_norm has one of each a feature, layer_norm one a row.
struct Statistics {
  Matrix<float> mean, var, rstd;
};

struct PredictedRule {
  Prediction (*y)(const BoundPass& pass, const Matrix<float>& x, const Statistics& statistics);
  Prediction (*rstd)(const BoundPass& pass, const Statistics& statistics);
  Prediction (*dx)(const BoundPass& pass, const Statistics& statistics, const Matrix<float>& dy);
};

struct RegisterPredictedRule {
  RegisterPredictedRule(std::string_view kind, PredictedRule rule,
                        std::source_location at = std::source_location::current());
};

Prediction predicted_y(const BoundPass& pass, const Matrix<float>& x, const Statistics& statistics);
Prediction predicted_rstd(const BoundPass& pass, const Statistics& statistics);
Prediction predicted_dx(const BoundPass& pass, const Statistics& statistics, const Matrix<float>& dy);

/// A parameter of the layer as the subject reads it; 1 x n.
Matrix<float> held(const Expected& tensor);

/// (mse.2), one operation a line as kernels/arithmetic.md writes it.
Prediction predicted_mse_gradient(const Declared& declared, const Matrix<float>& y, const Matrix<float>& target,
                                  const Matrix<long double>& item_weight, float factor);

}  // namespace tally::oracle
