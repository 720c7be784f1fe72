// What the nodes of a case are made from. A part of window_graph.hpp.
#pragma once

#include <cstdint>
#include <initializer_list>
#include <string>
#include <utility>
#include <vector>

#include "oracle/case/ranks.hpp"
#include "oracle/graph/layer_view.hpp"
#include "oracle/graph/window_graph.hpp"

namespace tally {

using Shape = std::vector<std::int64_t>;
using Format = Port::Format;

/// The case as its nodes read it.
struct NodeView {
  explicit NodeView(const Case& the_case);
  const Case& c;
  const std::vector<LayerView> layers;
  const std::vector<std::string> parameters, weights;  // those that train; those and the frozen ones

  const Shape& shape_of(const std::string& weight) const { return c.tensors.at(weight).shape; }
  std::int64_t features_in(const LayerView& layer) const;
  std::int64_t features_out(const LayerView& layer) const;
  /// Whether ranks put the statistics of this layer together.
  bool pools(const LayerView& layer) const;
  bool communicates(Communicate when) const { return in_ranks(c) && communicate_of(c) == when; }
  /// What ranks hand over of a layer's statistics.
  std::vector<std::string> statistics_handed() const;
  /// The scale that a window begins with, as a source; none where it never moves.
  std::vector<Source> scale_before() const;
  /// What a layer reads, as a source; none of the model's input.
  std::vector<Source> output_read(LayerInput from) const;
};

inline Source source(const StageTensor& at, From from = From::here) {
  return {*stage_called(at.stage), at.tensor, from};
}

/// A node under way. An input stands before an output of the same name, and a gradient before what is none: a layer may
/// be called "in" or "d".
class NodeMaker {
 public:
  explicit NodeMaker(StageName stage) : node_{stage} {}
  NodeMaker& of_window(bool is = true) { return node_.of_window = is, *this; }
  NodeMaker& without_rows(bool is) { return node_.without_rows = is, *this; }
  NodeMaker& behind(std::vector<Source> first_of) {
    if (!first_of.empty()) node_.behind.push_back(std::move(first_of));
    return *this;
  }
  /// Where the micro-batches of a window go through the model together: what any of them left of these stages.
  NodeMaker& behind_all(const NodeView& view, std::initializer_list<StageName> stages) {
    for (const StageName stage : stages)
      if (in_lockstep(view.layers)) behind({{stage, "", From::each}});
    return *this;
  }
  /// What the node works on in the ports from here on.
  NodeMaker& of(std::string layer_or_parameter) { return of_ = std::move(layer_or_parameter), *this; }
  NodeMaker& in(const std::string& tensor, Format format, Shape shape, std::vector<Source> sources = {}) {
    node_.ports.push_back({"in." + tensor, format, std::move(shape), true, false, false, -1, of_, std::move(sources)});
    return *this;
  }
  NodeMaker& out(std::string tensor, Format format, Shape shape) {
    node_.ports.push_back({std::move(tensor), format, std::move(shape), false, false, false, -1, of_});
    return *this;
  }
  /// The last port stands in the place of another.
  NodeMaker& apart() { return node_.ports.back().apart = true, *this; }
  /// The last port is one stage's of a pipeline.
  NodeMaker& on(std::size_t pipe) { return node_.ports.back().pipe = static_cast<int>(pipe), *this; }
  /// Nothing where it has no ports.
  void add_to(std::vector<Node>& nodes) {
    if (!node_.ports.empty()) nodes.push_back(std::move(node_));
  }

 private:
  Node node_;
  std::string of_;
};

/// From the count to the gradients of a micro-batch.
void add_layer_nodes(const NodeView& view, std::vector<Node>& nodes);
/// From the buffers to the schedule.
void add_update_nodes(const NodeView& view, std::vector<Node>& nodes);

}  // namespace tally
