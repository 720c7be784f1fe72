#pragma once

namespace tally {

class Group {
 public:
  double second = 0;
};

}  // namespace tally
