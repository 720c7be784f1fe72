// A process of a campaign over machines: its workers, and what it does with the messages that reach it.
#include "properties/campaign/node.hpp"

#include <sched.h>
#include <sys/utsname.h>

#include <algorithm>
#include <chrono>
#include <span>
#include <sstream>
#include <stdexcept>
#include <thread>

#include "properties/campaign/coordinator.hpp"

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

namespace {

/// Ever longer sleeps while nothing happens: processes may outnumber the cores.
class Patience {
 public:
  std::chrono::microseconds next() {
    if (turns_++ < yields) {
      sched_yield();
      return std::chrono::microseconds{0};
    }
    return sleep_ = std::min<std::chrono::microseconds>(2 * sleep_, longest);
  }
  void reset() { *this = Patience(); }

 private:
  static constexpr int yields = 20;
  static constexpr std::chrono::microseconds longest{1000};
  int turns_ = 0;
  std::chrono::microseconds sleep_{10};
};

bool is_for_dealer(const std::string& word) {
  return word == word::joined || word == word::refused || word == word::answer || word == word::alive ||
         word == word::left;
}

}  // namespace

CampaignProcess::CampaignProcess(MpiLink& link, EarlyFork& helper, int workers, const Heading& own,
                                 std::filesystem::path journal)
    : link_(link),
      foreman_(helper, workers, own, std::move(journal),
               [this](const std::string& word, const std::string& text) { send(dealing_process, word, text); }) {}

void CampaignProcess::send(int to, const std::string& word, const std::string& text) {
  if (to == link_.rank())
    own_.push_back({to, word, text});
  else
    link_.send(to, word, std::as_bytes(std::span(text.data(), text.size())));
}

void CampaignProcess::run(Dealing* dealing, const std::function<bool()>& stopped) {
  Patience patience;
  while (dealing == nullptr ? !foreman_.is_over() : !dealing->is_left()) {
    bool moved = false;
    while (auto message = next()) {
      moved = true;
      if (dealing != nullptr && is_for_dealer(message->about))
        dealing->handle(message->from, message->about, message->bytes);
      else
        foreman_.handle(message->about, message->bytes);
    }
    moved = foreman_.work(moved ? std::chrono::microseconds{0} : patience.next()) || moved;
    if (moved) patience.reset();
    if (dealing == nullptr) continue;
    dealing->look_after();
    if (stopped()) dealing->stop();
  }
}

std::optional<Message> CampaignProcess::next() {
  if (own_.empty()) return link_.next_message();
  Message message = std::move(own_.front());
  own_.pop_front();
  return message;
}

}  // namespace tally
