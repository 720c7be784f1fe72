// A process group's ranks: what they train at a time, what each notes, and all of them as a subject.
#include "reports/command_line/verify/process_group.hpp"

#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <cmath>
#include <csignal>
#include <cstdint>
#include <cstring>
#include <initializer_list>
#include <memory>
#include <optional>
#include <stdexcept>
#include <thread>
#include <vector>

#include "kernels/ranks/link.hpp"
#include "kernels/ranks/mpi_link.hpp"
#include "kernels/ranks/nccl_link.hpp"
#include "kernels/subjects/process/process_step.hpp"
#include "kernels/trace/trace.hpp"
#include "kernels/training_step/ranks/run_ranks.hpp"
#include "oracle/case/file/safetensors.hpp"
#include "oracle/case/io.hpp"
#include "oracle/case/ranks.hpp"
#include "oracle/case/sharding.hpp"
#include "reports/command_line/output.hpp"
#include "reports/command_line/verify/mpi.hpp"
#include "reports/command_line/verify/subject.hpp"

namespace tally::command_line {
namespace {

constexpr int not_started = 3;

/// Ends as the process did that was waited for.
[[noreturn]] void end_alike(int status) {
  if (!WIFSIGNALED(status)) _exit(WEXITSTATUS(status));
  const rlimit none{0, 0};
  setrlimit(RLIMIT_CORE, &none);  // the other one may have left its own
  std::signal(WTERMSIG(status), SIG_DFL);
  kill(getpid(), WTERMSIG(status));
  _exit(128 + WTERMSIG(status));
}

}  // namespace

GroupPost::GroupPost(const std::string& path, int rank, int ranks) : rank_(rank) {
  auto board = GroupBoard::at(path);
  if (!board || board->ranks() != ranks || rank < 0 || rank >= ranks) return;
  notes_ = &board_.emplace(std::move(*board)).rank(rank);
}

void GroupPost::train_under_watch() {
  prctl(PR_SET_PDEATHSIG, SIGKILL);
  const pid_t trains = forked("a rank", SIGKILL);
  if (trains == 0) {
    if (notes_ != nullptr) notes_->pid = getpid();
    return;
  }
  prctl(PR_SET_NAME, "tally-watch");
  const auto status = awaited(trains);
  if (!status) _exit(not_started);
  if (notes_ != nullptr) board_->note_end(rank_, *status);
  end_alike(*status);
}

void GroupPost::stand(RankNotes::Standing standing) {
  if (notes_ != nullptr) notes_->standing = standing;
}

void GroupPost::leave(const std::string& reason) {
  if (notes_ == nullptr || board_->is_broken()) return;
  notes_->reason.put("rank " + std::to_string(rank_) + " left the case: " + reason);
  stand(RankNotes::left);
  board_->break_up();
}

std::string GroupPost::why_broken() const {
  for (int rank = 0; is_broken() && rank < board_->ranks(); ++rank)
    if (board_->rank(rank).standing == RankNotes::left) return std::string(board_->rank(rank).reason.view());
  return "";
}

std::string GroupPost::give_up(double seconds) {
  if (notes_ == nullptr) return "";
  const std::string account =
      account_of_hang(*board_, rank_, std::to_string(std::lround(std::max(1.0, seconds))) + " s");
  constexpr std::chrono::milliseconds until_the_first_has_said_it{200};
  if (!board_->give_up(account)) std::this_thread::sleep_for(until_the_first_has_said_it);
  return account;
}

void GroupPost::see(const TapView& tap) {
  if (notes_ == nullptr || notes_->standing != RankNotes::at_work) return;
  tap_.clear();
  append(tap_, tap);
  notes_->tap.put(tap_);
}

void GroupPost::wait(int from, const std::string& about) {
  if (notes_ == nullptr) return;
  before_ = static_cast<RankNotes::Standing>(notes_->standing.load());
  notes_->about.put(about);
  notes_->awaited = from;
  stand(RankNotes::waiting);
}

void GroupPost::go_on() { stand(before_); }

bool GroupPost::is_broken() const { return notes_ != nullptr && board_->is_broken(); }

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

std::string packed(const GroupJob& job) {
  return texts_joined({job.hash, std::to_string(job.generation), packed(job.before), write_case_beside_tensors(job.c),
                       write_safetensors({job.c.tensors, {}})});
}

GroupJob unpacked_job(const std::string& text) {
  const std::vector<std::string> texts = texts_parted(text, 5);
  return {read_case_beside_tensors(texts[3], read_safetensors(texts[4]).tensors), texts[0], std::stoul(texts[1]),
          unpacked_checkpoint(texts[2])};
}

std::string packed(const GroupPart& part) { return texts_joined({part.trace, packed(part.after), part.why}); }

GroupPart unpacked_part(const std::string& text) {
  const std::vector<std::string> texts = texts_parted(text, 3);
  return {texts[0], unpacked_checkpoint(texts[1]), texts[2]};
}

std::size_t processes_at_most(const Case& c) { return most_ranks_of(c) * stages_of(c); }

std::size_t processes_of(const GroupJob& job) { return processes_of(generation_of(job.c, job.generation)); }

GroupPart trained(Link& link, const GroupJob& job) {
  const bool last = job.generation + 1 == generations_of(job.c).size();
  const Case generation = generation_of(job.c, job.generation);
  GroupPart part;
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

namespace {

constexpr double longest_wait = 30;  // seconds that a rank waits for another

/// Holds the board of the process group that runs; each process group has one of its own.
class GroupWitness : public StepWitness {
 public:
  GroupWitness(int ranks, std::string launcher) : ranks_(ranks), launcher_(std::move(launcher)) {}
  void begin() override {
    board_.reset();
    path_ = board_.emplace(ranks_).path();
  }
  StepFailed failure(const std::optional<ProcessEnd>& ended, const std::string& limit) const override {
    return failure_of_group(*board_, launcher_, ended, limit);
  }
  /// As the process that began it names it.
  const std::string& path() const { return path_; }

 private:
  const int ranks_;
  const std::string launcher_;
  std::optional<GroupBoard> board_;
  std::string path_;
};

}  // namespace

RunOptions group_subject(const SubjectOptions& options, int ranks) {
  if (!options.subject.empty() && options.subject != "host")
    throw UsageError("--ranks: a crew's ranks run on the host; the subject is '" + options.subject + "'");
  require_no_kernels(options);
  const bool by_nccl = adds_by_nccl(options.ranks);
  if (by_nccl) nccl_version();
  const Launch launch = group_launch(ranks, options.launcher, options.allow_root);
  const StepLimits limits = step_limits_of(options);
  // A rank that waits says so before the whole case's time is over.
  const std::string command = launch.command + (by_nccl ? " --nccl" : "") + " --wait " +
                              std::to_string(std::min(longest_wait, limits.seconds / 2));
  auto witness = std::make_shared<GroupWitness>(ranks, launch.launcher);
  const auto body = [command, witness](int in, int out) {
    command_body(command + " --board " + witness->path())(in, out);
  };
  return with_own_step(std::make_unique<ProcessStep>(options.ranks, body, limits, witness));
}

}  // namespace tally::command_line
