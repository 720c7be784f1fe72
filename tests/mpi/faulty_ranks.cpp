// Loaded in front of every other library (LD_PRELOAD) into a process group: a rank that it draws dies, hangs or stops as it sends a
// message. What befalls a case follows from the case's bytes and a seed, so that all ranks know it and it repeats.
//   TALLY_FAULTY_RANKS  SEED:SHARE:KINDS:LOG, of 1000 cases SHARE are befallen, by one of the comma-separated KINDS
// Each that strikes writes a line to the file LOG: the case, the kind, the rank, its process.
#include <dlfcn.h>
#include <fcntl.h>
#include <mpi.h>
#include <unistd.h>

#include <csignal>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <string>
#include <string_view>
#include <vector>

namespace {

constexpr std::string_view about_a_case = "case";
constexpr std::uint64_t sends_to_strike_at = 6;  // every rank sends as many for a case
constexpr int some_exit = 3;

struct Asked {
  std::uint64_t seed = 0, share = 0;
  std::vector<std::string> kinds;
  std::string log;
};

Asked asked() {
  Asked all;
  const char* const text = std::getenv("TALLY_FAULTY_RANKS");
  if (text == nullptr) return all;
  std::vector<std::string> parts(1);
  for (const char* each = text; *each != '\0'; ++each)
    if (*each == ':' && parts.size() < 4)
      parts.emplace_back();
    else
      parts.back() += *each;
  if (parts.size() < 4) return all;
  all.kinds.emplace_back();
  for (const char each : parts[2])
    if (each == ',')
      all.kinds.emplace_back();
    else
      all.kinds.back() += each;
  all.seed = std::strtoull(parts[0].c_str(), nullptr, 10), all.share = std::strtoull(parts[1].c_str(), nullptr, 10);
  all.log = parts[3];
  return all;
}

/// FNV-1a, its bits then mixed: each part of the number is drawn on its own.
std::uint64_t hashed(const void* bytes, std::size_t count, std::uint64_t seed) {
  std::uint64_t hash = 0xcbf29ce484222325u ^ seed;
  for (std::size_t i = 0; i < count; ++i) hash = (hash ^ static_cast<const unsigned char*>(bytes)[i]) * 0x100000001b3u;
  hash = (hash ^ (hash >> 33)) * 0xff51afd7ed558ccdu;
  return hash ^ (hash >> 33);
}

/// What either launcher told this process.
int told(const char* by_openmpi, const char* by_mpich) {
  for (const char* name : {by_openmpi, by_mpich})
    if (const char* const number = std::getenv(name)) return std::atoi(number);
  return -1;
}
int own_rank() { return told("OMPI_COMM_WORLD_RANK", "PMI_RANK"); }
int ranks() { return told("OMPI_COMM_WORLD_SIZE", "PMI_SIZE"); }

std::uint64_t the_case = 0, sends = 0;
bool befallen = false;

/// A message begins with the length of what it is about, and that (kernels/ranks/mpi_link.cpp).
void look_at(const void* bytes, int count) {
  std::uint64_t length = 0;
  const auto size = static_cast<std::size_t>(count);
  if (size < sizeof length) return;
  std::memcpy(&length, bytes, sizeof length);
  const char* const text = static_cast<const char*>(bytes) + sizeof length;
  if (length != about_a_case.size() || std::string_view(text, length) != about_a_case) return;
  const std::uint64_t now = hashed(text + length, size - sizeof length - length, asked().seed);
  if (now == the_case) return;  // the first rank sends it to each of the others
  the_case = now, sends = 0;
  befallen = now % 1000 < asked().share;
}

void note(const Asked& all, const std::string& kind) {
  const std::string line =
      std::to_string(the_case) + " " + kind + " " + std::to_string(own_rank()) + " " + std::to_string(getpid()) + "\n";
  const int file = open(all.log.c_str(), O_WRONLY | O_APPEND | O_CREAT, 0600);
  if (file < 0 || write(file, line.data(), line.size()) < 0) _exit(some_exit);
  close(file);
}

void strike_where_drawn() {
  if (!befallen) return;
  const Asked all = asked();
  const auto drawn = [part = the_case / 1000](std::uint64_t way, std::uint64_t limit) { return (part >> way) % limit; };
  const bool is_it = drawn(0, static_cast<std::uint64_t>(ranks())) == static_cast<std::uint64_t>(own_rank());
  if (!is_it || sends++ != drawn(10, sends_to_strike_at)) return;
  const std::string kind = all.kinds[drawn(20, all.kinds.size())];
  note(all, kind);
  if (kind == "segfault") raise(SIGSEGV);
  if (kind == "abort") raise(SIGABRT);
  if (kind == "kill") raise(SIGKILL);
  if (kind == "exit") _exit(some_exit);
  if (kind == "exit_0") _exit(0);
  if (kind == "stop") raise(SIGSTOP);
  for (volatile bool for_ever = true; for_ever;)
    if (kind != "spin") pause();  // "hang", and "launcher": somebody else kills that
}

template <class Function>
Function* of_the_library(const char* name) {
  return reinterpret_cast<Function*>(dlsym(RTLD_DEFAULT, name));
}

}  // namespace

extern "C" int MPI_Isend(const void* bytes, int count, MPI_Datatype type, int to, int tag, MPI_Comm group,
                         MPI_Request* request) {
  look_at(bytes, count);
  strike_where_drawn();
  static auto* const send = of_the_library<decltype(MPI_Isend)>("PMPI_Isend");
  return send(bytes, count, type, to, tag, group, request);
}

extern "C" int MPI_Mrecv(void* bytes, int count, MPI_Datatype type, MPI_Message* message, MPI_Status* status) {
  static auto* const take = of_the_library<decltype(MPI_Mrecv)>("PMPI_Mrecv");
  const int result = take(bytes, count, type, message, status);
  look_at(bytes, count);
  return result;
}
