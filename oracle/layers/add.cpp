// Element by element over the inputs x_0, x_1, …; the same output named twice counts twice.
// (add.1)  y = x_0 + x_1 + …
// (add.2)  dx_j = dy for every j: the gradient is handed on, and nothing is computed
// (add.3)  the gradient of an output that several layers read is the sum of what its readers give
// add: (add.1) as a sum in the order of the list, stored after every addition; (add.2) is the gradient itself.
// add: (add.1) bit by bit, as kernels/arithmetic.md writes it.
#include "oracle/case/contract.hpp"
#include "oracle/case/file/findings.hpp"
#include "oracle/register_kind.hpp"
#include "oracle/tolerance/predicted_bits.hpp"
#include "oracle/tolerance/rule.hpp"

namespace tally::oracle::add_kind {
namespace {

template <class T>
ForwardResult<T> forward(const Pass<T>& pass, const Matrix<T>& x) {
  Matrix<T> y = x;
  for (const Matrix<T>* more : pass.others) y += *more;
  return {std::move(y), {}, {}};
}

template <class T>
BackwardResult<T> backward(const Pass<T>&, const Matrix<T>&, const Matrix<T>& dy) {
  return {dy, {}};
}

const Contract contract{.kind = "add",
                        .options = {},
                        .drawn = false,
                        .least_inputs = 2,
                        .most_inputs = most_layer_inputs,
                        .hands_gradient_on = true,
                        .definition = "y = the sum of its inputs, in the order of their list"};

ExpectedForward forward(const BoundPass& pass, const Expected& x) {
  std::vector<const Expected*> addends{&x};
  addends.insert(addends.end(), pass.others.begin(), pass.others.end());
  Expected y = added_in_turn(pass.declared, "add.forward", addends);
  if (pass.declared.certifies()) y.v = exact_forward(pass, x).y;
  return {std::move(y), {}, {}, {}};
}

ExpectedBackward backward(const BoundPass&, const Expected&, const Expected& dy) { return {dy, {}}; }

Prediction y(const BoundPass& pass, const Matrix<float>& x, const Statistics&) {
  std::vector<Matrix<float>> addends{x};
  for (const Expected* other : pass.others) addends.push_back(held(*other));
  return predicted_in_turn(pass.declared, "add.forward", addends);
}

const Register<LayerDefinition> registered{{contract,
                                            []<class T>(Scalar<T>) -> ExactLayer<T> {
                                              return {forward<T>, backward<T>};
                                            },
                                            {{forward, backward}, {y, nullptr, nullptr}}}};

}  // namespace
}  // namespace tally::oracle::add_kind
