// A process of a campaign over machines: its workers, and what it does with the messages that reach it.
#pragma once

#include <chrono>
#include <deque>
#include <filesystem>
#include <functional>
#include <optional>
#include <string>

#include "kernels/ranks/mpi_link.hpp"
#include "properties/campaign/coordinator.hpp"
#include "properties/campaign/workers.hpp"

namespace tally {

// A process of a campaign over machines that has workers of its own: it asks for pieces and hands over their answers.
// How its messages travel is its owner's.

/// What foremen and the dealer tell each other: a word, and text.
namespace word {
inline constexpr const char* campaign = "campaign";  // to a foreman: the heading
inline constexpr const char* joined = "joined";      // from it: workers and host
inline constexpr const char* refused = "refused";    // from it: why it cannot take part
inline constexpr const char* piece = "piece";        // to it: number, and how many were begun before
inline constexpr const char* answer = "answer";      // from it: number, seconds, seconds its workers waited; then bytes
inline constexpr const char* alive = "alive";        // from it: nothing
inline constexpr const char* over = "over";          // to it: there will be no more pieces
inline constexpr const char* left = "left";          // from it, then: the last word, nothing more will come
}  // namespace word

class Foreman {
 public:
  using Send = std::function<void(const std::string& word, const std::string& text)>;

  /// `own`: the campaign that this process was asked for. `journal`: where that of the campaign must be found.
  Foreman(EarlyFork& helper, int workers, Heading own, std::filesystem::path journal, Send send);

  void handle(const std::string& word, const std::string& text);
  /// Waits so long for an answer of a worker, at most, and hands on what came; whether there was one.
  bool work(std::chrono::microseconds longest);
  bool is_over() const { return over_; }

 private:
  using Clock = std::chrono::steady_clock;
  void join(const std::string& heading);
  std::string why_not(const std::string& heading) const;
  void say(const std::string& word, const std::string& text);
  void note_idle();

  EarlyFork& helper_;
  int workers_, idle_ = 0;
  Heading own_;
  std::filesystem::path journal_;
  Send send_;
  bool joined_ = false, over_ = false;
  double waited_ = 0;  // of all workers together, in seconds
  Clock::time_point noted_ = Clock::now(), said_ = Clock::now();
};

// One process of a campaign over machines: what it does with the messages that reach it, until the campaign is over.

inline constexpr int dealing_process = 0;

class CampaignProcess {
 public:
  /// With so many workers. `own`: the campaign that this process was asked for; `journal`: where that of the campaign
  /// must be found.
  CampaignProcess(MpiLink& link, EarlyFork& helper, int workers, const Heading& own, std::filesystem::path journal);

  /// Messages to itself as well.
  void send(int to, const std::string& word, const std::string& text);
  /// Until it is over. `dealing`: nullptr but in the dealing process. `stopped`: whether somebody asks for an end.
  void run(Dealing* dealing, const std::function<bool()>& stopped);

 private:
  std::optional<Message> next();

  MpiLink& link_;
  Foreman foreman_;
  std::deque<Message> own_;  // of this process to itself
};

}  // namespace tally
