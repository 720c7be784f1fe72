#include "kernels/ranks/mpi/module.hpp"

#include <mpi.h>

#include <algorithm>
#include <cstdlib>
#include <cstring>
#include <limits>
#include <list>
#include <map>
#include <vector>

namespace {

/// What was sent and may not have gone yet.
struct Sent {
  MPI_Request request;
  void* bytes;
};
std::list<Sent> sent;
MPI_Comm world;
MPI_Message waiting;
MPI_Request summing = MPI_REQUEST_NULL;
std::vector<float> sums;  // being made
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

/// A communicator of these ranks, made once.
MPI_Comm group_of(const int* ranks, std::size_t number) {
  int all_ranks = 0;
  if (MPI_Comm_size(world, &all_ranks) == MPI_SUCCESS && number == static_cast<std::size_t>(all_ranks)) return world;
  static std::map<std::vector<int>, MPI_Comm> made;
  const std::vector<int> key(ranks, ranks + number);
  const auto found = made.find(key);
  if (found != made.end()) return found->second;
  MPI_Group all, some;
  MPI_Comm group = MPI_COMM_NULL;
  MPI_Comm_group(world, &all);
  MPI_Group_incl(all, static_cast<int>(number), ranks, &some);
  if (MPI_Comm_create_group(world, some, 0, &group) != MPI_SUCCESS) group = MPI_COMM_NULL;
  MPI_Group_free(&some);
  MPI_Group_free(&all);
  return made.emplace(key, group).first->second;
}

int sum(const float* values, std::size_t count, const int* ranks, std::size_t number) {
  if (count > static_cast<std::size_t>(std::numeric_limits<int>::max())) return -1;
  const MPI_Comm group = group_of(ranks, number);
  if (group == MPI_COMM_NULL) return -1;
  sums.assign(values, values + count);
  return MPI_Iallreduce(MPI_IN_PLACE, sums.data(), static_cast<int>(count), MPI_FLOAT, MPI_SUM, group, &summing);
}

int summed(float* values) {
  int done = 0;
  if (MPI_Test(&summing, &done, MPI_STATUS_IGNORE) != MPI_SUCCESS) return -1;
  if (done != 0) std::copy(sums.begin(), sums.end(), values);
  return done;
}

/// Ends the processes of MPI_COMM_WORLD, not of its copy: MPICH asks the processes of a copy, and waits for ever for
/// one that stands still.
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
  table.send = send, table.next = next, table.take = take, table.sum = sum, table.summed = summed;
  table.abort = abort_all, table.finish = finish;
  return &table;
}
