#include "properties/campaign/foreman.hpp"

#include <sys/utsname.h>

#include <sstream>
#include <stdexcept>
#include <thread>

#include "properties/campaign/journal.hpp"

namespace tally {
namespace {

constexpr std::chrono::seconds longest_silence{1};
constexpr std::chrono::seconds shared_within{10};  // a file system of a network may take its time

std::string host() {
  utsname system{};
  uname(&system);
  return system.nodename;
}

}  // namespace

Foreman::Foreman(EarlyFork& helper, int workers, Heading own, std::filesystem::path journal, Send send)
    : helper_(helper), workers_(workers), own_(std::move(own)), journal_(std::move(journal)), send_(std::move(send)) {}

void Foreman::say(const std::string& word, const std::string& text) {
  send_(word, text);
  said_ = Clock::now();
}

void Foreman::handle(const std::string& word, const std::string& text) {
  if (word == word::campaign) {
    join(text);
  } else if (word == word::piece) {
    std::istringstream numbers(text);
    std::size_t number = 0, before = 0;
    if (!(numbers >> number >> before)) throw std::runtime_error("no piece: " + text);
    note_idle();
    --idle_;
    helper_.start(number, before);
  } else if (word == word::over) {
    over_ = true;
    say(word::left, "");
  }
}

void Foreman::join(const std::string& heading) {
  if (const std::string reason = why_not(heading); !reason.empty()) {
    say(word::refused, host() + ": " + reason);
    return;
  }
  helper_.begin(heading);
  joined_ = true;
  idle_ = workers_;
  noted_ = Clock::now();
  say(word::joined, std::to_string(workers_) + " " + host());
}

/// All processes must mean one campaign, and write to one folder.
std::string Foreman::why_not(const std::string& heading) const {
  if (const std::string other = difference(heading_of(heading), own_); !other.empty()) return other;
  const auto end = Clock::now() + shared_within;
  for (;;) {
    try {
      if (Journal::heading_of(journal_) == heading) return "";
    } catch (const std::runtime_error&) {  // not there, or not yet
    }
    if (Clock::now() > end) break;
    std::this_thread::sleep_for(std::chrono::milliseconds(100));
  }
  return journal_.string() + ": found no journal of this campaign; expected a folder that all machines share (--out)";
}

void Foreman::note_idle() {
  const auto now = Clock::now();
  waited_ += idle_ * std::chrono::duration<double>(now - noted_).count();
  noted_ = now;
}

bool Foreman::work(std::chrono::microseconds longest) {
  const auto answers = helper_.take(longest);
  for (const EarlyFork::Answer& each : answers) {
    note_idle();
    ++idle_;
    std::ostringstream head;
    head << each.number << " " << each.seconds << " " << waited_ << "\n";
    say(word::answer, head.str() + each.bytes);
  }
  if (joined_ && Clock::now() - said_ > longest_silence) say(word::alive, "");
  return !answers.empty();
}

}  // namespace tally
