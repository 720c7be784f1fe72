// `tally crew`: one rank of several processes that train cases together; a launcher of MPI starts it.
#include <fstream>
#include <iostream>
#include <memory>
#include <vector>

#include "kernels/ranks/mpi_link.hpp"
#include "kernels/ranks/nccl_link.hpp"
#include "kernels/trace/trace.hpp"
#include "kernels/training_step/ranks/run_ranks.hpp"
#include "oracle/case/file/findings.hpp"
#include "oracle/case/file/json.hpp"
#include "oracle/case/file/safetensors.hpp"
#include "oracle/case/io.hpp"
#include "oracle/case/rank_keys.hpp"
#include "oracle/case/ranks.hpp"
#include "reports/command_line/command.hpp"
#include "reports/command_line/output.hpp"
#include "reports/command_line/verify/mpi.hpp"
#include "reports/command_line/verify/process_group.hpp"

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

// Between the ranks of a process group.
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

/// A process's way to the others.
struct Joined {
  MpiLink& messages;
  std::unique_ptr<Link> nccl;  // the same ranks, whose sums it makes; nullptr: MPI makes them
  Link& trains() { return nccl ? *nccl : messages; }
};

/// This process's part of a job.
GroupPart own_part(Joined& joined, GroupPost& post, const GroupJob& job) {
  GroupPart part = trained(joined.trains(), job);
  if (!part.why.empty()) post.leave(part.why);
  return part;
}

/// The other ranks: a job at a time, until an empty one comes. A rank is at work from when it has one until it has
/// handed over what it left.
void follow(Joined& joined, GroupPost& post) {
  MpiLink& link = joined.messages;
  for (;;) {
    link.await(first_rank, "case, size");
    post.stand(RankNotes::at_work);
    const std::string text = receive_text(link, first_rank, "case");
    if (text.empty()) return;
    const GroupPart part = own_part(joined, post, unpacked_job(text));
    send_text(link, first_rank, "trace", packed(part));
    if (part.why.empty()) post.stand(RankNotes::idle);
  }
}

/// What every process leaves of a job, the first one's in front. Ends early where the group is broken.
std::vector<GroupPart> parts_of_all(Joined& joined, GroupPost& post, const GroupJob& job) {
  MpiLink& link = joined.messages;
  const auto processes = static_cast<int>(processes_of(job));
  const std::string text = processes > 1 ? packed(job) : "";
  for (int to = 1; to < processes; ++to) send_text(link, to, "case", text);
  std::vector<GroupPart> parts;
  try {
    parts.push_back(own_part(joined, post, job));
    for (int from = 1; from < processes; ++from) parts.push_back(unpacked_part(receive_text(link, from, "trace")));
  } catch (const HungLink&) {
    throw;
  } catch (const BrokenLink&) {
    if (!post.is_broken()) throw;
  }
  return parts;
}

/// A job's trace and what the next generation goes on from; the reasons of the processes that have no trace.
std::string train_together(Joined& joined, GroupPost& post, const GroupJob& job, Trace& trace, Checkpoint& after) {
  std::vector<GroupPart> parts = parts_of_all(joined, post, job);
  std::string why = post.why_broken();
  if (!why.empty()) return why;
  std::vector<Trace> traces;
  for (GroupPart& part : parts) {
    if (part.why.empty())
      traces.push_back(trace_of_flat_bytes(part.trace, job.c, job.hash));
    else
      why += (why.empty() ? "" : "; ") + part.why;
    put_together(part.after, after);
  }
  if (why.empty()) trace = merged_processes(generation_of(job.c, job.generation), std::move(traces));
  return why;
}

