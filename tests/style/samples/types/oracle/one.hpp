#pragma once

namespace tally {

struct Group {
  int first = 0;
};

}  // namespace tally
