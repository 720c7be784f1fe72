#include "reports/command_line/crew.hpp"

#include <signal.h>
#include <sys/prctl.h>
#include <unistd.h>

#include <array>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <iostream>
#include <vector>

#include "kernels/ranks/mpi_link.hpp"
#include "kernels/trace/flat_trace.hpp"
#include "kernels/training_step/run_ranks.hpp"
#include "oracle/case/case_beside.hpp"
#include "oracle/case/findings.hpp"
#include "oracle/case/io.hpp"
#include "oracle/case/json.hpp"
#include "oracle/case/json_form.hpp"
#include "oracle/case/ranks.hpp"
#include "oracle/case/safetensors.hpp"
#include "reports/command_line/exit_codes.hpp"

namespace tally::command_line {
namespace {

/// A line of the parent, every number with the digits it was written with.
class Line {
 public:
  explicit Line(const std::string& text) {
    Findings findings;
    const auto json = parse_json(text, findings);
    if (!json || !json->is(Json::Kind::object)) throw std::runtime_error("not a line of a case: " + text.substr(0, 80));
    json_ = *json;
  }
  bool has(std::string_view key) const { return json_.member(key) != nullptr; }
  /// A number or text as it stands there, an object as JSON.
  std::string at(std::string_view key) const {
    const Json* const value = json_.member(key);
    if (value == nullptr) throw std::runtime_error("a line of a case has no " + std::string(key));
    return value->is(Json::Kind::object) ? to_text(*value, JsonLayout::compact) : value->text;
  }

