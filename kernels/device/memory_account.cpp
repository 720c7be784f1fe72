#include "kernels/device/memory_account.hpp"

#include <algorithm>
#include <mutex>
#include <vector>

namespace tally {
namespace {

struct Accounts {
  std::mutex mutex;
  std::vector<MemoryAccount*> open;
};

Accounts& accounts() {
  static Accounts all;
  return all;
}

}  // namespace

void MemoryAccount::Bytes::take(std::size_t bytes) {
  now += bytes;
  peak = std::max(peak, now);
}

MemoryAccount::MemoryAccount(const Device& on, std::string (*kind_of)(const std::string& name))
    : device_(&on), kind_of_(kind_of) {
  const std::lock_guard lock(accounts().mutex);
  accounts().open.push_back(this);
}

MemoryAccount::~MemoryAccount() {
  const std::lock_guard lock(accounts().mutex);
  std::erase(accounts().open, this);
}

std::map<std::string, std::size_t> MemoryAccount::peaks() const {
  std::map<std::string, std::size_t> peaks;
  for (const auto& [kind, bytes] : by_kind_) peaks.emplace(kind, bytes.peak);
  return peaks;
}

void MemoryAccount::note_taken(const Device& on, const void* address, const std::string& name, std::size_t bytes) {
  const std::lock_guard lock(accounts().mutex);
  for (MemoryAccount* account : accounts().open) {
    if (account->device_ != &on) continue;
    const Held& held = account->held_.insert_or_assign(address, Held{account->kind_of_(name), bytes}).first->second;
    account->all_.take(bytes);
    account->by_kind_[held.kind].take(bytes);
  }
}

void MemoryAccount::note_released(const Device& on, const void* address) {
  const std::lock_guard lock(accounts().mutex);
  for (MemoryAccount* account : accounts().open) {
    const auto found = account->device_ == &on ? account->held_.find(address) : account->held_.end();
    if (found == account->held_.end()) continue;
    account->all_.now -= found->second.bytes;
    account->by_kind_.at(found->second.kind).now -= found->second.bytes;
    account->held_.erase(found);
  }
}

}  // namespace tally
