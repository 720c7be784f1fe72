// The stages of a micro-batch: count, cast, all_gather, forward, sync_statistics, running_stats, loss, backward, fork,
// and the messages between stages of a pipeline.
#include <algorithm>

#include "oracle/case/contract.hpp"
#include "oracle/case/kinds.hpp"
#include "oracle/case/ranks.hpp"
#include "oracle/case/rows.hpp"
#include "oracle/case/sharding.hpp"
#include "oracle/graph/node_view.hpp"

namespace tally {
namespace {

constexpr std::array<const char*, 3> column_statistics{"mean", "var", "rstd"};
constexpr std::array<const char*, 2> running_values{"running_mean", "running_var"};
constexpr std::array<const char*, 2> gradient_sums{"sum_dy", "sum_dy_h"};

void add_count(const NodeView& view, std::vector<Node>& nodes) {
  const Choice& loss = view.c.model.loss;
  if (!counts_items(loss)) return;
  NodeMaker each(StageName::count), whole(StageName::count);
  each.in(counted_tensor(loss), Format::i64, {rows_in_place});
  if (shifts_labels(loss)) each.in("sequences", Format::i64, {sequences_in_place});
  each.out("items", Format::i64, {}).add_to(nodes);
  if (in_ranks(view.c)) whole.in("items", Format::i64, {}).behind({{StageName::count, "", From::each}});
  whole.of_window().out("items", Format::i64, {}).add_to(nodes);
}

void add_cast(const NodeView& view, std::vector<Node>& nodes) {
  const bool gathers = shards_optimizer(view.c) && !shards_parameters(view.c);
  NodeMaker cast(StageName::cast);
  for (const std::string& p : view.weights) {
    cast.of(p).in(p, Format::master, view.shape_of(p),
                  {{gathers ? StageName::gather_updated : StageName::optimizer, p, From::earlier}});
    cast.out(p, Format::storage, view.shape_of(p));
  }
  cast.of_window().add_to(nodes);
  if (!shards_parameters(view.c)) return;
  NodeMaker gather(StageName::all_gather);
  for (const std::string& p : view.parameters) {
    gather.of(p).in("shard." + p, Format::storage, view.shape_of(p), {{StageName::cast, p, From::window}});
    gather.out(p, Format::storage, view.shape_of(p)).out("again." + p, Format::storage, view.shape_of(p));
  }
  gather.without_rows(communicates_each(view.c)).add_to(nodes);
}

/// What layers read of a parameter.
void read_weights(const NodeView& view, NodeMaker& node, const char* gathered) {
  const bool gathers = shards_parameters(view.c);
  for (const std::string& p : view.weights) {
    const bool whole = gathers && std::ranges::count(view.parameters, p) > 0;
    node.of(p.substr(0, p.rfind('.')))
        .in(p, Format::storage, view.shape_of(p),
            {whole ? Source{StageName::all_gather, gathered + p} : Source{StageName::cast, p, From::window}});
  }
}

/// What layers look their rows up by.
void read_places(const NodeView& view, NodeMaker& node) {
  if (view.c.model.tokens) node.in("tokens", Format::i64, {rows_in_place});
  if (reads_positions(view.c.model)) node.in("positions", Format::i64, {rows_in_place});
}

void leave_statistics(const LayerView& layer, const std::vector<RowStatistic>& all, NodeMaker& node) {
  for (const RowStatistic& each : all)
    node.out(layer.label + "." + each.name, Format::fp32, tally::shape_of(each, *layer.layer, rows_in_place));
}

/// What statistics over rows read and leave: the layer's own, or what a rank makes of its rows for all.
void leave_column_statistics(const NodeView& view, const LayerView& layer, NodeMaker& each, NodeMaker& whole) {
  const Shape features{view.features_in(layer)};
  whole.of(layer.label);
  if (layer.frozen)
    for (const char* value : running_values) each.in(layer.label + "." + value, Format::master, features);
  if (view.pools(layer)) {
    for (const std::string& name : view.statistics_handed()) each.out(layer.label + "." + name, Format::fp32, features);
  } else if (layer.layer->kind == kinds::batch_norm) {
    for (const char* name : column_statistics)
      (layer.window_statistics ? whole : each).out(layer.label + "." + name, Format::fp32, features);
  }
}

void add_forward(const NodeView& view, std::vector<Node>& nodes) {
  NodeMaker each(StageName::forward), whole(StageName::forward);
  read_places(view, each);
  read_weights(view, each, "");
  for (std::size_t i = 0; i < view.layers.size(); ++i) {
    const LayerView& layer = view.layers[i];
    const std::vector<std::int64_t> features = features_read(view.c.model, i);
    each.of(layer.label);
    for (std::size_t j = 0; j < layer.inputs.size() && !layer.reads_tokens; ++j)
      each.in(layer.input_name(j), Format::storage, {rows_in_place, features[j]}, view.output_read(layer.inputs[j]));
    for (const LayerTensor& tensor : tensors_of(*layer.layer))
      if (tensor.role == Role::mask)
        each.in(layer.label + ".mask", Format::u8, tensor.shape(*layer.layer, view.features_in(layer)));
    each.out(layer.label + ".y", Format::storage, {rows_in_place, view.features_out(layer)});
    leave_statistics(layer, layer.contract->row_statistics, each);
    leave_column_statistics(view, layer, each, whole);
  }
  if (pools_steps(view.c)) each.behind({{StageName::sync_statistics, ""}});
  if (in_lockstep(view.layers)) each.behind({{StageName::forward, "", From::window}});
  each.add_to(nodes);
  whole.of_window().behind({{StageName::forward, "", From::each}}).add_to(nodes);
}

void add_statistics(const NodeView& view, std::vector<Node>& nodes) {
  NodeMaker sync(StageName::sync_statistics), each(StageName::running_stats), whole(StageName::running_stats);
  for (const LayerView& layer : view.layers) {
    const Shape features{view.features_in(layer)};
    const std::string label = layer.label + ".";
    if (view.pools(layer)) {
      sync.of(label + "count").in(label + "count", Format::i64, {}).out(label + "count", Format::i64, {});
      for (const std::string& name : view.statistics_handed())
        sync.of(label + name).in(label + name, Format::fp32, features, {{StageName::forward, label + name}});
      for (const char* name : column_statistics) sync.of(label + name).out(label + name, Format::fp32, features);
      for (const char* name : gradient_sums)
        sync.of(label + name)
            .in(label + name, Format::fp32, features, {{StageName::backward, label + name}})
            .out(label + name, Format::fp32, features);
    }
    each.of(layer.label), whole.of(layer.label);
    const bool first = takes_first_running(view.c, *layer.layer);
    for (const char* value : running_values) {
      const std::string broadcast = "broadcast." + label + value;
      if (first && view.c.rank == 0)
        whole.in(broadcast, Format::master, features, {{StageName::running_stats, label + value, From::last_run}});
      if (first) whole.out(broadcast, Format::master, features);
    }
    if (!layer.window_statistics && !layer.batch_statistics) continue;
    NodeMaker& node = layer.window_statistics ? whole : each;
    for (const char* value : running_values) {
      std::vector<Source> sources{{StageName::running_stats, label + value, first ? From::in_front : From::last_run}};
      if (first) sources.push_back({StageName::running_stats, "broadcast." + label + value, From::window});
      node.in(label + value, Format::master, features, std::move(sources)).out(label + value, Format::master, features);
    }
    for (const char* name : {"mean", "var"})
      node.in(label + name, Format::fp32, features,
              {{view.pools(layer) ? StageName::sync_statistics : StageName::forward, label + name}});
  }
  sync.without_rows(true).add_to(nodes);
  each.without_rows(pools_steps(view.c)).behind_all(view, {StageName::forward}).add_to(nodes);
  whole.of_window().add_to(nodes);
}

void add_loss(const NodeView& view, std::vector<Node>& nodes) {
  const Choice& loss = view.c.model.loss;
  const std::int64_t features = features_before(view.c.model, view.layers.size());
  NodeMaker node(StageName::loss);
  node.in("y", Format::storage, {rows_in_place, features},
          view.output_read(static_cast<LayerInput>(view.layers.size()) - 1));
  if (!is_opaque(loss) && has_class_targets(loss)) node.in("target", Format::i64, {rows_in_place});
  if (!is_opaque(loss) && !has_class_targets(loss)) node.in("target", Format::storage, {rows_in_place, features});
  node.behind(view.scale_before()).behind_all(view, {StageName::forward});
  node.in("factor", Format::fp32, {})
      .out("loss", Format::fp32, {rows_in_place})
      .out("d.y", Format::storage, {rows_in_place, features})
      .add_to(nodes);
}

/// What a layer reads and leaves on the way back.
void go_back(const NodeView& view, std::size_t i, NodeMaker& node) {
  const LayerView& layer = view.layers[i];
  const std::vector<std::int64_t> features = features_read(view.c.model, i);
  const std::string label = layer.label + ".";
  node.of(layer.label);
  for (std::size_t j = 0; j < layer.inputs.size() && !layer.reads_tokens; ++j) {
    const Shape shape{rows_in_place, features[j]};
    node.in(layer.input_name(j), Format::storage, shape, view.output_read(layer.inputs[j]))
        .out("d." + layer.input_name(j), Format::storage, shape);
  }
  const Shape rows{rows_in_place, view.features_out(layer)};
  for (const std::string& kept : layer.contract->kept_for_backward) {
    if (kept == "y") node.in(label + kept, Format::storage, rows, {{StageName::forward, label + kept}});
    for (const RowStatistic& each : layer.contract->row_statistics)
      if (each.name == kept)
        node.in(label + kept, Format::fp32, tally::shape_of(each, *layer.layer, rows_in_place),
                {{StageName::forward, label + kept}});
  }
  leave_statistics(layer, layer.contract->backward_statistics, node);
  if (view.pools(layer))
    for (const char* name : gradient_sums) node.out(label + name, Format::fp32, {view.features_in(layer)});
  node.in("d." + label + "y", Format::storage, rows, {source(gradient_of_output(view.layers, layer))});
}

void add_backward(const NodeView& view, std::vector<Node>& nodes) {
  NodeMaker node(StageName::backward), fork(StageName::fork);
  read_places(view, node);
  read_weights(view, node, "again.");
  for (const std::string& p : view.parameters)
    node.of(p.substr(0, p.rfind('.'))).out("d." + p, Format::storage, view.shape_of(p));
  for (const SharedParameter& shared : shared_parameters(view.c.model)) {
    for (const std::size_t user : shared.users) {
      const std::string given = view.layers[user].gradient_name("weight");
      node.of(view.layers[user].label).out(given, Format::storage, view.shape_of(shared.name));
      fork.in(given, Format::storage, view.shape_of(shared.name), {{StageName::backward, given}});
    }
    if (std::ranges::count(view.parameters, shared.name) > 0)
      fork.out("d." + shared.name, Format::storage, view.shape_of(shared.name));
  }
  for (std::size_t i = 0; i < view.layers.size(); ++i) {
    const LayerView& layer = view.layers[i];
    if (!layer.hands_on) go_back(view, i, node);
    if (!layer.forked()) continue;
    const Shape shape{rows_in_place, view.features_out(layer)};
    for (const LayerReader& reader : layer.readers)
      fork.in("d." + view.layers[reader.layer].input_name(reader.input), Format::storage, shape,
              {source(gradient_given_by(view.layers, reader))});
    fork.out("d." + layer.label + ".y", Format::storage, shape);
  }
  if (pools_steps(view.c)) node.behind({{StageName::sync_statistics, ""}});
  if (in_lockstep(view.layers)) node.behind({{StageName::forward, "", From::window}});
  node.behind_all(view, {StageName::forward, StageName::loss, StageName::fork}).add_to(nodes);
  fork.behind_all(view, {StageName::backward, StageName::loss}).add_to(nodes);
}

/// What stages of a pipeline hand each other: the output behind a part, and the gradient of what a part reads.
void add_messages(const NodeView& view, std::vector<Node>& nodes) {
  if (!is_pipelined(view.c)) return;
  NodeMaker receive(StageName::receive), send(StageName::send);
  const std::vector<PipelinePart> parts = parts_of_model(view.c);
  for (std::size_t part = 1; part < parts.size(); ++part) {
    const std::size_t before = stage_of_part(view.c, part - 1), here = stage_of_part(view.c, part);
    const LayerView &left = view.layers[parts[part].first - 1], &reader = view.layers[parts[part].first];
    const Shape shape{rows_in_place, view.features_out(left)};
    const std::string output = left.label + ".y", gradient = "d." + output, read = reader.input_name(0);
    send.in(output, Format::storage, shape, {{StageName::forward, output}}).on(before);
    receive.out(read, Format::storage, shape).on(here);
    if (!left.has_gradient) continue;
    const bool summed = is_summed_behind(view.c, parts[part].first - 1);
    send.in(summed ? gradient : "d." + read, Format::storage, shape,
            {source(summed ? gradient_of_output(view.layers, left) : gradient_given_by(view.layers, left.readers[0]))})
        .on(here);
    receive.out(gradient, Format::storage, shape).on(before);
  }
  receive.add_to(nodes);
  send.add_to(nodes);
}

}  // namespace

void add_layer_nodes(const NodeView& view, std::vector<Node>& nodes) {
  add_count(view, nodes);
  add_cast(view, nodes);
  add_forward(view, nodes);
  add_statistics(view, nodes);
  add_loss(view, nodes);
  add_backward(view, nodes);
  add_messages(view, nodes);
}

}  // namespace tally
