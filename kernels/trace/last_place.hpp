// How far a run has come: where it is, for whoever finds its process dead, and who is told of every tap.
#pragma once

#include <string>
#include <string_view>

#include "kernels/trace/tap_name.hpp"

namespace tally {

// Where a run is, in memory that outlives its process: what a crash is told by.

/// Plain bytes, cut where they do not fit: whoever writes them may end at any moment.
struct LastPlace {
  char operation[64];  // that runs; empty between two
  char tap[128];       // that was left last; empty before a run and behind it
};

/// From now on, the runs of this process note where they are there; nullptr: nowhere.
void note_places_in(LastPlace* place);
void note_operation(std::string_view operation);
void note_tap(const TapName& name);
void note_run_ended();

/// " in attention.forward, behind w0/m0/forward/in.att.q"; empty where nothing ran.
std::string text_of(const LastPlace& place);

// Who is told of every tap as it is made: of a rank that dies, the last one says how far it came.

/// While it lives, it is told of the taps that this thread adds to any trace; of two the younger one is.
class TapWatch {
 public:
  TapWatch();
  virtual ~TapWatch();
  TapWatch(const TapWatch&) = delete;
  TapWatch& operator=(const TapWatch&) = delete;
  virtual void see(const TapView& name) = 0;

 private:
  TapWatch* const outer_;
};

/// Tells the watch of this thread, if there is one.
void tell_tap(const TapView& name);

}  // namespace tally
