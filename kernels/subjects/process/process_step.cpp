#include "kernels/subjects/process/process_step.hpp"

#include <fcntl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cmath>
#include <cstring>

#include "kernels/subjects/process/step_limits.hpp"
#include "kernels/trace/trace.hpp"
#include "oracle/case/file/findings.hpp"
#include "oracle/case/file/json.hpp"
#include "oracle/case/file/safetensors.hpp"
#include "oracle/case/io.hpp"

namespace tally {
namespace {

constexpr double longest_start = 60;

/// A file without a name, which ends with whoever holds it.
class NamelessFile {
 public:
  explicit NamelessFile(const char* what) : descriptor_(memfd_create(what, MFD_CLOEXEC)) {
    if (descriptor_ < 0) throw std::runtime_error(std::string("no memory for a case: ") + std::strerror(errno));
  }

  /// Where any process of this user opens it.
  std::string path() const { return "/proc/" + std::to_string(getpid()) + "/fd/" + std::to_string(int{descriptor_}); }

  void put(std::string_view bytes) const {
    if (ftruncate(descriptor_, 0) != 0 || lseek(descriptor_, 0, SEEK_SET) != 0 || !write_all(descriptor_, bytes))
      fail();
  }

  std::string all(std::uint64_t most) const {
    struct stat facts {};
    if (fstat(descriptor_, &facts) != 0) fail();
    if (static_cast<std::uint64_t>(facts.st_size) > most)
      throw StepFailed("its trace has " + std::to_string(facts.st_size) + " bytes; expected at most " +
                       std::to_string(most));
    std::string bytes;
    bytes.reserve(static_cast<std::size_t>(facts.st_size));
    if (lseek(descriptor_, 0, SEEK_SET) != 0) fail();
    while (bytes.size() < static_cast<std::size_t>(facts.st_size))
      if (!read_some(descriptor_, bytes)) throw StepFailed("its trace became shorter while it was read");
    return bytes;
  }

 private:
  [[noreturn]] static void fail() {
    throw std::runtime_error(std::string("a case's memory cannot be written: ") + std::strerror(errno));
  }
  Descriptor descriptor_;
};

std::optional<Json> object_in(const std::string& line) {
  Findings findings;
  auto json = parse_json(line, findings);
  if (!findings.empty() || !json || !json->is(Json::Kind::object)) return std::nullopt;
  return json;
}

/// Whether the object says `key` of case `number`.
bool says(const Json& answer, std::string_view key, const std::string& number) {
  const Json* value = answer.member(key);
  return value != nullptr && value->is(Json::Kind::number) && value->text == number;
}

std::string reason_in(const Json& answer) {
  const Json* reason = answer.member("reason");
  return reason != nullptr && reason->is(Json::Kind::string) && !reason->text.empty() ? named(reason->text)
                                                                                      : "no reason given";
}

bool is_interrupted(const StepLimits& limits) { return limits.interrupted != nullptr && *limits.interrupted; }

std::string after(const std::string& words) { return words.empty() ? "" : "; its last words: " + words; }

std::string in_seconds(double seconds) { return std::to_string(std::lround(std::max(1.0, seconds))) + " s"; }

}  // namespace

/// One process, what it is handed, and how many cases it has answered.
struct ProcessStep::Exchange {
  explicit Exchange(std::unique_ptr<GuardedProcess> the_process) : process(std::move(the_process)), owner(getpid()) {}

