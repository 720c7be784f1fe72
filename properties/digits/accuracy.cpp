#include "properties/digits/accuracy.hpp"

#include "oracle/layers/contract.hpp"
#include "oracle/layers/exact.hpp"
#include "oracle/window/exact_stages.hpp"

namespace tally {
namespace {

using Wide = long double;

/// The last tap `w*/<stage>/<name>` (any micro-batch), or the case's own tensor.
const Tensor& last(const Case& c, const Trace& trace, const std::string& stage, const std::string& name) {
  for (auto tap = trace.taps().rbegin(); tap != trace.taps().rend(); ++tap) {
    if (tap->name.stage == stage && tap->name.tensor == name) return tap->value;
  }
  return c.tensors.at(name);
}

oracle::Tensors<Wide> tensors_of(const Case& c, const Trace& trace, const Layer& l) {
  oracle::Tensors<Wide> tensors;
  for (const LayerTensor& tensor : find_contract("layer", l.kind)->tensors) {
    if (!tensor.present(l) || tensor.role == Role::mask) continue;
    const std::string stage = tensor.role == Role::running ? "running_stats" : "optimizer";
    tensors[tensor.name] = oracle::lift<Wide>(last(c, trace, stage, l.name + "." + tensor.name));
  }
  return tensors;
}

}  // namespace

double accuracy(const Case& c, const Trace& trace) {
  oracle::Matrix<Wide> y = oracle::lift<Wide>(c.tensors.at("x"));
  const auto rows = y.rows();
  for (Layer l : c.model.layers) {
    if (l.kind == "dropout") continue;
    if (l.kind == "batch_norm") l.options["statistics"] = std::string("frozen");
    const auto tensors = tensors_of(c, trace, l);
    y = oracle::exact_layer<Wide>(l.kind).forward({l, tensors, {rows}}, y).y;
  }
  const Tensor& target = c.tensors.at("target");
  int right = 0;
  for (Eigen::Index row = 0; row < rows; ++row) {
    Eigen::Index best = 0;
    y.row(row).maxCoeff(&best);
    right += best == target.integer(static_cast<std::size_t>(row));
  }
  return static_cast<double>(right) / static_cast<double>(rows);
}

}  // namespace tally
