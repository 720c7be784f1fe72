#include "oracle/graph/window_graph.hpp"

#include <algorithm>

#include "oracle/case/contract.hpp"
#include "oracle/case/rank_keys.hpp"
#include "oracle/case/ranks.hpp"
#include "oracle/case/sharding.hpp"
#include "oracle/graph/node_view.hpp"

namespace tally {
namespace {

/// Cuts what holds a rank's piece of a parameter to its elements in a row.
void cut_to_pieces(const Case& c, Node& node) {
  for (Port& port : node.ports) {
    const std::string parameter =
        sharded_parameter(c, std::string(name_of(node.stage)), port.tensor, node.of_window ? -1 : 0);
    if (parameter.empty()) continue;
    port.shape = {piece_of(whole_of(c), parameter, c.rank).count};
    port.has_no_piece = port.shape.front() == 0;
  }
}

/// Marks that a tensor's name begins with: those of an input and of a gradient.
int marks_of(const Port& port) {
  return 2 * int{port.input} + int{port.tensor.starts_with(port.input ? "in.d." : "d.")};
}

}  // namespace

NodeView::NodeView(const Case& the_case)
    : c(the_case),
      layers(layers_of(the_case.model)),
      parameters(parameters_of(the_case.model)),
      weights(weights_of(the_case.model)) {}

std::int64_t NodeView::features_in(const LayerView& layer) const {
  return features_before(c.model, static_cast<std::size_t>(&layer - layers.data()));
}
std::int64_t NodeView::features_out(const LayerView& layer) const {
  return features_after(c.model, static_cast<std::size_t>(&layer - layers.data()));
}

bool NodeView::pools(const LayerView& layer) const { return pools_steps(c, *layer.layer); }

std::vector<std::string> NodeView::statistics_handed() const {
  const StepStatistics by = step_statistics_of(c);
  std::vector<std::string> names = step_tensors(by);
  if (by == StepStatistics::two_pass) names.emplace_back("squares");
  return names;
}

std::vector<Source> NodeView::scale_before() const {
  if (!checks_overflow(c.recipe.loss_scale)) return {};
  return {{StageName::scaler, "scale", From::earlier}};
}

std::vector<Source> NodeView::output_read(LayerInput from) const {
  if (from == model_input) return {};
  return {{StageName::forward, layers[static_cast<std::size_t>(from)].label + ".y"}};
}

Dtype dtype_of(const Case& c, Port::Format format) {
  using enum Port::Format;
  switch (format) {
    case storage:
      return c.precision.storage;
    case accumulate:
      return c.precision.accumulate;
    case master:
      return c.precision.master;
    case wire:
      return wire_of(c);
    case fp32:
      return Dtype::fp32;
    case i64:
      return Dtype::i64;
    case u8:
      return Dtype::u8;
  }
  return Dtype::fp32;
}

std::vector<std::vector<Source>> edges_into(const Node& node) {
  std::vector<std::vector<Source>> edges;
  const auto add = [&](std::vector<Source> sources) {
    for (Source& source : sources) source.tensor.clear();
    if (!sources.empty() && std::ranges::find(edges, sources) == edges.end()) edges.push_back(std::move(sources));
  };
  for (const Port& port : node.ports)
    if (!port.apart) add(port.sources);
  for (const std::vector<Source>& sources : node.behind) add(sources);
  return edges;
}

WindowGraph::WindowGraph(const Case& c) {
  const NodeView view(c);
  add_layer_nodes(view, nodes_);
  add_update_nodes(view, nodes_);
  std::ranges::stable_sort(nodes_, {}, &Node::stage);
  for (Node& node : nodes_) {
    if (shards_optimizer(c)) cut_to_pieces(c, node);
    auto& by_tensor = ports_.emplace_back();
    for (const Port& port : node.ports) {
      const auto [at, fresh] = by_tensor.emplace(port.tensor, &port);
      if (!fresh && marks_of(*at->second) < marks_of(port)) at->second = &port;
    }
  }
}

const Node* WindowGraph::node(std::string_view stage, bool of_window) const {
  for (const Node& node : nodes_)
    if (node.of_window == of_window && name_of(node.stage) == stage) return &node;
  return nullptr;
}

const Port* WindowGraph::port(std::string_view stage, bool of_window, std::string_view tensor) const {
  const Node* at = node(stage, of_window);
  if (at == nullptr) return nullptr;
  const auto& by_tensor = ports_[static_cast<std::size_t>(at - nodes_.data())];
  const auto found = by_tensor.find(tensor);
  return found == by_tensor.end() ? nullptr : found->second;
}

std::vector<NodePlace> places_read(const Case& c, const Source& source, const NodePlace& reader) {
  const auto own_of = [&](int window) { return static_cast<int>(c.windows[static_cast<std::size_t>(window)].size()); };
  const int window = reader.window, k = reader.micro_batch, own = own_of(window);
  const auto at = [&](int micro_batch) { return NodePlace{source.stage, window, micro_batch}; };
  std::vector<NodePlace> places;
  switch (source.from) {
    case From::here:
      return {at(k)};
    case From::window:
      return {at(-1)};
    case From::each:
      for (int each = 0; each < own; ++each) places.push_back(at(each));
      return places;
    case From::in_front:
      return k > 0 ? std::vector{at(k - 1)} : places;
    case From::previous:
      if (const int before = k < own ? backward_before(c, own, k) : k - 1; before >= 0) places.push_back(at(before));
      return places;
    case From::without_rows:
      return k >= own && k > 0 ? std::vector{at(k - 1)} : places;
    case From::last:
      return own > 0 ? std::vector{at(nth_backward(c, own, own - 1))} : places;
    case From::last_of_all:
      return {at(static_cast<int>(micro_steps_of(c, static_cast<std::size_t>(window))) - 1)};
    case From::earlier:
    case From::last_run:
      if (source.from == From::last_run) {
        const int first = reader.stage == source.stage ? k - 1 : own - 1;
        for (int micro_batch = first; micro_batch >= 0; --micro_batch) places.push_back(at(micro_batch));
        if (reader.stage != source.stage || k >= 0) places.push_back(at(-1));
      }
      for (int before = window - 1; before >= 0; --before) {
        if (reader.stage != StageName::checkpoint && begins_from_checkpoint(c, static_cast<std::size_t>(before) + 1))
          places.push_back({StageName::checkpoint, before + 1, -1});
        for (int each = own_of(before) - 1; each >= 0 && source.from == From::last_run; --each)
          places.push_back({source.stage, before, each});
        places.push_back({source.stage, before, -1});
      }
      return places;
  }
  return places;
}

}  // namespace tally
