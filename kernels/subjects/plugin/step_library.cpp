#include "kernels/subjects/plugin/step_library.hpp"

#include <dlfcn.h>
#include <elf.h>

#include <cstring>
#include <filesystem>
#include <fstream>

#include "kernels/subjects/process/refused_step.hpp"
#include "kernels/trace/stage_group.hpp"
#include "oracle/layers/claim.hpp"

namespace tally {
namespace {

[[noreturn]] void refuse(const std::string& path, const std::string& what) { throw StepRefused(path + ": " + what); }

std::string machine_name(unsigned machine) {
  switch (machine) {
    case EM_X86_64:
      return "x86-64";
    case EM_386:
      return "x86";
    case EM_AARCH64:
      return "AArch64";
    case EM_ARM:
      return "ARM";
    case EM_RISCV:
      return "RISC-V";
    case EM_PPC64:
      return "POWER";
    default:
      return "machine " + std::to_string(machine) + " of ELF";
  }
}

struct ElfStart {
  unsigned char ident[EI_NIDENT];
  std::uint16_t type, machine;
};

/// What the loader would say in words that help nobody.
void require_library(const std::string& path) {
  std::error_code unknown;
  if (!std::filesystem::exists(path, unknown)) refuse(path, "found nothing; expected a shared library (cc -shared)");
  if (!std::filesystem::is_regular_file(path, unknown))
    refuse(path, "found no file; expected a shared library (cc -shared)");
  ElfStart start{}, own{};
  std::ifstream(path, std::ios::binary).read(reinterpret_cast<char*>(&start), sizeof start);
  std::ifstream("/proc/self/exe", std::ios::binary).read(reinterpret_cast<char*>(&own), sizeof own);
  if (std::memcmp(start.ident, ELFMAG, SELFMAG) != 0)
    refuse(path, "is no ELF file; expected a shared library (cc -shared)");
  if (start.machine != own.machine || start.ident[EI_CLASS] != own.ident[EI_CLASS])
    refuse(path, "is a library for " + machine_name(start.machine) + "; expected one for " + machine_name(own.machine) +
                     ", built on this machine or for it");
  if (start.type != ET_DYN) refuse(path, "is an ELF file but no shared library; expected one (cc -shared)");
}

std::string loader_says() {
  const char* said = dlerror();
  return said != nullptr ? said : "nothing";
}

}  // namespace

StepLibrary::StepLibrary(const std::string& path) {
  const std::string place = path.find('/') == std::string::npos ? "./" + path : path;
  require_library(place);
  handle_.reset(dlopen(place.c_str(), RTLD_NOW | RTLD_LOCAL),
                [](void*) {});  // its code may still be asked for at the end
  if (!handle_) refuse(path, "cannot be loaded: " + loader_says());
  void* const entry = dlsym(handle_.get(), "tally_step_entry");
  if (entry == nullptr)
    refuse(path,
           "exports no tally_step_entry; expected the function of kernels/subjects/plugin/subject.h (C linkage, "
           "TALLY_STEP_EXPORT)");
  step_ = reinterpret_cast<const tally_step* (*)()>(entry)();
  if (step_ == nullptr) refuse(path, "tally_step_entry returned NULL: it cannot run here");
  if (step_->abi != TALLY_STEP_ABI)
    refuse(path, "has version " + std::to_string(step_->abi) + " of the interface; expected " +
                     std::to_string(TALLY_STEP_ABI) + ": compile it against this Tally's subject.h");
  if (step_->run == nullptr) refuse(path, "has no run; expected a function that trains on one case");
  try {
    if (step_->claims != nullptr) claims_of_json(step_->claims);
    if (step_->groups != nullptr) stage_groups_of(step_->groups);
  } catch (const std::runtime_error& problem) {
    refuse(path, std::string(problem.what()) + " (kernels/trace/trace.md)");
  }
}

std::string StepLibrary::name() const { return step_->name != nullptr ? step_->name : "unnamed"; }

}  // namespace tally