/// All generations of a case, one behind another.
std::string train_all(Joined& joined, GroupPost& post, GroupJob job, Trace& trace) {
  const std::size_t generations = generations_of(job.c).size();
  for (; job.generation < generations; ++job.generation) {
    Trace part;
    Checkpoint after;
    if (std::string why = train_together(joined, post, job, part, after); !why.empty()) return why;
    if (job.generation == 0)
      trace = std::move(part);
    else
      add_generation(std::move(part), trace);
    job.before = std::move(after);
  }
  return "";
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

/// MPI knows no numbers of 16 bits to add; NCCL does.
void require_sum(const Case& c) {
  if (rank_word(c, "reduce.algorithm") == "library" && wire_of(c) != Dtype::fp32)
    throw NotSupported("a sum by MPI over a wire of " + std::string(name_of(wire_of(c))));
}

std::string name_of(const Joined& joined) {
  return joined.messages.library() + (joined.nccl ? " and " + nccl_version() : "");
}

/// The answer to a line with a case.
std::string answer(Joined& joined, GroupPost& post, const Line& line) {
  const std::string number = line.at("run"), hash = line.at("sha256");
  try {
    Case c = read_case_beside_tensors(line.at("case"), read_safetensors(contents(line.at("tensors"))).tensors);
    Trace trace;
    if (in_ranks(c) && processes_at_most(c) <= static_cast<std::size_t>(joined.messages.size())) {
      if (!joined.nccl) require_sum(c);
      post.stand(RankNotes::at_work);
      const std::string why = train_all(joined, post, {std::move(c), hash}, trace);
      if (!why.empty()) return refusal("failed", number, why);
      post.stand(RankNotes::idle);
    } else {
      // A case of more processes than there are, or of no ranks, is run in this process.
      trace = run(c);
    }
    if (!trace.violations.empty()) return refusal("failed", number, trace.violations.front());
    put(line.at("trace"), flat_bytes_of(trace));
    return "{\"ran\": " + number + ", \"flat\": true}";
  } catch (const NotSupported& reason) {
    return refusal("declined", number, reason.what());
  }
}

void lead_group(Joined& joined, GroupPost& post, const std::string& answers) {
  MpiLink& link = joined.messages;
  std::ofstream said(answers.empty() ? "/dev/stdout" : answers);
  if (!said) throw std::runtime_error("cannot write to " + answers);
  for (std::string text; std::getline(std::cin, text);) {
    const Line line(text);
    said << (line.has("run") ? answer(joined, post, line)
                             : "{\"tally_step\": 1, \"name\": " + json_string(name_of(joined)) + "}")
         << std::endl;
  }
  for (int to = 1; to < link.size(); ++to) send_text(link, to, "case", "");
}

/// Ranks that the launcher started apart are no group, though each of them would train alone without an error.
void require_world(const MpiLink& link, const Launched& start) {
  if (link.size() == start.ranks) return;
  throw std::runtime_error("the launcher started " + std::to_string(start.ranks) + " ranks and " + link.library() +
                           " says " + std::to_string(link.size()) + ": it is another MPI than this module's");
}

std::string after_colon(const std::string& text) { return text.empty() ? "" : ": " + text; }

}  // namespace

int run_rank_of_group(const GroupOptions& options) {
  const Launched start = launched();
  GroupPost post(options.board, start.rank, start.ranks);
  post.train_under_watch();
  const auto end_all = [&](MpiLink& link, const std::string& reason) {
    std::cerr << "rank " << start.rank << ": " << reason << std::endl;
    link.abort(environment);
  };
  try {
    const std::unique_ptr<MpiLink> link = open_mpi_link(start.module, options.seconds, post);
    try {
      require_world(*link, start);
      post.stand(RankNotes::idle);
      Joined joined{*link, options.nccl ? open_nccl_link(*link, options.seconds) : nullptr};
      link->rank() == first_rank ? lead_group(joined, post, options.answers) : follow(joined, post);
    } catch (const HungLink& hang) {
      end_all(*link, hang.what() + after_colon(post.give_up(options.seconds)));
    } catch (const std::exception& reason) {
      post.leave(reason.what());
      end_all(*link, reason.what());
    }
    post.stand(RankNotes::done);
    link->finish();
  } catch (const std::exception& reason) {
    post.leave(reason.what());
    throw;
  }
  return pass;
}

}  // namespace tally::command_line

namespace tally::command_line::crew_command {
namespace {

const RegisterCommand registered{{
    .place = 190,
    .name = "crew",
    .help = "one rank of several processes that train cases together; a launcher of MPI starts it",
    .bind = with_options<GroupOptions>(
        [](CLI::App& command, GroupOptions& options) {
          command.add_option("--wait", options.seconds, "seconds that a rank waits for another")->check(above_zero());
          command.add_option("--answers", options.answers, "file for the first rank's answers (default: its output)");
          command.add_flag("--nccl", options.nccl, "sums by the library are NCCL's (default: MPI's)");
          command.add_option("--board", options.board, "file in which ranks note where they stand (default: none)");
        },
        run_rank_of_group),
}};

}  // namespace
}  // namespace tally::command_line::crew_command