  std::unique_ptr<GuardedProcess> process;
  pid_t owner;
  NamelessFile tensors{"tally-case"}, trace{"tally-trace"};
  std::uint64_t answered = 0;
};

ProcessStep::ProcessStep(std::string subject, GuardedProcess::Body body, const StepLimits& limits,
                         std::shared_ptr<StepWitness> witness)
    : subject_(std::move(subject)), body_(std::move(body)), limits_(limits), witness_(std::move(witness)) {
  started();
}

ProcessStep::~ProcessStep() = default;

/// One that has said that it speaks the protocol.
std::unique_ptr<GuardedProcess> ProcessStep::started() const {
  if (witness_) witness_->begin();
  auto process = std::make_unique<GuardedProcess>(body_, limits_);
  // Several processes that find each other begin in their own time, whatever a case may take.
  const double seconds = witness_ ? std::max(limits_.seconds, longest_start) : limits_.seconds;
  const auto answer = process->ask("{\"tally_step\": 1}", seconds);
  const std::string words = after(process->last_words());
  if (!answer && is_interrupted(limits_)) throw StepInterrupted();
  const std::string remedy = "; expected {\"tally_step\": 1} as its first line (kernels/subjects/process/process.md)";
  if (!answer && witness_)
    throw StepRefused(subject_ + ": " + witness_->failure(process->ended(), in_seconds(seconds)).what() + words);
  if (!answer && process->ended())
    throw StepRefused(subject_ + " was ended by " + process->ended()->how + " before it answered" + remedy + words);
  if (!answer) throw StepRefused(subject_ + " did not answer within " + in_seconds(limits_.seconds) + remedy + words);
  const auto hello = object_in(*answer);
  if (hello && hello->member("refused") != nullptr) throw StepRefused(subject_ + ": " + hello->member("refused")->text);
  if (!hello || !says(*hello, "tally_step", "1"))
    throw StepRefused(subject_ + " answered " + json_string(named(*answer)) + remedy + words);
  return process;
}

Trace ProcessStep::run_in(Exchange& exchange, const Case& c) const {
  const std::string number = std::to_string(exchange.answered + 1), hash = hash_of(c);
  exchange.tensors.put(write_safetensors({c.tensors, {}}));
  exchange.trace.put("");
  const auto answer = exchange.process->ask("{\"run\": " + number + ", \"sha256\": \"" + hash + "\", \"tensors\": \"" +
                                                exchange.tensors.path() + "\", \"trace\": \"" + exchange.trace.path() +
                                                "\", \"case\": " + write_case_beside_tensors(c) + "}",
                                            limits_.seconds);
  const std::string words = after(exchange.process->last_words());
  if (!answer && is_interrupted(limits_)) throw StepInterrupted();
  if (!answer && witness_) throw witness_->failure(exchange.process->ended(), in_seconds(limits_.seconds));
  if (!answer && exchange.process->ended()) {
    const ProcessEnd& ended = *exchange.process->ended();
    throw StepFailed("its process was ended by " + ended.how + words,
                     ended.from_outside ? StepFailed::Why::from_outside : StepFailed::Why::died);
  }
  if (!answer)
    throw StepFailed("it took longer than " + in_seconds(limits_.seconds) + " (--case-time)" + words,
                     StepFailed::Why::too_slow);
  const auto reply = object_in(*answer);
  const std::string nonsense = "it answered " + json_string(named(*answer)) + "; expected {\"ran\": " + number +
                               "}, or \"declined\" or \"failed\" with a \"reason\"";
  if (!reply) throw StepFailed(nonsense + words);
  if (says(*reply, "declined", number)) {
    ++exchange.answered;
    throw NotSupported(declined_case + reason_in(*reply));
  }
  if (says(*reply, "wrong", number)) throw StepFailed(reason_in(*reply) + words);  // said by Tally's side of a library
  if (says(*reply, "failed", number)) throw StepFailed("it says: " + reason_in(*reply) + words);
  if (!says(*reply, "ran", number)) throw StepFailed(nonsense + words);
  try {
    const std::string bytes = exchange.trace.all(limits_.bytes);
    Trace trace =
        reply->member("flat") != nullptr ? trace_of_flat_bytes(bytes, c, hash) : trace_of_bytes(bytes, c, hash);
    ++exchange.answered;
    return trace;
  } catch (const StepFailed&) {
    throw;
  } catch (const std::runtime_error& wrong) {
    throw StepFailed(wrong.what());
  }
}

Trace ProcessStep::run(const Case& c) const {
  if (exchange_ && exchange_->owner != getpid()) exchange_.reset();
  if (!exchange_) exchange_ = std::make_unique<Exchange>(started());
  try {
    return run_in(*exchange_, c);
  } catch (const NotSupported&) {
    if (is_interrupted(limits_)) exchange_.reset();  // it may be at work on it yet
    throw;
  } catch (const StepFailed& failed) {
    const std::uint64_t before = exchange_->answered;
    exchange_.reset();
    if (failed.why() != StepFailed::Why::died || before == 0) throw;
    throw StepFailed(failed.what() + alone(c, before), failed.why());
  }
}

/// What tells whether an earlier case is to blame: the same case as the first of a process.
std::string ProcessStep::alone(const Case& c, std::uint64_t before) const {
  const std::string among =
      ", after " + std::to_string(before) + (before == 1 ? " case" : " cases") + " of one process; ";
  try {
    Exchange fresh(started());
    run_in(fresh, c);
    return among + "as the first of another it ran through: an earlier one may have spoilt its memory";
  } catch (const StepFailed& again) {
    return again.why() == StepFailed::Why::died ? among + "as the first of another, too"
                                                : among + "as the first of another otherwise: " + again.what();
  } catch (const NotSupported&) {
    return among + "as the first of another it was declined";
  } catch (const StepRefused& refused) {
    return among + "another did not start: " + refused.what();
  }
}

namespace {

/// One program with its words takes the shell's place: then its end is told as it was.
std::string as_one_process(const std::string& command) {
  const bool simple = command.find_first_of(";&|()<>{}#\n") == std::string::npos;
  const auto first = command.find_first_not_of(' ');
  const std::string word = first == std::string::npos ? "" : command.substr(first, command.find(' ', first) - first);
  return simple && word.find('=') == std::string::npos ? "exec " + command : command;
}

}  // namespace

GuardedProcess::Body command_body(const std::string& asked) {
  return [command = as_one_process(asked)](int in, int out) {
    dup2(in, STDIN_FILENO);
    dup2(out, STDOUT_FILENO);
    close(in);
    close(out);
    execl("/bin/sh", "sh", "-c", command.c_str(), static_cast<char*>(nullptr));
  };
}

}  // namespace tally
