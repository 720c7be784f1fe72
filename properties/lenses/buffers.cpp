// What a window counts, and its gradient buffers: what micro-batches bring, added one after another.
#include <algorithm>
#include <limits>

#include "oracle/case/contract.hpp"
#include "oracle/case/kinds.hpp"
#include "oracle/case/ranks.hpp"
#include "oracle/case/rows.hpp"
#include "oracle/case/sharding.hpp"
#include "oracle/graph/stage.hpp"
#include "oracle/tolerance/rule.hpp"
#include "properties/lenses/stages.hpp"

namespace tally {
namespace {

using oracle::Expected;
using oracle::FloatView;

// count: exactly, under the local lens. A subject need not tap its counts: missing ones are not asked for.

void check_counted_input(Walk& walk, const std::string& tensor, const Tensor& of_the_case) {
  if (walk.tap("count", tensor) != nullptr) walk.input("count", tensor, &of_the_case);
}

/// The count of a micro-batch, or of the window; as tapped, else as it should be.
std::int64_t check_items(Walk& walk, std::int64_t items) {
  const Tensor* tapped = walk.tap("count", "items");
  if (tapped == nullptr) return items;
  walk.output("count", "items", oracle::scalar(static_cast<long double>(items)));
  return tapped->integer(0);
}

/// The window's count: the sum of its micro-batches', and of all ranks' where there are several.
void check_whole_count(Walk& walk, std::int64_t own) {
  if (!in_ranks(walk.c)) {
    check_items(walk, own);
    return;
  }
  if (walk.tap("count", "in.items") != nullptr)
    walk.output("count", "in.items", oracle::scalar(static_cast<long double>(own)));
  if (const auto all = counted_items(whole_of(walk.c), static_cast<std::size_t>(walk.window)))
    check_items(walk, all->of_window);
}

// accumulate under the local lens.

/// The buffer that micro-batch k is added to, behind the first.
Value buffer_before(const Walk& walk, const std::string& p, int k) {
  const bool total = in_ranks(walk.c) && communicate_of(walk.c) == Communicate::running_total;
  return total ? walk.left("reduce", "reduced." + p, k - 1)
               : walk.left("accumulate", "buffer." + p, backward_before(walk.c, walk.micro_batches(), k));
}

/// A compensated sum whose compensation is tapped: what it leaves is known bit by bit. False where it is not.
bool check_compensated(Walk& walk, const std::string& p, const Tensor& buffer, const Tensor& gradient) {
  const bool claimed = oracle::claim_of(walk.declared, "accumulate").algorithm == "kahan";
  if (!claimed || walk.tap("accumulate", "in.compensation." + p) == nullptr) return false;
  const int before = backward_before(walk.c, walk.micro_batches(), walk.micro_batch);
  const Value compensation = walk.input(
      "accumulate", "in.compensation." + p,
      before < 0 ? walk.zeros(p, walk.c.precision.accumulate) : walk.left("accumulate", "compensation." + p, before));
  const auto next = [&] {
    return oracle::rounded_compensated(walk.declared, FloatView(buffer), FloatView(*compensation.bits()),
                                       FloatView(gradient));
  };
  walk.exact_output("accumulate", "buffer." + p, [&] { return next().buffer; }, {});
  walk.exact_output("accumulate", "compensation." + p, [&] { return next().compensation; }, {});
  return true;
}

/// One more addition, of which the claim gives the bits or a bound.
void check_buffer(Walk& walk, const std::string& tensor, const Value& buffer, const Value& gradient) {
  auto bits = oracle::rounded_accumulate(walk.declared, FloatView(*buffer.bits()), FloatView(*gradient.bits()));
  if (bits) {
    walk.exact_output("accumulate", tensor, [&] { return std::move(*bits); }, {});
  } else {
    walk.output("accumulate", tensor, [&](const oracle::Declared& declared) {
      return oracle::accumulated(declared, *buffer.read(), *gradient.read());
    });
  }
}

void check_accumulate(Walk& walk) {
  const int k = walk.micro_batch;
  for (const std::string& p : walk.parameters) {
    const Value gradient = walk.input("accumulate", "in.d." + p, gradient_added(walk, p));
    const Value before = backward_before(walk.c, walk.micro_batches(), k) < 0
                             ? walk.zeros(p, walk.c.precision.accumulate)
                             : buffer_before(walk, p, k);
    const Value buffer = walk.input("accumulate", "in.buffer." + p, before);
    if (!gradient.known() || !buffer.known()) continue;
    if (check_compensated(walk, p, *buffer.bits(), *gradient.bits())) continue;
    check_buffer(walk, "buffer." + p, buffer, gradient);
  }
}

// accumulate under the other lenses.

bool is_compensated(const Walk& walk) { return oracle::claim_of(walk.declared, "accumulate").algorithm == "kahan"; }

/// The buffer of a parameter with one more gradient. It starts at zero: the first addition only stores. A compensated
/// sum is bounded as a whole, since its compensation is not in the buffer.
Value added(Walk& walk, const std::string& p, const Value& gradient) {
  const auto before = walk.buffers.find(p);
  if (is_compensated(walk)) walk.addends[p].push_back(*gradient.read());
  const auto rule = [&](const oracle::Declared& declared) {
    if (is_compensated(walk)) return oracle::compensated_sum(declared, walk.addends.at(p));
    return before == walk.buffers.end() ? oracle::cast(declared, declared.accumulate, *gradient.read())
                                        : oracle::accumulated(declared, *before->second.read(), *gradient.read());
  };
  const bool direct = walk.micro_batches() == 1 && walk.tap("accumulate", "buffer." + p) == nullptr &&
                      walk.tap("accumulate", "in.buffer." + p) == nullptr;
  return direct ? Value(rule(walk.declared)) : walk.output("accumulate", "buffer." + p, rule);
}

/// One more gradient: the buffer by its bits, and within the bound of any order.
void add_in_order(Walk& walk, const std::string& p, SumInOrder& sum, const Expected& gradient) {
  if (sum.additions++ == 0) {
    sum.bits = *walk.zeros(p, walk.c.precision.accumulate).read();
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
void hold_order(Walk& walk, const std::string& p, const Expected& gradient) {
  const bool known = (gradient.e.array() == 0).all() && walk.buffers.contains(p) == walk.in_order.contains(p);
  if (!known || is_compensated(walk)) {
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

Expected transpose(const Expected& x) { return {x.v.transpose(), x.e.transpose()}; }

/// The layer whose product the subject adds to this parameter's buffer without making the gradient.
std::optional<std::size_t> added_by_product(const Walk& walk, const std::string& p) {
  if (is_opaque(walk.c.model)) return {};
  for (std::size_t i = 0; i < walk.layers.size(); ++i) {
    const LayerView& layer = walk.layers[i];
    if (layer.layer->kind != kinds::linear || layer.shares_weight || layer.full_name("weight") != p) continue;
    const bool into = oracle::claim_of(walk.declared, "linear.weight_gradient").algorithm == "into_buffer";
    const bool penalised = walk.deviation != nullptr && walk.deviation->penalty;
    if (into && !penalised) return i;
  }
  return {};
}

/// The buffer of a parameter with one more product added to it.
Value added_product(Walk& walk, const std::string& p, std::size_t i) {
  const StageTensor given = gradient_of_output(walk.layers, walk.layers[i]);
  const auto dy = walk.left(given.stage, given.tensor).read(), x = layer_input(walk, i, 0, "backward").read();
  const auto before = walk.buffers.find(p);
  const Value buffer = before == walk.buffers.end() ? walk.zeros(p, walk.c.precision.accumulate) : before->second;
  return walk.output("accumulate", "buffer." + p, [&](const oracle::Declared& declared) {
    return oracle::accumulated_by_gemm(declared, *buffer.read(), transpose(*dy), *x);
  });
}

/// One more gradient of a parameter, added to its buffer.
void add_gradient(Walk& walk, const std::string& p, const Value& gradient) {
  Value buffer = added(walk, p, gradient);
  if (walk.lens == Lens::group && walk.judges) hold_order(walk, p, *gradient.read());
  walk.buffers[p] = std::move(buffer);
}

void expect_accumulate(Walk& walk) {
  std::map<std::string, Value> gradients;
  std::map<std::string, std::size_t> products;
  for (const std::string& p : walk.parameters) {
    if (const auto layer = added_by_product(walk, p))
      products[p] = *layer;
    else
      gradients[p] = gradient_added(walk, p);
  }
  if (walk.deviation != nullptr) deviate(walk, gradients);
  for (const std::string& p : walk.parameters) {
    if (const auto product = products.find(p); product != products.end())
      walk.buffers[p] = added_product(walk, p, product->second);
    else
      add_gradient(walk, p, gradients.at(p));
  }
}

/// What the last sum over ranks left in a buffer; unknown where it left no tap, or nothing was added up.
Value summed_by_ranks(const Walk& walk, const std::string& p) {
  if (!communicates_each(walk.c) || replicas_of(walk.c) > 1) return walk.left("reduce", "reduced." + p);
  const int last = static_cast<int>(micro_steps_of(walk.c, static_cast<std::size_t>(walk.window))) - 1;
  const bool gradients = communicate_of(walk.c) == Communicate::micro_batch;
  return gradients ? walk.left("accumulate", "buffer." + p, last) : walk.left("reduce", "reduced." + p, last);
}

/// The gradient that the capture of an opaque model has, else any number.
Value given_gradient(const Walk& walk, const std::string& p) {
  const Tensor* tapped = walk.tap("backward", "d." + p);
  if (tapped == nullptr) tapped = walk.tap("accumulate", "in.d." + p);
  if (tapped != nullptr) return oracle::as_read(*tapped);
  Expected any = oracle::as_read(Tensor(walk.c.precision.storage, walk.c.tensors.at(p).shape));
  any.e.setConstant(std::numeric_limits<double>::infinity());
  return any;
}

}  // namespace

void walk_count(Walk& walk) {
  const auto window = static_cast<std::size_t>(walk.window);
  const auto counted = counted_items(walk.c, window);
  if (!counted) return;
  std::uint64_t sum = 0;  // modulo 2^64, as a subject adds what a trace may hold
  for (walk.micro_batch = 0; walk.micro_batch < walk.micro_batches(); ++walk.micro_batch) {
    const auto k = static_cast<std::size_t>(walk.micro_batch);
    check_counted_input(walk, std::string("in.") + counted_tensor(walk.c.model.loss), counted_rows(walk.c, window, k));
    if (shifts_labels(walk.c.model.loss))
      check_counted_input(walk, "in.sequences", sequence_lengths(walk.c, window, k));
    sum += static_cast<std::uint64_t>(check_items(walk, counted->of_micro_batch[k]));
  }
  walk.micro_batch = -1;
  check_whole_count(walk, static_cast<std::int64_t>(sum));
}

Value gradient_added(const Walk& walk, const std::string& p) {
  if (!walk.is_local() && is_opaque(walk.c.model)) return given_gradient(walk, p);
  if (walk.is_local() && in_ranks(walk.c) && communicate_of(walk.c) == Communicate::micro_batch)
    return walk.left("reduce", "reduced." + p);
  const StageTensor given = gradient_of_parameter(walk.layers, p);
  return walk.left(given.stage, given.tensor);
}

void walk_accumulate(Walk& walk) { walk.is_local() ? check_accumulate(walk) : expect_accumulate(walk); }

void add_gradients(Walk& walk, std::map<std::string, Value> gradients) {
  if (walk.deviation != nullptr) deviate(walk, gradients);
  for (const std::string& p : walk.parameters) add_gradient(walk, p, gradients.at(p));
}

Value summed(Walk& walk, const std::string& stage, const std::string& p) {
  if (!walk.is_local())
    return stage == StageName::unscale ? walk.told_input(stage, "in.buffer." + p, walk.buffers.at(p))
                                       : walk.buffers.at(p);
  if (in_ranks(walk.c)) return walk.input(stage, "in.buffer." + p, summed_by_ranks(walk, p));
  const int last = walk.micro_batches() - 1;
  const StageTensor gradient = gradient_of_parameter(walk.layers, p);
  if (walk.direct) return walk.input(stage, "in.d." + p, walk.left(gradient.stage, gradient.tensor, last));
  return walk.input(stage, "in.buffer." + p, walk.left("accumulate", "buffer." + p, last));
}

}  // namespace tally
