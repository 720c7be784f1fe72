// Taps of the stages from `accumulate` on, which know nothing of layers. A part of trace_layout.hpp.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "kernels/trace/trace_layout.hpp"

namespace tally::taps {

using Layout = std::optional<TapLayout>;
using Shape = std::vector<std::int64_t>;

/// A tap name taken apart: `[in.][d.]<subject>`, and where it stands.
class Place {
 public:
  const Case& c;
  const ParameterNames& names;
  std::int64_t rows, pairs;  // of the micro-batch; 0 for the window's stages
  bool whole_window, input, gradient;
  std::string_view rest;

  Layout only_if(bool allowed, Dtype dtype, Shape shape) const {
    return allowed ? Layout{TapLayout{dtype, std::move(shape)}} : std::nullopt;
  }
  /// Of a parameter that trains; nullptr: it is none.
  const Shape* parameter() const { return shape_in(names.trained); }
  /// Of any that layers read, frozen ones as well.
  const Shape* weight() const { return shape_in(names.all); }

 private:
  const Shape* shape_in(const std::vector<std::string>& list) const {
    for (const auto& name : list) {
      if (name == rest) return &c.tensors.at(name).shape;
    }
    return nullptr;
  }
};

/// Takes it away where the text begins with it.
inline bool take(std::string_view& text, std::string_view prefix) {
  if (!text.starts_with(prefix)) return false;
  text.remove_prefix(prefix.size());
  return true;
}

/// The layout of a tap of that stage; nullopt: no such tap, or another stage.
Layout window_layout(const Place& at, std::string_view stage);

}  // namespace tally::taps
