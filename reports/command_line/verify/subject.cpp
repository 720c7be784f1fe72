// From the command line's words to a subject.
#include "reports/command_line/verify/subject.hpp"

#include <sys/utsname.h>

#include <algorithm>
#include <deque>
#include <map>
#include <memory>
#include <optional>

#include "kernels/device/device.hpp"
#include "kernels/device/kernel_registry.hpp"
#include "kernels/device/probes/probed_claims.hpp"
#include "kernels/subjects/plugin/library_step.hpp"
#include "kernels/subjects/process/process_step.hpp"
#include "kernels/training_step/run/chosen_kernels.hpp"
#include "kernels/training_step/run/own_step.hpp"
#include "kernels/training_step/stages.hpp"
#include "oracle/case/tensors/tensor.hpp"
#include "oracle/tolerance/declared.hpp"
#include "properties/faults/fault.hpp"
#include "properties/faults/fault_names.hpp"
#include "reports/command_line/check/run_words.hpp"
#include "reports/command_line/output.hpp"
#include "reports/command_line/part.hpp"
#include "reports/command_line/verify/mpi.hpp"
#include "reports/command_line/verify/process_group.hpp"
#include "reports/text/text.hpp"

namespace tally::command_line {
namespace {

constexpr std::string_view library = "step:", command = "exec:";

std::string behind(std::string_view prefix, const std::string& subject) {
  std::string rest = subject.substr(prefix.size());
  if (rest.find_first_not_of(' ') == std::string::npos)
    throw UsageError("--subject: '" + subject + "' names nothing; expected " +
                     (prefix == library ? "step:LIBRARY, a shared library" : "exec:COMMAND, a command line"));
  return rest;
}

std::unique_ptr<OwnStep> started(const SubjectOptions& options) {
  const StepLimits limits = step_limits_of(options);
  if (options.subject.starts_with(command)) {
    if (options.in_process) throw UsageError("--in-process: a command has a process; expected --subject step:LIBRARY");
    return std::make_unique<ProcessStep>(options.subject, command_body(behind(command, options.subject)), limits);
  }
  const std::string path = behind(library, options.subject);
  if (options.in_process) return std::make_unique<LibraryStep>(path);
  return std::make_unique<ProcessStep>(options.subject, library_body(path), limits);
}

}  // namespace

bool is_own_step(const std::string& subject) { return subject.starts_with(library) || subject.starts_with(command); }

StepLimits step_limits_of(const SubjectOptions& options) {
  StepLimits limits;
  limits.bytes = bytes_of_words(options.step_memory, "--step-memory");
  limits.interrupted = options.interrupted;
  if (options.case_seconds > 0) limits.seconds = options.case_seconds;
  return limits;
}

RunOptions with_own_step(std::unique_ptr<OwnStep> step) {
  static std::deque<std::pair<std::unique_ptr<OwnStep>, Stages>> all;
  all.emplace_back(std::move(step), shipped_stages());
  all.back().second.own = all.back().first.get();
  RunOptions subject;
  subject.stages = &all.back().second;
  return subject;
}

void require_no_kernels(const SubjectOptions& options) {
  const std::string subject = options.subject.empty() ? options.ranks : options.subject;
  if (!options.fault.empty())
    throw UsageError("--fault: a fault is planted in Tally's own training step; the subject is '" + subject + "'");
  if (!options.kernels.empty())
    throw UsageError("--kernel: a kernel runs in Tally's own training step; the subject is '" + subject + "'");
  plant_at(options.magnitude, {});
}

RunOptions own_step_subject(const SubjectOptions& options) {
  require_no_kernels(options);
  return with_own_step(started(options));
}

Environment environment_of_own_step(Environment environment, const SubjectOptions& options) {
  utsname system{};
  uname(&system);
  environment.executor = options.subject.empty() ? options.ranks : options.subject;
  environment.device = std::string(system.sysname) + " " + system.machine +
                       (options.in_process ? ", in Tally's process" : ", in a process of its own");
  environment.blas = "the subject's own";
  return environment;
}

std::uint64_t bytes_of_words(const std::string& text, const std::string& option) {
  const std::string units = "KMGT";
  const auto unit = text.empty() ? std::string::npos : units.find(text.back());
  const std::string number = unit == std::string::npos ? text : text.substr(0, text.size() - 1);
  const std::string expected = "bytes such as 512M or 4G, at most 1024T";
  double bytes = number_of(number, option, expected);
  if (unit != std::string::npos) bytes *= static_cast<double>(std::uint64_t{1} << (10 * (unit + 1)));
  if (!(bytes >= 1 && bytes <= 0x1p50)) throw UsageError(option + ": '" + text + "'; expected " + expected);
  return static_cast<std::uint64_t>(bytes);
}

namespace {

/// Why there is no GPU to run on; empty when there is one. A GPU that is there and fails throws.
std::string absence() {
  try {
    device(ExecutorKind::cuda);
    return "";
  } catch (const DeviceAbsent& reason) {
    return reason.what();
  }
}

/// What an operation can be run by, or which operation may have been meant.
std::string expected_kernels(const std::string& operation, ExecutorKind executor) {
  std::string text;
  for (const std::string& variant : shipped_variants(operation, executor))
    text += (text.empty() ? "" : ", ") + operation + "=" + variant;
  if (!text.empty()) return text;
  std::vector<std::string> operations;
  for (const RegisteredKernel* kernel : registered_kernels()) operations.push_back(kernel->operation);
  for (const std::string& name : nearest_names(operation, operations, 3)) text += (text.empty() ? "" : ", ") + name;
  return "OPERATION=VARIANT, both as `./tally list kernels` names them; the nearest operations are " + text;
}

/// The stages with other kernels in the place of some. They live as long as the program.
const Stages& with_kernels(const Stages& stages, ExecutorKind executor, const std::vector<std::string>& kernels) {
  static std::deque<Stages> all;
  all.push_back(stages);
  for (const std::string& word : kernels) {
    const auto equals = word.find('=');
    const std::string operation = word.substr(0, equals);
    const std::string variant = equals == std::string::npos ? "" : word.substr(equals + 1);
    const auto registered = registered_kernels();
    const bool known = std::any_of(registered.begin(), registered.end(), [&](const RegisteredKernel* k) {
      return k->operation == operation && k->claim.variant == variant && k->executor == executor;
    });
    if (!known) throw UsageError("--kernel: '" + word + "'; expected " + expected_kernels(operation, executor));
    all.back().variants[operation] = variant;
  }
  return all.back();
}

/// What the standard variant of every kernel declares of its additions and functions; others declare their own.
std::map<std::string, KernelClaim> orders_and_functions(ExecutorKind executor) {
  std::map<std::string, KernelClaim> declared;
  for (const auto& [operation, kernel] : standard_kernels(executor)) {
    const KernelClaim& claim = kernel->claim;
    if (claim.additions.empty() && claim.function_ulp == 0) continue;
    declared[operation].additions = claim.additions;
    declared[operation].function_ulp = claim.function_ulp;
  }
  return declared;
}

/// "fp32, fp16 or bf16".
std::string storage_format_list() {
  const std::vector<std::string> names = names_of(storage_formats());
  std::string text = names.front();
  for (std::size_t i = 1; i < names.size(); ++i) text += (i + 1 < names.size() ? ", " : " or ") + names[i];
  return text;
}

}  // namespace

void plant_at(double magnitude, const std::vector<std::string>& faults) {
  static std::optional<AtMagnitude> planted;
  if (magnitude == 1) return;
  if (faults.empty()) throw UsageError("--magnitude says how much of a fault to plant: name the fault");
  for (const std::string& name : faults) {
    const Fault* fault = find_fault(name);
    if (fault && fault->knob == "none") {
      throw UsageError("--magnitude: '" + name + "' has no size; it is planted or it is not");
    }
  }
  planted.emplace(magnitude);
}

bool runs_elsewhere(const SubjectOptions& options) {
  return is_own_step(options.subject) || group_size(options.ranks).has_value();
}

RunOptions subject_of(const SubjectOptions& options) {
  if (const auto ranks = group_size(options.ranks)) return group_subject(options, *ranks);
  if (is_own_step(options.subject)) return own_step_subject(options);
  if (options.in_process) throw UsageError("--in-process: the subject is no library; expected --subject step:LIBRARY");
  RunOptions subject;
  if (options.subject == "cuda") device(ExecutorKind::cuda);  // throws where it is absent
  if (options.subject == "cuda" || (options.subject.empty() && absence().empty()))
    subject.executor = ExecutorKind::cuda;
  if (options.subject == "checked") {
    device(ExecutorKind::checked);  // throws where it is absent
    subject.executor = ExecutorKind::checked;
  }
  if (is_fault(options.fault) && part() != Part::lab) throw BeyondThisPart(Part::lab, "--fault");
  if (options.fault.empty()) {
    plant_at(options.magnitude, {});
  } else {
    plant_at(options.magnitude, {options.fault});
    const Fault* fault = find_fault(options.fault);
    if (!fault) throw UsageError("no fault is named '" + options.fault + "'; see `./tally list faults`");
    subject.stages = &fault->stages();
  }
  if (!options.kernels.empty())
    subject.stages =
        &with_kernels(subject.stages ? *subject.stages : shipped_stages(), subject.executor, options.kernels);
  return subject;
}

std::string device_message(const RunOptions& subject) {
  if (own_step(subject) != nullptr) return "a training step of one's own was asked for";
  if (subject.executor == ExecutorKind::cuda) return device(ExecutorKind::cuda).name();
  const std::string reason = absence();
  return reason.empty() ? "the host executor was asked for" : reason;
}

Environment environment_of(const RunOptions& subject, const SubjectOptions& options) {
  Environment environment;
  environment.fault = options.fault, environment.magnitude = options.magnitude, environment.kernels = options.kernels;
  environment.tally_version = TALLY_VERSION;
  if (own_step(subject) != nullptr) return environment_of_own_step(std::move(environment), options);
  environment.executor = name_of(subject.executor);
  environment.device = device(subject.executor).name();
  environment.compiler = TALLY_COMPILER;
  environment.flags = TALLY_FLAGS;
  environment.cuda = TALLY_CUDA_TOOLKIT;
  environment.blas = subject.executor == ExecutorKind::cuda ? "cuBLAS, pedantic fp32" : "host GEMM, order as drawn";
  Claims claims;
  claims.subject = environment.executor;
  claims.kernels = orders_and_functions(subject.executor);
  if (subject.executor == ExecutorKind::cuda) {
    claim_products(claims, Precision{}, {}, subject.executor, false);
    const GemmTraits probed = probe_gemm(device(subject.executor));
    claim_probed(claims, probed, Precision{});
    environment.ledger = probed_rows(probed);
  }
  const auto assumed = oracle::ledger(claims, Precision{});
  environment.ledger.insert(environment.ledger.begin(), assumed.begin(), assumed.end());
  return environment;
}

std::vector<Dtype> precisions_of(const std::vector<std::string>& words) {
  std::vector<Dtype> found;
  for (const std::string& word : words) {
    const auto dtype = dtype_of(word);
    if (!dtype || !format_row(*dtype).uses.storage) {
      throw UsageError("--precision: '" + word + "' is not a storage format; expected " + storage_format_list());
    }
    if (std::find(found.begin(), found.end(), *dtype) != found.end())
      throw UsageError("--precision: '" + word + "' stands there twice; expected each format once");
    found.push_back(*dtype);
  }
  return found;
}

}  // namespace tally::command_line