 private:
  Json json_;
};

struct Mpi {
  const char* name;                      // of its module: "openmpi"
  const char* banner;                    // in what its launcher says of itself
  const char* variable;                  // that its launcher sets in each process: how many there are
  const char* options;                   // for more ranks than cores
  std::array<const char*, 2> launchers;  // "mpirun.openmpi"
};
constexpr std::array<Mpi, 2> known{Mpi{"openmpi",
                                       "open-mpi.org",
                                       "OMPI_COMM_WORLD_SIZE",
                                       "--oversubscribe --mca mpi_yield_when_idle 1",
                                       {"mpirun.openmpi", "mpirun"}},
                                   Mpi{"mpich", "HYDRA", "PMI_SIZE", "", {"mpirun.mpich", "mpirun"}}};

std::filesystem::path own_folder() { return std::filesystem::canonical("/proc/self/exe").parent_path(); }

std::string module_of(const Mpi& mpi) { return own_folder() / ("tally_mpi_" + std::string(mpi.name) + ".so"); }

bool has_module(const Mpi& mpi) { return std::filesystem::exists(module_of(mpi)); }

/// The first lines that a command prints.
std::string said_by(const std::string& command) {
  std::string text;
  FILE* const pipe = popen((command + " 2>/dev/null </dev/null").c_str(), "r");
  if (pipe == nullptr) return text;
  std::array<char, 512> part{};
  while (std::fgets(part.data(), part.size(), pipe) != nullptr && text.size() < 4096) text += part.data();
  pclose(pipe);
  return text;
}

/// Which MPI a launcher is of.
const Mpi* mpi_of(const std::string& launcher) {
  const std::string text = said_by(launcher + " --version");
  for (const Mpi& mpi : known)
    if (text.find(mpi.banner) != std::string::npos) return &mpi;
  return nullptr;
}

std::string launcher_found(const Mpi& mpi) {
  for (const char* launcher : mpi.launchers)
    if (mpi_of(launcher) == &mpi) return launcher;
  return "";
}

std::string number_of_ranks(const std::string& text, const std::string& ranks) {
  const bool digits = !text.empty() && text.size() < 5 && text.find_first_not_of("0123456789") == std::string::npos;
  if (!digits || std::stoi(text) < 2)
    throw UsageError("--ranks: '" + ranks + "'; expected model, or mpi:N with two ranks or more");
  return text;
}

// Between the ranks of a crew.
constexpr int first_rank = 0;

void send_text(Link& link, int to, const std::string& about, const std::string& text) {
  const std::uint64_t size = text.size();
  link.send(to, about + ", size", std::as_bytes(std::span(&size, 1)));
  link.send(to, about, std::as_bytes(std::span(text.data(), text.size())));
}

std::string receive_text(Link& link, int from, const std::string& about) {
  std::uint64_t size = 0;
  link.receive(from, about + ", size", std::as_writable_bytes(std::span(&size, 1)));
  std::string text(size, '\0');
  link.receive(from, about, std::as_writable_bytes(std::span(text.data(), text.size())));
  return text;
}

/// What one rank leaves of a case: its trace, or why it has none.
struct Part {
  std::string bytes, why;
};

Part trained(Link& link, const Case& c) {
  Trace trace;
  try {
    run_rank(c, link, {}, trace);
    return {flat_bytes_of(trace), ""};
  } catch (const std::exception& reason) {
    return {"", reason.what()};
  }
}

/// A case as it goes to the other ranks, and back: a line, and its tensors.
std::string packed(const Case& c) { return write_case_beside_tensors(c) + "\n" + write_safetensors({c.tensors, {}}); }

Case unpacked(const std::string& text) {
  const auto line = text.find('\n');
  return read_case_beside_tensors(text.substr(0, line), read_safetensors(text.substr(line + 1)).tensors);
}

/// The other ranks: a case at a time, until an empty one comes.
void follow(MpiLink& link) {
  for (;;) {
    link.await(first_rank, "case, size");
    const std::string text = receive_text(link, first_rank, "case");
    if (text.empty()) return;
    const Part part = trained(link, unpacked(text));
    send_text(link, first_rank, "trace", part.bytes);
    send_text(link, first_rank, "why none", part.why);
  }
}

/// All ranks of a case; the reasons of those that have no trace.
std::string train_together(MpiLink& link, const Case& c, const std::string& hash, Trace& trace) {
  const std::string text = packed(c);
  for (int to = 1; to < link.size(); ++to) send_text(link, to, "case", text);
  std::vector<Part> parts{trained(link, c)};
  for (int from = 1; from < link.size(); ++from) {
    Part& part = parts.emplace_back();
    part.bytes = receive_text(link, from, "trace");
    part.why = receive_text(link, from, "why none");
  }
  std::string why;
  std::vector<Trace> traces;
  for (std::size_t rank = 0; rank < parts.size(); ++rank) {
    if (parts[rank].why.empty())
      traces.push_back(trace_of_flat_bytes(parts[rank].bytes, c, hash));
    else
      why += (why.empty() ? "" : "; ") + parts[rank].why;
  }
  if (why.empty()) trace = merged_ranks(std::move(traces));
  return why;
}

void put(const std::string& path, const std::string& bytes) {
  std::ofstream file(path, std::ios::binary);
  file.write(bytes.data(), static_cast<std::streamsize>(bytes.size()));
  if (!file.flush()) throw std::runtime_error("cannot write " + path);
}

std::string contents(const std::string& path) {
  std::ifstream file(path, std::ios::binary);
  std::string bytes{std::istreambuf_iterator<char>(file), {}};
  if (!file) throw std::runtime_error("cannot read " + path);
  return bytes;
}

std::string refusal(const char* word, const std::string& number, const std::string& reason) {
  return "{\"" + std::string(word) + "\": " + number + ", \"reason\": " + json_string(reason) + "}";
}

/// The answer to a line with a case.
std::string answer(MpiLink& link, const Line& line) {
  const std::string number = line.at("run"), hash = line.at("sha256");
  try {
    const Case c = read_case_beside_tensors(line.at("case"), read_safetensors(contents(line.at("tensors"))).tensors);
    Trace trace;
    if (in_ranks(c) && ranks_of(c) == static_cast<std::size_t>(link.size())) {
      const std::string why = train_together(link, c, hash, trace);
      if (!why.empty()) return refusal("failed", number, why);
    } else {
      trace = run(c);  // of another number of ranks: in this process
    }
    if (!trace.violations.empty()) return refusal("failed", number, trace.violations.front());
    put(line.at("trace"), flat_bytes_of(trace));
    return "{\"ran\": " + number + ", \"flat\": true}";
  } catch (const NotSupported& reason) {
    return refusal("declined", number, reason.what());
  }
}

void lead(MpiLink& link, const std::string& answers) {
  std::ofstream said(answers.empty() ? "/dev/stdout" : answers);
  if (!said) throw std::runtime_error("cannot write to " + answers);
  for (std::string text; std::getline(std::cin, text);) {
    const Line line(text);
    said << (line.has("run") ? answer(link, line)
                             : "{\"tally_step\": 1, \"name\": " + json_string(link.library()) + "}")
         << std::endl;
  }
  for (int to = 1; to < link.size(); ++to) send_text(link, to, "case", "");
}

/// The MPI whose launcher started this process, and how many it said it starts.
const Mpi& launched_by(int& size) {
  for (const Mpi& mpi : known) {
    const char* const said = std::getenv(mpi.variable);
    if (said == nullptr) continue;
    size = std::atoi(said);
    return mpi;
  }
  throw UsageError("crew: no launcher of MPI started this process; `./tally verify --ranks mpi:4` starts one");
}

}  // namespace

std::optional<int> crew_size(const std::string& ranks) {
  if (ranks.empty() || ranks == "model") return std::nullopt;
  const std::string word = "mpi:";
  return std::stoi(number_of_ranks(ranks.starts_with(word) ? ranks.substr(word.size()) : "", ranks));
}

std::string crew_command(int ranks, const std::string& launcher, bool allow_root) {
  std::string words = launcher;
  const Mpi* mpi = words.empty() ? nullptr : mpi_of(words);
  if (!words.empty() && mpi == nullptr)
    throw UsageError("--launcher: '" + words + "' is no launcher of Open MPI or MPICH; `./tally doctor` names those");
  for (const Mpi& each : known) {
    if (mpi != nullptr || !has_module(each)) continue;
    if (words = launcher_found(each); !words.empty()) mpi = &each;
  }
  if (mpi == nullptr || !has_module(*mpi))
    throw UsageError("--ranks: this tally has no module for " + std::string(mpi == nullptr ? "an MPI" : mpi->name) +
                     " that starts here; expected Open MPI or MPICH when it is built (`./tally doctor`), or model");
  const bool root = allow_root && geteuid() == 0 && std::string(mpi->name) == "openmpi";
  const std::string self = std::filesystem::canonical("/proc/self/exe");
  // What the launcher itself prints is no answer: these take a way of their own.
  return "exec 3>&1; exec " + words + (root ? " --allow-run-as-root " : " ") + mpi->options + " -n " +
         std::to_string(ranks) + " '" + self + "' crew --answers /proc/$$/fd/3 >&2";
}

std::string mpi_lines() {
  std::string text;
  for (const Mpi& mpi : known) {
    const std::string launcher = launcher_found(mpi);
    text += "mpi       " + std::string(mpi.name) + ": " + (has_module(mpi) ? "module built" : "built without it") +
            (launcher.empty() ? ", no launcher found" : ", started by " + launcher) + "\n";
  }
  return text;
}

int run_crew(double seconds, const std::string& answers) {
  int said = 0;
  const Mpi& mpi = launched_by(said);
  prctl(PR_SET_PDEATHSIG, SIGKILL);  // a rank does not outlive its launcher
  const std::unique_ptr<MpiLink> link = open_mpi_link(module_of(mpi), seconds);
  if (link->size() != said)
    throw std::runtime_error("the launcher started " + std::to_string(said) + " ranks and " + link->library() +
                             " says " + std::to_string(link->size()) + ": it is another MPI than this module's");
  try {
    link->rank() == first_rank ? lead(*link, answers) : follow(*link);
  } catch (const std::exception& reason) {
    std::cerr << "rank " << link->rank() << ": " << reason.what() << std::endl;
    link->abort(environment);
  }
  link->finish();
  return pass;
}

}  // namespace tally::command_line
