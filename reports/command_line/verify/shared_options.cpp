// Options that several commands have, where a kernel's source stands, and what a program of a user's own kernels must
// hold.
#include <cxxabi.h>

#include <algorithm>
#include <cstdlib>
#include <memory>
#include <set>
#include <string>
#include <vector>

#include "kernels/device/kernel_registry.hpp"
#include "kernels/plugin/plugin.hpp"
#include "properties/campaign/provenance/operation.hpp"
#include "reports/command_line/command.hpp"
#include "reports/command_line/output.hpp"
#include "reports/command_line/verify/subject.hpp"
#include "reports/text/text.hpp"

namespace tally::command_line {
namespace {

const std::set<std::string> executors{"host", "cuda", "checked"};

std::string known_subject(const std::string& word) {
  if (is_own_step(word) || executors.contains(word)) return "";
  return "'" + word + "'; expected host, cuda, checked, step:LIBRARY or exec:COMMAND";
}

}  // namespace

void add_subject_name(CLI::App& command, std::string& subject, const std::string& what) {
  command.add_option("--subject", subject, what)->check(CLI::IsMember(executors));
}

void add_subject(CLI::App& command, SubjectOptions& options) {
  command
      .add_option("--subject", options.subject,
                  "where the kernels run: host, cuda or checked, the host with a race checker (default: the best there "
                  "is); or a training step of your own: step:LIBRARY or exec:COMMAND")
      ->check(known_subject);
  command.add_option("--step-memory", options.step_memory, "memory for each process of a step of your own")
      ->capture_default_str();
  command.add_flag("--in-process", options.in_process, "run a library's step in this process: fast, and unguarded");
  command
      .add_option("--ranks", options.ranks,
                  "who trains cases of several ranks: model, all in this process; mpi:N, N processes joined by MPI; "
                  "or nccl:N, these with a GPU each, on which NCCL adds up")
      ->capture_default_str();
  command.add_option("--launcher", options.launcher, "command that starts MPI's processes (default: mpirun, as found)");
  command.add_flag("--allow-root", options.allow_root, "let it start them as root");
  command.add_option("--fault", options.fault, "run with this seeded fault (./tally list faults)");
  command.add_option("--magnitude", options.magnitude,
                     "how much of the fault to plant, from 0 (none) to 1 (all of it)");
  command
      .add_option("--kernel", options.kernels,
                  "OPERATION=VARIANT to run in place of the shipped one (./tally list kernels)")
      ->allow_extra_args(false);
}

CLI::Validator above_zero() {
  const auto complaint = [](const std::string& text) -> std::string {
    double number = 0;
    return CLI::detail::lexical_cast(text, number) && number > 0 ? "" : "found " + text + ", expected a number above 0";
  };
  return {complaint, "POSITIVE", "above_zero"};
}

CLI::Option* add_effort(CLI::App& command, double& effort) {
  return command.add_option("--effort", effort, "scale the number of cases (default: TALLY_EFFORT or 1)")
      ->check(above_zero());
}

void add_seed(CLI::App& command, std::string& seed) {
  command.add_option("--seed", seed, "a number, or 'random'")->capture_default_str();
}

void add_out(CLI::App& command, std::string& out, const std::string& what) {
  command.add_option("--out", out, what)->capture_default_str();
}

void add_processes(CLI::App& command, int& processes) {
  command.add_option("--processes", processes, "processes on the host")
      ->check(CLI::Range(1, 256))
      ->capture_default_str();
}

void add_all(CLI::App& command, bool& all) {
  command.add_flag("--all", all, "every kernel, law and case, not what fits on a screen");
}

std::string file_of(const std::string& operation, const std::string& variant) {
  if (claimed_name_of(operation) != "gemm") return file_of_kernel(operation, variant);
  const std::string product = variant.starts_with("cublas") ? "cuBLAS" : "kernels/device/gemm/gemm.cpp";
  const std::string after = "kernels/linear/bias.cu";
  if (variant.empty()) return after + " or what makes every product, " + product;
  return product + (operation == "linear.forward" ? " or " + after + ", after it" : "");
}

namespace {

std::string listed_words(const std::vector<std::string>& names) {
  std::string text;
  for (const std::string& name : names) text += (text.empty() ? "" : ", ") + name;
  return text;
}

/// As its declaration writes it.
std::string type_name(std::type_index type) {
  int status = 0;
  const std::unique_ptr<char, void (*)(void*)> name(abi::__cxa_demangle(type.name(), nullptr, nullptr, &status),
                                                    std::free);
  return status == 0 ? name.get() : type.name();
}

/// A registry names a file from its folder `kernels` on.
bool is_of(const Plugin& plugin, const RegisteredKernel& kernel) {
  const std::string file = file_of_kernel(kernel.operation, kernel.claim.variant);
  return std::ranges::any_of(plugin.files, [&](const std::string& own) { return own.ends_with(file); });
}

bool is_tallys_own(const RegisteredKernel& kernel) {
  return std::ranges::none_of(plugins(), [&](const Plugin& plugin) { return is_of(plugin, kernel); });
}

/// One of Tally's own kernels of an operation; nullptr where it has none.
const RegisteredKernel* own_kernel_of(const std::string& operation) {
  for (const RegisteredKernel* kernel : registered_kernels())
    if (kernel->operation == operation && is_tallys_own(*kernel)) return kernel;
  return nullptr;
}

void require_operation(const std::string& place, const std::string& operation) {
  if (own_kernel_of(operation) != nullptr) return;
  std::set<std::string> known;
  for (const RegisteredKernel* kernel : registered_kernels())
    if (is_tallys_own(*kernel)) known.insert(kernel->operation);
  throw UsageError(place + ": no step of a training run is an operation '" + operation + "'; the nearest are " +
                   listed_words(nearest_names(operation, {known.begin(), known.end()}, 3)) +
                   " (`list kernels` names all)");
}

void require_arguments_of_operation(const std::string& place, const RegisteredKernel& kernel) {
  const RegisteredKernel& own = *own_kernel_of(kernel.operation);
  if (own.arguments == kernel.arguments) return;
  throw UsageError(place + ": " + kernel.operation + "=" + kernel.claim.variant + " takes " +
                   type_name(kernel.arguments) + ", expected " + type_name(own.arguments) + " as of " +
                   file_of_kernel(own.operation, own.claim.variant));
}

/// What a plug-in's files hold of an operation, where it is not what was asked for.
std::string registers(const Plugin& plugin) {
  std::set<std::string> found;
  for (const RegisteredKernel* kernel : registered_kernels())
    if (is_of(plugin, *kernel)) found.insert(kernel->operation + "=" + kernel->claim.variant);
  return found.empty() ? "none" : listed_words({found.begin(), found.end()});
}

void require_registered(const Plugin& plugin) {
  const auto all = registered_kernels();
  const auto found = std::ranges::find_if(all, [&](const RegisteredKernel* kernel) {
    return kernel->operation == plugin.operation && kernel->claim.variant == plugin.variant && is_of(plugin, *kernel);
  });
  if (found == all.end())
    throw UsageError(listed_words(plugin.files) + ": found the kernels " + registers(plugin) + ", expected " +
                     plugin.operation + "=" + plugin.variant + ", which " + plugin.place +
                     " asks for: a const RegisterKernel, " + "registered(\"" + plugin.operation + "\", {.variant = \"" +
                     plugin.variant + "\"}, launcher, KernelUse::when_named);");
}

}  // namespace

void require_plugins() {
  for (const CompiledFile& compiled : compiled_files())
    if (compiled.abi != kernel_abi())
      throw UsageError(compiled.file + ": compiled against the headers of Tally " + compiled.abi +
                       ", this program is of " + kernel_abi() +
                       "; expected one build: cmake --build FOLDER --clean-first");
  for (const Plugin& plugin : plugins()) {
    require_operation(plugin.place, plugin.operation);
    require_registered(plugin);
    for (const RegisteredKernel* kernel : registered_kernels()) {
      if (!is_of(plugin, *kernel)) continue;
      require_operation(plugin.files.front(), kernel->operation);
      require_arguments_of_operation(plugin.files.front(), *kernel);
    }
  }
}

}  // namespace tally::command_line
