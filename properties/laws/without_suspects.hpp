// Judging without asking what a failure looks like: where a study only counts failures, that is most of the work.
#pragma once

namespace tally {

/// While it lives, what fails on this thread has no suspects.
class WithoutSuspects {
 public:
  WithoutSuspects();
  ~WithoutSuspects();
  WithoutSuspects(const WithoutSuspects&) = delete;
  WithoutSuspects& operator=(const WithoutSuspects&) = delete;

 private:
  bool before_;
};

/// Whether none lives.
bool asks_suspects();

}  // namespace tally
