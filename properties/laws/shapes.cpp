#include "properties/laws/shapes.hpp"

#include <algorithm>

#include "oracle/case/batch.hpp"
#include "oracle/case/ranks.hpp"
#include "oracle/case/tensors/tensor.hpp"
#include "properties/generators/blocks.hpp"
#include "properties/generators/choices.hpp"

namespace tally {

void at_least_micro_batches(Plan& plan, std::size_t least) {
  for (auto& window : plan.windows) {
    while (window.size() < least) window.push_back(2);
  }
}

void at_least_windows(Plan& plan, std::size_t least) {
  while (plan.windows.size() < least) plan.windows.push_back(plan.windows.front());
}

void unequal_micro_batches(Plan& plan) {
  at_least_micro_batches(plan, 2);
  auto& first = plan.windows.front();
  if (std::all_of(first.begin(), first.end(), [&](std::int64_t n) { return n == first[0]; })) first[0] += 2;
}

void no_micro_batch_statistics(Plan& plan) {
  forget_running(plan.hidden);
  const bool several = plan.ranks > 1 || plan.stages > 1;  // which have no statistics of a window
  const char* const others = several ? "frozen" : "window";
  for (Layer& l : plan.hidden) {
    if (normalises_parts(l)) l.options["statistics"] = std::string(others);
  }
}

void linear_layers_only(Plan& plan) {
  take_out_if(plan.hidden, [](const Layer& l) { return l.kind != "linear"; });
  plan.loss = choice("loss", "mse");
  plan.ignored_percent = 0;
}

void overflow_in_first_micro_batch(Plan& plan) {
  linear_layers_only(plan);
  plan.hidden.clear();
  at_least_micro_batches(plan, 2);
  at_least_windows(plan, 2);
  const bool narrow = !format_row(plan.precision.storage).has_range_of_fp32();
  plan.gradient_magnitude = narrow ? 0x1p12 : 0x1p100;
  const char* const wide[] = {"1152921504606846976", "1", "0.25"};  // without any scale it overflows as well
  plan.recipe.loss_scale =
      choice("loss_scale", "dynamic",
             {{"initial", Decimal{narrow ? "65536" : wide[plan.seed % 3]}}, {"growth_interval", std::int64_t{2}}});
}

void usual_formats(Plan& plan) { plan.precision = {.storage = plan.precision.storage}; }

void exact_arithmetic(Plan& plan) {
  usual_formats(plan);
  plan.execution.kernels.erase("gemm.reduction");  // parts that meet in 16 bits round there
  const bool narrow = plan.precision.storage != Dtype::fp32;
  const bool cancelling = plan.seed % 2 == 1 || format_row(plan.precision.storage).p < 11;
  plan.data = cancelling ? Data::cancelling : Data::exact;
  plan.input = cancelling ? 4 : std::clamp<std::int64_t>(plan.input, 1, 4);
  plan.hidden.clear();
  if (!narrow && !cancelling) {
    plan.hidden = {layer("linear", "fc1", {{"out", std::int64_t{4}}}), layer("relu"),
                   layer("dropout", "drop1", {{"p", Decimal{"0.5"}}})};
  }
  plan.outputs = plan.outputs >= 4 ? 4 : plan.outputs >= 2 ? 2 : 1;
  plan.loss = choice("loss", "mse");
  plan.ignored_percent = 0;
  plan.windows = {plan.seed % 3 == 0 ? std::vector<std::int64_t>{1, 2, 1} : std::vector<std::int64_t>{2, 1, 2, 2, 1}};
  if (cancelling) {
    plan.windows = {plan.seed % 3 == 0 ? std::vector<std::int64_t>{3, 1} : std::vector<std::int64_t>{2, 1, 3, 2}};
  }
  plan.normalisation = Normalisation::window_items;
  plan.recipe.optimizer = choice("optimizer", "sgd", {{"momentum", Decimal{plan.seed % 2 == 0 ? "0.5" : "0"}}});
  plan.recipe.learning_rate = choice("learning_rate", "constant", {{"base", Decimal{"0.25"}}});
  plan.recipe.weight_decay = choice("weight_decay", "none");
  plan.recipe.clip =
      plan.seed % 5 == 0 ? choice("clip", "value", {{"max_value", Decimal{"2"}}}) : choice("clip", "none");
  plan.recipe.loss_scale = choice("loss_scale", "static", {{"scale", Decimal{narrow ? "8" : "256"}}});
}

void with_batch_norm(Plan& plan, const std::string& statistics) {
  bool found = false;
  for (Layer& l : plan.hidden) {
    if (l.kind != "batch_norm") continue;
    l.options["statistics"] = statistics;
    found = true;
  }
  if (!found) {
    plan.hidden = {layer("linear", "fc1", {{"out", std::int64_t{5}}}),
                   layer("batch_norm", "norm1", {{"statistics", statistics}}), layer("relu")};
  }
  for (auto& window : plan.windows) {
    for (auto& rows : window) rows = std::max<std::int64_t>(rows, 2);
  }
}

Case with_repeated_rows(Case c) {
  const auto rows = static_cast<std::size_t>(first_row(c, 1));
  for (auto& [name, tensor] : c.tensors) {
    const bool by_row = has_rows(name);
    if (!by_row) continue;
    const std::size_t half = tensor.bytes.size() / 2;
    if (tensor.shape.empty() || static_cast<std::size_t>(tensor.shape[0]) != 2 * rows) continue;
    std::copy_n(tensor.bytes.begin(), half, tensor.bytes.begin() + static_cast<std::ptrdiff_t>(half));
    tensor.drawing.reset();
  }
  return c;
}

Case without_recomputation(Case c) {
  c.execution.recompute = false;
  c.execution.recomputed.clear();
  return c;
}

Case with_other_input(Case c) {
  if (c.model.tokens) {
    Tensor& tokens = c.tensors.at("tokens");
    tokens.set_bits(0, static_cast<std::uint64_t>((tokens.integer(0) + 1) % c.model.input));
    tokens.drawing.reset();
    return c;
  }
  Tensor& x = c.tensors.at("x");
  for (std::size_t i = 0; i < static_cast<std::size_t>(c.model.input); ++i) x.set(i, 1 - x.value(i));
  x.drawing.reset();
  return c;
}

void columns_for_several_threads(Plan& plan) {
  constexpr std::int64_t shared_rows = 64;  // kernels/reduction/column_sum.hpp
  if (plan.seed % 3 != 0) return;
  with_batch_norm(plan, "micro_batch");
  std::int64_t& rows = plan.windows.front().front();
  rows = std::max(rows, shared_rows + static_cast<std::int64_t>(plan.seed / 3 % 9));
}

Case with_rotated_micro_batches(const Case& c) {
  Case rotated = c;
  std::vector<Rows> rows;
  for (std::size_t w = 0; w < c.windows.size(); ++w) {
    const std::size_t count = c.windows[w].size();
    for (std::size_t k = 1; k <= count; ++k) rows.push_back({first_row(c, w, k % count), c.windows[w][k % count]});
    if (count > 0) std::ranges::rotate(rotated.windows[w], rotated.windows[w].begin() + 1);
  }
  keep_rows(c, rows, rotated);
  return rotated;
}

}  // namespace tally
