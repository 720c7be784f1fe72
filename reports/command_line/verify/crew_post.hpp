// What one rank of a crew notes of itself on the crew's board. Without a board it notes nothing.
#pragma once

#include <optional>
#include <string>

#include "kernels/ranks/mpi_link.hpp"
#include "kernels/trace/tap_watch.hpp"
#include "reports/command_line/verify/crew_board.hpp"

namespace tally::command_line {

class CrewPost : public WaitWatch, public TapWatch {
 public:
  /// `path` of the board; none is there where the parent is on another machine.
  CrewPost(const std::string& path, int rank, int ranks);

  /// From here on two processes run: the one that goes on behind this call trains, and the other waits for its end,
  /// notes it and ends alike, so that the way of an end is known whatever it is. Either ends with its parent.
  void train_under_watch();

  void stand(RankNotes::Standing standing);
  /// It cannot go on with the group, for this reason: no other rank waits for it any more.
  void leave(const std::string& reason);
  /// What the rank said that left; empty where none did.
  std::string why_broken() const;
  /// It waited as long as it may. Says what was found; the first such rank's stands.
  std::string give_up(double seconds);

  void see(const TapView& tap) override;
  void wait(int from, const std::string& about) override;
  void go_on() override;
  bool is_broken() const override;

 private:
  std::optional<CrewBoard> board_;
  RankNotes* notes_ = nullptr;
  int rank_;
  RankNotes::Standing before_ = RankNotes::idle;  // a wait
  std::string tap_;
};

}  // namespace tally::command_line
