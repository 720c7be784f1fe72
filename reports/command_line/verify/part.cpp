// What this part brings: what `tally explain` says of a law, and `tally doctor` of devices, laws and faults, with its
// probes of a device's arithmetic.
#include "reports/command_line/part.hpp"

#include <iostream>
#include <utility>

#include "kernels/device/device.hpp"
#include "kernels/device/probes/probes.hpp"
#include "properties/faults/fault_names.hpp"
#include "properties/laws/law.hpp"
#include "reports/command_line/check/answers.hpp"
#include "reports/command_line/command.hpp"
#include "reports/command_line/output.hpp"
#include "reports/command_line/verify/mpi.hpp"
#include "reports/command_line/verify/subject.hpp"
#include "reports/text/text.hpp"

namespace tally::command_line::verify_part {
namespace {

std::vector<std::string> names_of_laws() {
  std::vector<std::string> all;
  for (const Law* law : laws()) all.push_back(law->name);
  return all;
}

bool explain_law(const std::string& name) {
  const Law* law = find_law(name);
  if (law == nullptr) return false;
  std::cout << "law " << law->name << " [" << law->family << "]: " << law->statement << "\n"
            << "control: " << law->control << "\n"
            << "faults that break it: " << listed_or_none(faults_of(law->name)) << "\n"
            << "run it: ./tally verify --law " << law->name << "\n";
  return true;
}

struct DoctorOptions {
  std::string probed;  // "host", "cuda" or empty
  std::string order;   // to_string of the host's GemmOrder, or empty
};

GemmOrder order_of(const std::string& word) {
  using Kind = GemmOrder::Kind;
  if (word.empty()) return {};
  std::string expected;
  for (const Kind kind : {Kind::sequential_fma, Kind::sequential_mul_add, Kind::pairwise, Kind::tensor_core_v100,
                          Kind::tensor_core_a100, Kind::tensor_core_h100}) {
    if (to_string({kind, 0}) == word) return {kind, 0};
    expected += (expected.empty() ? "" : ", ") + to_string({kind, 0});
  }
  throw UsageError("--order: '" + word + "'; expected " + expected);
}

void print_algorithms(Device& on) {
  std::cout << "\nHead of the library's list of algorithms\n";
  const std::vector<ListedAlgorithm> listed = listed_algorithms(on);
  if (listed.empty()) {
    std::cout << "not run: the host has no such list\n";
    return;
  }
  std::vector<std::vector<std::string>> rows = {{"Product", "Parts of k", "They meet", "Arithmetic"}};
  for (const ListedAlgorithm& each : listed)
    rows.push_back({each.product, std::to_string(each.splits), each.reduction, each.arithmetic});
  std::cout << columns(rows);
}

/// What the device's arithmetic does that no documentation says.
void probe(Device& on, const GemmOrder& order) {
  const GemmTraits traits = probe_gemm(on, order);
  std::cout << "\nGEMM of " << on.name();
  if (on.kind() == ExecutorKind::host) std::cout << ", order " << to_string(order);
  std::cout << ", the loosest of " << traits.shapes << " shapes\n";
  std::vector<std::vector<std::string>> rows = {{"Asked", "Found", "For the bounds"}};
  for (const auto& probes : {probes_of(traits), probes_of(probe_atomics(on))})
    for (const Probe& each : probes) rows.push_back({each.question, each.answer, each.consequence});
  std::cout << columns(rows);
  print_algorithms(on);
}

int probe(const std::string& subject, const std::string& order) {
  const ExecutorKind executor = subject == "cuda" ? ExecutorKind::cuda : ExecutorKind::host;
  if (executor == ExecutorKind::cuda && !order.empty())
    throw UsageError("--order is the host's: a GPU takes the order it takes");
  try {
    probe(device(executor), order_of(order));
  } catch (const DeviceAbsent& reason) {
    std::cout << "\nprobe of " << subject << "  not run: " << reason.what() << "\n";
    throw;
  }
  return pass;
}

int doctor(const DoctorOptions& options) {
  const auto& [probed, order] = options;
  if (probed.empty() && !order.empty())
    throw UsageError("--order says how the host adds while it is probed: --probe host");
  std::cout << "toolkit   " TALLY_CUDA_TOOLKIT "\n";
  std::cout << "host      " << device(ExecutorKind::host).name() << "\n";
  std::cout << mpi_lines();
  for (const auto& [label, kind] :
       {std::pair{"checked   ", ExecutorKind::checked}, {"cuda      ", ExecutorKind::cuda}}) {
    std::cout << label;
    try {
      std::cout << device(kind).name() << "\n";
    } catch (const DeviceAbsent& reason) {
      std::cout << "not run: " << reason.what() << "\n";
    }
  }
  std::cout << "laws      " << laws().size() << "\n";
  std::cout << "faults    " << fault_names().size() << "\n";
  return probed.empty() ? pass : probe(probed, order);
}

void add_options(CLI::App& command, DoctorOptions& options) {
  command.add_option("--probe", options.probed, "probe how a subject's GEMM and atomics round: host or cuda")
      ->check(CLI::IsMember({"host", "cuda"}));
  command.add_option("--order", options.order,
                     "with --probe host: ask its GEMM in this order, such as tensor_core_h100");
}

const Register<PartRecord> registered{{
    .part = Part::verify,
    .explained = {{10, names_of_laws, explain_law}},
    .examination = with_options(add_options, doctor),
    .requirement = require_plugins,
}};

}  // namespace
}  // namespace tally::command_line::verify_part
