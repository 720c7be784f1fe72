// Every chunk of rows writes the gradients of weight and bias, in a head that is one with the loss: the last one's
// stay.
#include "kernels/head_loss/arguments.hpp"
#include "properties/faults/planted_arguments.hpp"
#include "properties/faults/planted_between.hpp"

namespace tally::chunks_overwrite_each_other_fault {
namespace {

HeadLossArguments last_chunk_of(const HeadLossArguments& a) {
  const std::int64_t first = (a.loss.rows - 1) / head_chunk * head_chunk;
  HeadLossArguments last = a;
  last.x = static_cast<const std::byte*>(a.x) + static_cast<std::size_t>(first * a.width) * size_of(a.storage);
  last.loss.target += first;
  last.loss.loss += first;
  last.loss.rows -= first;
  last.dx = nullptr;
  return last;
}

void otherwise(Stream& stream, HeadLossArguments a, Kernel<HeadLossArguments> right) {
  std::vector<Written> written;
  for (const Written& each :
       {Written{a.dw, a.storage, a.loss.classes * a.width}, Written{a.db, a.storage, a.loss.classes}})
    if (each.address != nullptr) written.push_back(each);
  right(stream, a);
  if (a.loss.rows <= head_chunk || written.empty()) return;
  between(
      stream, written, [&] { right(stream, a); }, [&] { right(stream, last_chunk_of(a)); });
}

const Stages& stages() {
  static const Stages faulty = with_kernel_around<otherwise>("head_loss", "chunked", "chunks-overwrite-each-other");
  return faulty;
}

const RegisterFault registered{{
    .name = "chunks-overwrite-each-other",
    .stage = "backward",
    .right = "dW and db take the sum over all chunks",
    .wrong = "the last chunk's",
    .condition = "more rows than a chunk, a head that is one with the loss",
    .knob = "value",
    .source = "source mutation",
    .laws = {"chunks_of_a_head_leave_exact_bits", "a_head_in_chunks_keeps_its_bound"},
    .stages = stages,
}};

}  // namespace
}  // namespace tally::chunks_overwrite_each_other_fault
