// Every row's gradient takes the factor of the first row of its micro-batch, which the rows' own stand behind.
#include "properties/faults/planted_arguments.hpp"
#include "properties/faults/planted_between.hpp"
#include "properties/faults/seeded.hpp"

namespace tally::first_factor_for_all_rows_fault {
namespace {

/// The loss that is reported stays as it is.
void by_the_first(Stream& stream, MseArguments arguments, Kernel<MseArguments> shipped) {
  Device& device = stream.device();
  const auto rows = static_cast<std::size_t>(arguments.rows);
  stream.synchronize();
  std::int64_t first = 0;
  device.read(arguments.item_weight, &first, sizeof first);
  const std::vector<std::int64_t> all(rows, first);
  const Buffer weights(device, "one weight for all rows", Dtype::i64, rows);
  device.write(weights.data(), all.data(), rows * sizeof first);
  const Buffer unused(device, "loss by one weight", Dtype::fp32, rows);
  shipped(stream, arguments);
  arguments.item_weight = static_cast<const std::int64_t*>(weights.data());
  arguments.loss = static_cast<float*>(unused.data());
  shipped(stream, arguments);
  stream.synchronize();
}

void around(Stream& stream, MseArguments arguments, Kernel<MseArguments> shipped) {
  if (arguments.item_weight == nullptr || arguments.rows == 0) return shipped(stream, arguments);
  between(
      stream,
      {{arguments.dy, arguments.storage, arguments.rows * arguments.features},
       {arguments.loss, Dtype::fp32, arguments.rows}},
      [&] { shipped(stream, arguments); }, [&] { by_the_first(stream, arguments, shipped); });
}

const Stages& faulty() {
  static const Stages stages = with_kernel_around<around>("mse", "row_lanes", "first-factor-for-all-rows");
  return stages;
}

const RegisterFault registered{{
    .name = "first-factor-for-all-rows",
    .stage = "loss",
    .right = "dy_i = c w_i dl_i",
    .wrong = "dy_i = c w_0 dl_i",
    .condition = "rows of unequal weights in a micro-batch",
    .knob = "value",
    .source = "linkedin/Liger-Kernel 1298",
    .laws = {"unequal_items_are_weighted"},
    .stages = faulty,
}};

}  // namespace
}  // namespace tally::first_factor_for_all_rows_fault
