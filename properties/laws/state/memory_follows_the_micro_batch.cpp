// Law: a window takes no more memory than its largest micro-batch alone, the batch's data apart; optimizer state,
// buffers and parameters do not depend on K. With `window` statistics all micro-batches stay alive, so those are left
// out.
#include <algorithm>

#include "kernels/training_step/memory.hpp"
#include "kernels/training_step/own_step.hpp"
#include "oracle/case/expected_tensors.hpp"
#include "properties/laws/outcome.hpp"
#include "properties/laws/shapes.hpp"

namespace tally::memory_follows_the_micro_batch_law {
namespace {

void shape(Plan& plan) {
  for (Layer& l : plan.hidden) {
    if (l.kind != "batch_norm") continue;
    l.options["statistics"] = std::string("micro_batch");
    for (auto& window : plan.windows) {
      for (auto& rows : window) rows = std::max<std::int64_t>(rows, 2);
    }
  }
  at_least_micro_batches(plan, 2);
}

/// Rows first ... first + count - 1 of a tensor with a row for each of x.
Tensor rows_of(const Tensor& tensor, std::int64_t first, std::int64_t count) {
  std::vector<std::int64_t> shape = tensor.shape;
  const auto width = static_cast<std::ptrdiff_t>(tensor.bytes.size()) / shape[0];
  shape[0] = count;
  Tensor rows(tensor.dtype, shape);
  std::copy_n(tensor.bytes.begin() + width * first, width * count, rows.bytes.begin());
  return rows;
}

/// The same training on the largest micro-batch and nothing else.
Case largest_micro_batch_alone(const Case& c) {
  std::int64_t first = 0, count = 0;
  for (std::size_t w = 0; w < c.windows.size(); ++w) {
    for (std::size_t k = 0; k < c.windows[w].size(); ++k) {
      if (c.windows[w][k] <= count) continue;
      count = c.windows[w][k];
      first = first_row(c, w, k);
    }
  }
  Case alone = c;
  alone.windows = {{count}};
  for (auto& [name, tensor] : alone.tensors) {
    const bool by_row = has_rows(name);
    if (by_row) tensor = rows_of(tensor, first, count);
  }
  return alone;
}

/// The stage that takes this kind of memory.
const char* stage_of(const std::string& kind) {
  if (kind == "activations") return "forward";
  if (kind == "gradients") return "accumulate";
  return kind == "storage copies" ? "cast" : "optimizer";
}

Outcome holds(const Case& c, const RunOptions& subject) {
  Outcome outcome;
  try {
    require_tallys_kernels(subject, "the memory of each buffer");
    const MemoryUse window = memory_of(c, subject), alone = memory_of(largest_micro_batch_alone(c), subject);
    require(outcome, window.of("unknown") == 0, "bytes of no kind", "forward",
            std::to_string(window.of("unknown")) + " bytes are of no kind that a window may take; expected 0");
    for (const auto& [kind, bytes] : window.kinds) {
      if (kind == "data") continue;
      require(outcome, bytes == alone.of(kind), "peak bytes of " + kind, stage_of(kind),
              kind + " took " + std::to_string(bytes) + " bytes at most, the largest micro-batch alone " +
                  std::to_string(alone.of(kind)));
    }
  } catch (const NotSupported& reason) {
    outcome.status = Status::not_run;
    outcome.message = reason.what();
    return outcome;
  }
  return settled(std::move(outcome));
}

bool differs(const Case& c, const RunOptions& subject) {
  Case whole = c;
  for (auto& window : whole.windows) {
    std::int64_t rows = 0;
    for (const std::int64_t each : window) rows += each;
    window = {rows};
  }
  return memory_of(c, subject).of("activations") < memory_of(whole, subject).of("activations");
}

const RegisterLaw registered{{
    .name = "memory_follows_the_micro_batch",
    .family = "state",
    .statement = "Peak memory, the batch's data apart, is that of the largest micro-batch alone, whatever K.",
    .shape = shape,
    .holds = holds,
    .control = "each window in one micro-batch takes more memory for activations",
    .differs = differs,
    .weight = 0.5,
}};

}  // namespace
}  // namespace tally::memory_follows_the_micro_batch_law
