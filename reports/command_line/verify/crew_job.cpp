#include "reports/command_line/verify/crew_job.hpp"

#include <cstdint>
#include <cstring>
#include <initializer_list>
#include <stdexcept>
#include <vector>

#include "kernels/ranks/group_link.hpp"
#include "kernels/ranks/mpi_link.hpp"
#include "kernels/trace/flat_trace.hpp"
#include "kernels/training_step/run_ranks.hpp"
#include "oracle/case/case_beside.hpp"
#include "oracle/case/generations.hpp"
#include "oracle/case/pipeline.hpp"
#include "oracle/case/ranks.hpp"
#include "oracle/case/safetensors.hpp"

namespace tally::command_line {
namespace {

/// Texts behind one another, each behind its size.
std::string texts_joined(std::initializer_list<std::string> texts) {
  std::string all;
  for (const std::string& text : texts) {
    const std::uint64_t size = text.size();
    all.append(reinterpret_cast<const char*>(&size), sizeof size).append(text);
  }
  return all;
}

std::vector<std::string> texts_parted(const std::string& all, std::size_t count) {
  std::vector<std::string> texts;
  for (std::size_t at = 0; at < all.size();) {
    std::uint64_t size = 0;
    if (all.size() - at < sizeof size) throw std::runtime_error("a crew's message ends within a number");
    std::memcpy(&size, all.data() + at, sizeof size);
    at += sizeof size;
    if (all.size() - at < size) throw std::runtime_error("a crew's message ends within a text");
    texts.push_back(all.substr(at, size));
    at += size;
  }
  if (texts.size() != count)
    throw std::runtime_error("a crew's message has " + std::to_string(texts.size()) + " texts");
  return texts;
}

std::string packed(const Checkpoint& checkpoint) {
  return checkpoint.tensors.empty() ? "" : write_safetensors({checkpoint.tensors, {}});
}

Checkpoint unpacked_checkpoint(const std::string& text) {
  if (text.empty()) return {};
  const auto content = read_safetensors(text);
  return {{content.tensors.begin(), content.tensors.end()}};
}

}  // namespace

std::string packed(const CrewJob& job) {
  return texts_joined({job.hash, std::to_string(job.generation), packed(job.before), write_case_beside_tensors(job.c),
                       write_safetensors({job.c.tensors, {}})});
}

CrewJob unpacked_job(const std::string& text) {
  const std::vector<std::string> texts = texts_parted(text, 5);
  return {read_case_beside_tensors(texts[3], read_safetensors(texts[4]).tensors), texts[0], std::stoul(texts[1]),
          unpacked_checkpoint(texts[2])};
}

std::string packed(const CrewPart& part) { return texts_joined({part.trace, packed(part.after), part.why}); }

CrewPart unpacked_part(const std::string& text) {
  const std::vector<std::string> texts = texts_parted(text, 3);
  return {texts[0], unpacked_checkpoint(texts[1]), texts[2]};
}

std::size_t processes_at_most(const Case& c) { return most_ranks_of(c) * stages_of(c); }

std::size_t processes_of(const CrewJob& job) { return processes_of(generation_of(job.c, job.generation)); }

CrewPart trained(Link& link, const CrewJob& job) {
  const bool last = job.generation + 1 == generations_of(job.c).size();
  const Case generation = generation_of(job.c, job.generation);
  CrewPart part;
  Trace trace;
  try {
    GroupLink group(link, 0, 1, static_cast<int>(processes_of(generation)));
    run_rank(generation, group, {}, trace, {job.generation > 0 ? &job.before : nullptr, last ? nullptr : &part.after});
    trace.case_hash = job.hash;  // a generation has one of its own
    part.trace = flat_bytes_of(trace);
  } catch (const HungLink&) {
    throw;
  } catch (const std::exception& reason) {
    part = {"", {}, reason.what()};
  }
  return part;
}

}  // namespace tally::command_line
