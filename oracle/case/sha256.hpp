// SHA-256 of a text that comes in parts.
#pragma once

#include <memory>
#include <string>
#include <string_view>

namespace tally {

class Sha256 {
 public:
  Sha256();
  ~Sha256();
  void add(std::string_view part);
  /// The digest of all parts so far, as 64 lower-case hex digits; to be asked once.
  std::string digits();

 private:
  struct State;
  std::unique_ptr<State> state_;
};

}  // namespace tally
