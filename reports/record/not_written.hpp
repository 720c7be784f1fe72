// A file that cannot be written, which is none of its reader's or caller's faults: a full disk.
#pragma once

#include <stdexcept>

namespace tally {

class NotWritten : public std::runtime_error {
  using std::runtime_error::runtime_error;
};

}  // namespace tally
