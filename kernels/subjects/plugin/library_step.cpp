// A shared library that exports a training step, as a subject.
#include "kernels/subjects/plugin/library_step.hpp"

#include <dlfcn.h>
#include <elf.h>
#include <fcntl.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <stdexcept>

#include "kernels/subjects/plugin/library_run.hpp"
#include "kernels/subjects/process/child_process.hpp"
#include "kernels/subjects/process/step_limits.hpp"
#include "kernels/trace/stage_group.hpp"
#include "kernels/trace/trace.hpp"
#include "oracle/case/file/findings.hpp"
#include "oracle/case/file/json.hpp"
#include "oracle/case/file/safetensors.hpp"
#include "oracle/case/io.hpp"
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

namespace {

void put(int to, std::string_view bytes) {
  if (!write_all(to, bytes)) throw std::runtime_error(std::string("cannot be written: ") + std::strerror(errno));
}

/// The next line; false at the end.
bool next_line(int in, std::string& waiting, std::string& line) {
  std::size_t end = 0;
  while ((end = waiting.find('\n')) == std::string::npos)
    if (!read_some(in, waiting)) return false;
  line = waiting.substr(0, end);
  waiting.erase(0, end + 1);
  return true;
}

std::string text_of(const Json& request, std::string_view key) {
  const Json* found = request.member(key);
  if (found == nullptr) throw std::runtime_error("a request without '" + std::string(key) + "'");
  return found->text;
}

/// The answer to one request.
std::string answered(const StepLibrary& library, const std::string& line) {
  Findings findings;
  const auto request = parse_json(line, findings);
  if (!request || !findings.empty()) throw std::runtime_error("a request that is no JSON");
  const std::string number = text_of(*request, "run"), hash = text_of(*request, "sha256");
  const auto with_reason = [&](const char* key, const std::string& reason) {
    return "{\"" + std::string(key) + "\": " + number + ", \"reason\": " + json_string(reason) + "}";
  };
  std::string text = to_text(*request->member("case"), JsonLayout::compact);
  const Case c = read_case_beside_tensors(text, read_safetensors_file(text_of(*request, "tensors")).tensors);
  try {
    const std::string bytes = flat_bytes_of(run_library(library.step(), c, text, hash));
    const std::string path = text_of(*request, "trace");
    const Descriptor trace(open(path.c_str(), O_WRONLY | O_TRUNC | O_CLOEXEC));
    if (trace < 0) throw std::runtime_error(path + ": " + std::strerror(errno));
    put(trace, bytes);
  } catch (const NotSupported& declined) {
    return with_reason("declined", std::string(declined.what()).substr(std::string(declined_case).size()));
  } catch (const StepFailed& failed) {
    return with_reason("wrong", failed.what());
  }
  return "{\"ran\": " + number + ", \"flat\": true}";
}

}  // namespace

Trace LibraryStep::run(const Case& c) const {
  return run_library(library_.step(), c, write_case_beside_tensors(c), hash_of(c));
}

GuardedProcess::Body library_body(const std::string& path) {
  return [path](int in, int out) {
    std::string waiting, line;
    next_line(in, waiting, line);  // the greeting
    try {
      const StepLibrary library(path);
      put(out, "{\"tally_step\": 1, \"name\": " + json_string(library.name()) + "}\n");
      while (next_line(in, waiting, line)) put(out, answered(library, line) + "\n");
    } catch (const StepRefused& refused) {
      put(out, "{\"refused\": " + json_string(refused.what()) + "}\n");
    }
  };
}

}  // namespace tally
