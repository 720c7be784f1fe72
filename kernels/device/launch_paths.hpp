// The ways a launch can go, told by the helper that launches: how its sizes fall into threads, strides and blocks.
//
//   const LaunchPart part("a warp a row");                       what holds for the launches inside
//   if (!take_way({{"the last stride full", n % 32 == 0},        all there are, and which of them this call goes
//                  {"the last stride cut", n % 32 != 0}})) return;
//
// Outside of a LaunchScope nothing is noted. A launcher called by declared_paths() names all its ways and launches
// nothing: each choice of a template calls every branch there.
#pragma once

#include <cstdint>
#include <initializer_list>
#include <set>
#include <string>
#include <string_view>
#include <tuple>
#include <vector>

#include "oracle/case/tensors/tensor.hpp"

namespace tally {

struct LaunchWay {
  std::string_view name;
  bool taken;
  std::string_view out_of_reach = {};  // why no campaign goes there; empty: one must
};

/// One way of one kernel, in one precision.
struct LaunchPath {
  std::string kernel;     // "layer_norm.forward/two_pass"
  std::string precision;  // "fp32"; "fp16, bf16" of a kernel that knows two formats; "" of one that knows none
  std::string way;        // "a warp a row: the last stride cut"
  std::string out_of_reach = {};
  friend auto operator<=>(const LaunchPath& a, const LaunchPath& b) {
    return std::tie(a.kernel, a.precision, a.way) <=> std::tie(b.kernel, b.precision, b.way);
  }
  friend bool operator==(const LaunchPath& a, const LaunchPath& b) { return (a <=> b) == 0; }
};

/// While it lives, launches of this thread note their ways. Scopes nest; the inner one alone notes.
class LaunchScope {
 public:
  LaunchScope();
  ~LaunchScope();
  LaunchScope(const LaunchScope&) = delete;
  LaunchScope& operator=(const LaunchScope&) = delete;
  const std::set<LaunchPath>& paths() const { return paths_; }

 private:
  friend class LaunchCall;
  friend bool take_way(std::initializer_list<LaunchWay> ways);
  std::set<LaunchPath> paths_;
  LaunchScope* outer_;
};

/// While it lives, grids of this thread that are strided over have at most so many blocks; 0: as their kernel likes.
class GridLimit {
 public:
  explicit GridLimit(std::int64_t most_blocks);
  ~GridLimit();
  GridLimit(const GridLimit&) = delete;
  GridLimit& operator=(const GridLimit&) = delete;

 private:
  std::int64_t outer_;
};

/// One call of a kernel's launcher: what is noted while it lives is that kernel's.
class LaunchCall {
 public:
  /// `launcher` as registered (kernels/device/kernel_registry.hpp); of one that is not, nothing is noted.
  explicit LaunchCall(void (*launcher)());
  ~LaunchCall();
  LaunchCall(const LaunchCall&) = delete;
  LaunchCall& operator=(const LaunchCall&) = delete;
};

/// What holds for all launches while it lives: "a warp a row".
class LaunchPart {
 public:
  explicit LaunchPart(std::string_view name);
  ~LaunchPart();
  LaunchPart(const LaunchPart&) = delete;
  LaunchPart& operator=(const LaunchPart&) = delete;
};

/// The format that a template takes while it lives.
class LaunchFormat {
 public:
  explicit LaunchFormat(Dtype dtype);
  ~LaunchFormat();
  LaunchFormat(const LaunchFormat&) = delete;
  LaunchFormat& operator=(const LaunchFormat&) = delete;
};

/// Whether the launcher is asked for its ways: call every branch, launch nothing.
bool declaring_paths();

/// Notes the ways that are taken, or declares all of them. False: launch nothing.
bool take_way(std::initializer_list<LaunchWay> ways);

/// The most blocks of a grid that is strided over: `usual`, or fewer under a GridLimit.
std::int64_t blocks_at_most(std::int64_t usual);

struct RegisteredKernel;

/// All ways of a kernel, each as often as it has precisions; sorted. A launch that knows no sizes has "its one way".
std::set<LaunchPath> declared_paths(const RegisteredKernel& kernel);

}  // namespace tally
