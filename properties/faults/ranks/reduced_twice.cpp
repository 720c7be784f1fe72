// Every parameter travels once more than the sum takes, and what comes is thrown away: the same numbers, slower.
#include "properties/faults/ranks/planted_on_ranks.hpp"
#include "properties/faults/seeded.hpp"

namespace tally::reduced_twice_fault {
namespace {

void reduce(Run& run) {
  stage::reduce(run);
  Link& link = *run.options.link;
  const int next = (link.rank() + 1) % link.size(), last = (link.rank() + link.size() - 1) % link.size();
  const bool of_pieces = run.replicas && run.micro_batch < 0;  // which are not of one size on all ranks
  if (next == link.rank() || of_pieces) return;
  for (const Parameter& parameter : run.parameters) {
    Tensor sum = parameter.buffer ? parameter.buffer.read() : parameter.copy.read();
    const std::string about = "w" + std::to_string(run.window) + "/reduce, again " + parameter.name;
    link.send(next, about, {sum.bytes.data(), sum.bytes.size()});
    link.receive(last, about, {sum.bytes.data(), sum.bytes.size()});
  }
}

const RegisterFault registered{{
    .name = "reduced-twice",
    .stage = "reduce",
    .right = "each sum over ranks is made once",
    .wrong = "every parameter travels once more, for nothing",
    .condition = "several ranks",
    .knob = "none",
    .source = "accelerate issue 1726",
    .laws = {"one_reduction_a_window"},
    .stages = replaced<&Stages::reduce, reduce>,
}};

}  // namespace
}  // namespace tally::reduced_twice_fault
