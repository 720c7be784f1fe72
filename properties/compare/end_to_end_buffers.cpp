// Gradient buffers end to end: what micro-batches bring, added one after another.
#include "oracle/tolerance/rule.hpp"
#include "properties/compare/end_to_end_step.hpp"
#include "properties/compare/end_to_end_walk.hpp"

namespace tally {
namespace {

using oracle::Expected;

/// The buffer of a parameter with one more gradient. It starts at zero: the first addition only stores. A compensated
/// sum is bounded as a whole, since its compensation is not in the buffer.
Expected added(EndToEndWalk& walk, const std::string& p, const Expected& gradient) {
  const auto before = walk.buffers.find(p);
  const bool compensated = oracle::claim_of(walk.declared, "accumulate").algorithm == "kahan";
  if (compensated) walk.addends[p].push_back(gradient);
  const auto rule = [&] {
    if (compensated) return oracle::compensated_sum(walk.declared, walk.addends.at(p));
    return before == walk.buffers.end() ? oracle::cast(walk.declared.accumulate, gradient)
                                        : oracle::accumulated(walk.declared, before->second, gradient);
  };
  const bool direct = walk.micro_batches() == 1 && walk.tap("accumulate", "buffer." + p) == nullptr &&
                      walk.tap("accumulate", "in.buffer." + p) == nullptr;
  return direct ? rule() : walk.held("accumulate", "buffer." + p, rule);
}

/// The buffer of a parameter with one more product added to it.
Expected added(EndToEndWalk& walk, const std::string& p, const Gradients::Product& product) {
  const auto before = walk.buffers.find(p);
  const Expected zero = oracle::as_read(Tensor(walk.c.precision.accumulate, walk.c.tensors.at(p).shape));
  const Expected& buffer = before == walk.buffers.end() ? zero : before->second;
  return walk.held("accumulate", "buffer." + p,
                   [&] { return oracle::accumulated_by_gemm(walk.declared, buffer, product.a, product.b); });
}

/// One more gradient: the buffer by its bits, and within the bound of any order.
void add_in_order(const EndToEndWalk& walk, const std::string& p, SumInOrder& sum, const Expected& gradient) {
  if (sum.additions++ == 0) {
    sum.bits = oracle::as_read(Tensor(walk.c.precision.accumulate, walk.c.tensors.at(p).shape));
    sum.in_any_order = sum.bits;
    sum.size = oracle::Matrix<double>::Zero(gradient.v.rows(), gradient.v.cols());
  }
  sum.bits = oracle::held_accumulate(walk.declared, sum.bits.v.cast<float>(), gradient.v.cast<float>());
  sum.size += gradient.v.cwiseAbs().cast<double>();
  sum.in_any_order.v += gradient.v;
  sum.in_any_order.e = oracle::gam(2 * sum.additions, walk.declared.accumulate.unit_roundoff()) * sum.size;
}

/// Gradients that are all tapped, added one micro-batch after another: the buffer's bits are known, though the buffers
/// between are not tapped. Other bits that some order may leave are another order.
void hold_order(EndToEndWalk& walk, const std::string& p, const Expected& gradient) {
  const bool known = (gradient.e.array() == 0).all() && walk.buffers.contains(p) == walk.in_order.contains(p);
  if (!known || oracle::claim_of(walk.declared, "accumulate").algorithm == "kahan") {
    walk.in_order.erase(p);
    return;
  }
  SumInOrder& sum = walk.in_order[p];
  add_in_order(walk, p, sum, gradient);
  const Tensor* got = walk.tap("accumulate", "buffer." + p);
  if (got == nullptr) return;
  TensorCheck& check = walk.checks.back();
  const Place place{check.lens, check.tap, check.stage};
  const TensorCheck bits = judge(place, sum.bits, *got);
  if (bits.status != Status::fail || judge(place, sum.in_any_order, *got).status == Status::fail) return;
  check.status = Status::fail;
  check.failure = FailureClass::order;
  check.differing = bits.over_bound;
}

/// One more gradient of a parameter, added to its buffer.
void add_gradient(EndToEndWalk& walk, const std::string& p, const Expected& gradient) {
  Expected buffer = added(walk, p, gradient);
  if (walk.resynchronise && walk.judges) hold_order(walk, p, gradient);
  walk.buffers[p] = std::move(buffer);
}

}  // namespace

void add_gradients(EndToEndWalk& walk, const Gradients& gradients) {
  for (const std::string& p : walk.parameters) {
    if (const auto product = gradients.products.find(p); product != gradients.products.end())
      walk.buffers[p] = added(walk, p, product->second);
    else
      add_gradient(walk, p, gradients.separate.at(p));
  }
}

void add_gradients(EndToEndWalk& walk, oracle::ExpectedTensors gradients) {
  Gradients all{std::move(gradients), {}, {}};
  if (walk.departure != nullptr) depart(walk, all);
  for (const std::string& p : walk.parameters) add_gradient(walk, p, all.separate.at(p));
}

void add_gradients(EndToEndWalk& walk, const Group& group, std::vector<Gradients>& kept) {
  for (walk.micro_batch = group.first; walk.micro_batch < group.last; ++walk.micro_batch) {
    const auto k = static_cast<std::size_t>(walk.micro_batch - group.first);
    if (walk.departure != nullptr) depart(walk, kept[k]);
    add_gradients(walk, kept[k]);
  }
  walk.micro_batch = -1;
}

}  // namespace tally
