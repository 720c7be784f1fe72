// `tally list`: what there is.
#include <iostream>

#include "kernels/device/kernel_registry.hpp"
#include "oracle/case/contract.hpp"
#include "oracle/case/rank_keys.hpp"
#include "properties/campaign/coverage/coverage.hpp"
#include "properties/campaign/coverage/coverage_point.hpp"
#include "properties/generators/drawn_options.hpp"
#include "properties/generators/settings.hpp"
#include "properties/laws/law.hpp"
#include "properties/laws/settings/together.hpp"
#include "reports/command_line/command.hpp"
#include "reports/command_line/output.hpp"
#include "reports/command_line/part.hpp"

namespace tally::command_line::list_command {
namespace {

void print_laws() {
  for (const Law* law : laws()) std::cout << law->name << "  [" << law->family << "]  " << law->statement << "\n";
}

void print_triggers() {
  for (const Trigger& t : triggers()) {
    std::cout << t.group << ": " << t.name << "  [" << word_of(t.kind) << "]  " << t.description << "\n";
  }
}

void print_records(std::string_view kind) {
  for (const TriggerRecord& record : records_to_reach(ExecutorKind::host))
    if (record.kind == kind)
      std::cout << record.name << (record.description.empty() ? "" : "  [" + record.description + "]") << "\n";
}
void print_settings() { print_records("setting"); }
void print_options() { print_records("option"); }
void print_sizes() { print_records("size"); }

void print_paths() {
  for (const LaunchPath& path : launch_paths_of(ExecutorKind::host)) {
    std::cout << name_of_path(path) << (path.out_of_reach.empty() ? "" : "  [out of reach: " + path.out_of_reach + "]")
              << "\n";
  }
}

/// Those that no case can have, by the rule that keeps them apart.
void print_pairs() {
  for (std::size_t i = 0; i < settings().size(); ++i)
    for (std::size_t j = 0; j < i; ++j)
      if (const auto rule = make_a_pair(i, j) ? why_never_together(i, j) : std::nullopt)
        std::cout << settings()[j].name << " beside " << settings()[i].name << "  [" << *rule << "]\n";
}

void print_kernels() {
  for (const RegisteredKernel* kernel : registered_kernels()) {
    if (kernel->claim.variant.starts_with('~')) continue;  // a seeded fault's
    std::cout << kernel->operation << "/" << kernel->claim.variant << " on " << name_of(kernel->executor) << "\n";
  }
}

/// "gelu  [approximate: none tanh]  none: y = …".
void print_activations() {
  for (const ActivationForms& activation : activations_by_kind()) {
    const Contract& contract = *find_contract("layer", activation.kind);
    std::cout << contract.kind << "  ";
    for (const Option& option : contract.options) {
      std::cout << "[" << option.name << ":";
      for (const std::string& word : option.words) std::cout << " " << word;
      std::cout << "]  ";
    }
    std::cout << contract.definition << "\n";
  }
}

void print_subjects() {
  std::cout << "host  the kernels on the host executor\n";
  std::cout << "cuda  the kernels on a GPU\n";
  std::cout << "checked  the kernels on the host, every access to memory watched for races\n";
}

void print_rank_presets() {
  for (const RankPreset& each : rank_presets())
    std::cout << each.name << "  " << each.what << "  (" << each.source << ")\n";
}

struct Kind {
  std::string name;
  void (*print)();  // nullptr: only the lab knows
};

Kind of_lab(const char* name) {
  for (const PartRecord* each : all_records<PartRecord>())
    if (const auto print = each->listed.find(name); print != each->listed.end()) return {name, print->second};
  return {name, nullptr};
}

/// In the order in which --help names them.
std::vector<Kind> kinds() {
  return {{"laws", print_laws},
          of_lab("faults"),
          {"triggers", print_triggers},
          {"settings", print_settings},
          {"options", print_options},
          {"pairs", print_pairs},
          {"sizes", print_sizes},
          {"paths", print_paths},
          {"kernels", print_kernels},
          {"activations", print_activations},
          {"subjects", print_subjects},
          {"ranks", print_rank_presets},
          of_lab("sweeps"),
          of_lab("benches")};
}

std::vector<std::string> names() {
  std::vector<std::string> all;
  for (const Kind& kind : kinds()) all.push_back(kind.name);
  return all;
}

/// "list laws, faults or benches".
std::string help() {
  std::string text = "list ";
  const std::vector<std::string> all = names();
  for (std::size_t i = 0; i < all.size(); ++i) text += (i == 0 ? "" : i + 1 < all.size() ? ", " : " or ") + all[i];
  return text;
}

struct ListOptions {
  std::string what;
};

int list(const ListOptions& options) {
  for (const Kind& kind : kinds()) {
    if (kind.name != options.what) continue;
    if (kind.print == nullptr) throw BeyondThisPart(Part::lab, "list " + kind.name);
    kind.print();
  }
  return pass;
}

void add_options(CLI::App& command, ListOptions& options) {
  command.add_option("what", options.what)->required()->check(CLI::IsMember(names()));
}

const RegisterCommand registered{{
    .place = 500,
    .name = "list",
    .help = help(),
    .bind = with_options(add_options, list),
}};

}  // namespace
}  // namespace tally::command_line::list_command
