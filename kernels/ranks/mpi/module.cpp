#include "kernels/ranks/mpi/module.hpp"

#include <mpi.h>

#include <cstdlib>
#include <cstring>
#include <limits>
#include <list>

namespace {

/// What was sent and may not have gone yet.
struct Sent {
  MPI_Request request;
  void* bytes;
};
std::list<Sent> sent;
MPI_Comm world;
MPI_Message waiting;
char library[MPI_MAX_LIBRARY_VERSION_STRING];

void drop_what_went() {
  for (auto each = sent.begin(); each != sent.end();) {
    int gone = 0;
    MPI_Test(&each->request, &gone, MPI_STATUS_IGNORE);
    if (gone == 0) {
      ++each;
      continue;
    }
    std::free(each->bytes);
    each = sent.erase(each);
  }
}

int send(int to, const void* bytes, std::size_t count) {
  drop_what_went();
  if (count > static_cast<std::size_t>(std::numeric_limits<int>::max())) return -1;  // MPI counts in int
  void* copy = std::malloc(count == 0 ? 1 : count);
  if (copy == nullptr) return -1;
  std::memcpy(copy, bytes, count);
  sent.push_back({MPI_REQUEST_NULL, copy});
  return MPI_Isend(copy, static_cast<int>(count), MPI_BYTE, to, 0, world, &sent.back().request);
}

int next(int* from, std::size_t* count) {
  drop_what_went();
  int come = 0, bytes = 0;
  MPI_Status status;
  if (MPI_Improbe(*from < 0 ? MPI_ANY_SOURCE : *from, 0, world, &come, &waiting, &status) != MPI_SUCCESS) return -1;
  if (come == 0) return 0;
  if (MPI_Get_count(&status, MPI_BYTE, &bytes) != MPI_SUCCESS) return -1;
  *count = static_cast<std::size_t>(bytes);
  *from = status.MPI_SOURCE;
  return 1;
}

int take(void* into, std::size_t count) {
  return MPI_Mrecv(into, static_cast<int>(count), MPI_BYTE, &waiting, MPI_STATUS_IGNORE);
}

/// Of MPI_COMM_WORLD, not its copy: MPICH asks the processes of a copy, and waits for ever for one that stands still.
void abort_all(int code) { MPI_Abort(MPI_COMM_WORLD, code); }

void finish() {
  for (Sent& each : sent) MPI_Wait(&each.request, MPI_STATUS_IGNORE);
  MPI_Finalize();
}

}  // namespace

const tally_mpi* tally_mpi_open() {
  static tally_mpi table;
  int level = 0, length = 0;
  if (MPI_Init_thread(nullptr, nullptr, MPI_THREAD_FUNNELED, &level) != MPI_SUCCESS) return nullptr;
  if (MPI_Comm_dup(MPI_COMM_WORLD, &world) != MPI_SUCCESS) return nullptr;
  MPI_Comm_set_errhandler(world, MPI_ERRORS_RETURN);
  MPI_Comm_rank(world, &table.rank);
  MPI_Comm_size(world, &table.size);
  MPI_Get_library_version(library, &length);
  if (char* line = std::strpbrk(library, ",\n")) *line = '\0';
  table.library = library;
  table.send = send, table.next = next, table.take = take, table.abort = abort_all, table.finish = finish;
  return &table;
}
