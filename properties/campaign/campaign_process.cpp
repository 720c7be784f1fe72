#include "properties/campaign/campaign_process.hpp"

#include <sched.h>

#include <algorithm>
#include <chrono>
#include <span>

namespace tally {
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
