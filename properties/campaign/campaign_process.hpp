// One process of a campaign over machines: what it does with the messages that reach it, until the campaign is over.
#pragma once

#include <deque>
#include <filesystem>
#include <functional>
#include <optional>
#include <string>

#include "kernels/ranks/mpi_link.hpp"
#include "properties/campaign/dealing.hpp"
#include "properties/campaign/foreman.hpp"

namespace tally {

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
