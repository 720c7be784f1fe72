// Formulas that suspects share: a layer's product and weight gradient, a norm, a running statistic, the terms of a
// loss; and what a tap is to its stage.
#pragma once

#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "oracle/case/contract.hpp"
#include "properties/diagnosis/evidence.hpp"

namespace tally {

// The layer that a tensor belongs to, for suspects that compute it otherwise.

/// The index of the layer of this kind (empty: of any) whose label stands in `<before><label><after>`; nullopt where
/// the tensor is named otherwise.
std::optional<std::size_t> layer_at(const Evidence& evidence, const HeldTensor& held, const std::string& before,
                                    const std::string& kind, const std::string& after);

// The product of a linear layer's forward, with another arithmetic than declared.

/// y = x W^T + b, where the product's sum takes each term by `add(sum, x, w)` in the order of the columns, is rounded
/// to the tensor's format, and takes the bias. nullopt where the tensor is no linear layer's output, or a tap is
/// missing.
std::optional<Values> linear_product(const Evidence& evidence, const HeldTensor& held,
                                     const std::function<double(double sum, double x, double w)>& add);

// The weight gradient of a linear layer, with another sum than declared.

/// dW = dy^T x over the micro-batch's first `rows(all rows)` rows, where every operand is read by `operand`. nullopt
/// where the tensor is no weight gradient of a linear layer, or a tap is missing.
std::optional<Values> weight_gradient(const Evidence& evidence, const HeldTensor& held,
                                      const std::function<std::size_t(std::size_t)>& rows,
                                      const std::function<double(double)>& operand);

// The 2-norm of some gradients of a window, for suspects that take it of the wrong ones.

/// Over the taps `<stage>/<prefix><parameter>`; nullopt where one is missing.
std::optional<Values> norm_of(const Evidence& evidence, int window, const std::string& stage, const std::string& prefix,
                              const std::vector<std::string>& parameters);

/// Over the taps `norm/in.d.<parameter>`, of the kind that the case's clip asks for: 2, 1 or inf.
std::optional<Values> recipe_norm_of(const Evidence& evidence, int window, const std::vector<std::string>& parameters);

// One update of a running statistic, for suspects that do it otherwise.

/// What an update of this tensor reads; nullopt where it is no running statistic, or a tap is missing.
struct RunningUpdate {
  Values running, batch;  // before, and of this micro-batch; the variance is biased
  double momentum = 0;
  double unbiased = 1;  // n / (n - 1) for the variance
};
std::optional<RunningUpdate> running_update(const Evidence& evidence, const HeldTensor& held);

/// kept * running + taken * batch.
Values mixed(const Values& running, double kept, const Values& batch, double taken);

// The two terms of a smoothed cross-entropy: the target's and that of all classes.

/// One row: w (1 - e) nll_t, w (e / C) sum nll_c and d(first) / dz, all without the factor; w is 0 for an ignored row.
struct SmoothedRow {
  double main = 0, spread = 0;
  Values main_gradient;
};

/// nullopt where the loss is another, does not smooth, weighs its classes, or a tap is missing.
std::optional<std::vector<SmoothedRow>> smoothed_rows(const Evidence& evidence, int window, int micro_batch);

// What a tap is to its stage, whichever layer or parameter it belongs to: "in.*.weight", "in.momentum.*".

/// The tensor's name with a star for the layer or the parameter. Layers of other kinds have other roles.
std::string role_of(const Case& c, const TapName& name);
/// The numbers of the taps in that role that the failing stage read or left.
std::vector<std::size_t> taps_in_role(const Evidence& evidence, const std::string& role);
/// The tensor in that role for the layer or parameter that `beside` belongs to.
std::string in_role(const Case& c, const std::string& role, const TapName& beside);
/// "weight", "momentum", "d.y".
std::string words_of_role(const std::string& role);

/// The roles of what the failing stage read for the failing tensor, counts left out.
std::vector<std::string> input_roles(const Evidence& evidence);

}  // namespace tally
