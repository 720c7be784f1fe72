// The stages behind the micro-batches' gradients: accumulate, reduce, overflow_check, agree, unscale, norm, clip, decay,
// optimizer, gather_updated, scaler, schedule; and the checkpoint between windows.
#include <utility>

#include "oracle/case/contract.hpp"
#include "oracle/case/kept_tensors.hpp"
#include "oracle/case/kinds.hpp"
#include "oracle/case/rank_keys.hpp"
#include "oracle/case/ranks.hpp"
#include "oracle/case/sharding.hpp"
#include "oracle/exact/exact.hpp"
#include "oracle/graph/node_view.hpp"

namespace tally {
namespace {

std::string gradient(const std::string& p) { return "d." + p; }

void add_accumulate(const NodeView& view, std::vector<Node>& nodes) {
  const bool summed = view.communicates(Communicate::micro_batch);
  const bool totals = view.communicates(Communicate::running_total);
  NodeMaker node(StageName::accumulate);
  for (const std::string& p : view.parameters) {
    const Shape& shape = view.shape_of(p);
    node.of(p).in(gradient(p), summed ? Format::accumulate : Format::storage, shape,
                  {summed ? Source{StageName::reduce, "reduced." + p} : source(gradient_of_parameter(view.layers, p))});
    node.in("buffer." + p, Format::accumulate, shape,
            {totals ? Source{StageName::reduce, "reduced." + p, From::previous}
                    : Source{StageName::accumulate, "buffer." + p, From::previous}});
    const std::string compensation = "compensation." + p;
    node.in(compensation, Format::accumulate, shape, {{StageName::accumulate, compensation, From::previous}});
    node.out("buffer." + p, Format::accumulate, shape).out(compensation, Format::accumulate, shape);
  }
  node.without_rows(summed).behind_all(view, {StageName::backward}).add_to(nodes);
}

/// The sum over ranks at the window's end, of their buffers; and behind each micro-batch, of gradients or of buffers.
void add_reduce(const NodeView& view, std::vector<Node>& nodes) {
  if (!in_ranks(view.c)) return;
  const bool each = communicates_each(view.c), replicas = replicas_of(view.c) > 1;
  const auto make = [&](bool of_window) {
    const bool gradients = view.communicates(Communicate::micro_batch) && !(of_window && replicas);
    NodeMaker node(StageName::reduce);
    for (const std::string& p : view.parameters) {
      node.of(p);
      const Shape& shape = view.shape_of(p);
      const From end = !of_window ? From::here : replicas ? From::last_of_all : From::last;
      std::vector<Source> sources{{StageName::accumulate, "buffer." + p, end}};
      if (!of_window) sources.push_back({StageName::reduce, "reduced." + p, From::without_rows});
      if (gradients) {
        node.in(gradient(p), Format::storage, shape, {source(gradient_of_parameter(view.layers, p))});
      } else {
        node.in("buffer." + p, Format::accumulate, shape, sources);
        // A window of one micro-batch may have no buffer: its gradient is what is added up.
        if (of_window) node.apart().behind({sources.front(), source(gradient_of_parameter(view.layers, p), end)});
      }
      node.out("wire." + p, Format::wire, shape).out("reduced." + p, Format::accumulate, shape);
    }
    node.of("").in("divisor", Format::fp32, {}).of_window(of_window).without_rows(!of_window).add_to(nodes);
  };
  if (each) make(false);
  if (!each || replicas) make(true);
}

/// The buffers that a window's end reads, all at once or each for itself; or, where gradients are written directly,
/// these.
void read_sums(const NodeView& view, NodeMaker& node, bool each_for_itself) {
  const bool each = in_ranks(view.c) && communicates_each(view.c), replicas = replicas_of(view.c) > 1;
  const From last = each ? From::last_of_all : From::last;
  for (const std::string& p : view.parameters) {
    Source sum{StageName::accumulate, "buffer." + p, last};
    if (view.communicates(Communicate::running_total)) sum = {StageName::reduce, "reduced." + p, last};
    if (view.communicates(Communicate::window) || replicas) sum = {StageName::reduce, "reduced." + p, From::window};
    const Source written = source(gradient_of_parameter(view.layers, p), From::last);
    node.of(each_for_itself ? p : "").in("buffer." + p, Format::accumulate, view.shape_of(p), {sum}).apart();
    node.in(gradient(p), Format::storage, view.shape_of(p), {written}).apart();
    node.behind({sum, written});
  }
}

Source overflow(const NodeView& view) {
  return {in_ranks(view.c) ? StageName::agree : StageName::overflow_check, "found", From::window};
}

void add_overflow_check(const NodeView& view, std::vector<Node>& nodes) {
  if (!checks_overflow(view.c.recipe.loss_scale)) return;
  NodeMaker node(StageName::overflow_check), agree(StageName::agree);
  read_sums(view, node, false);
  node.of_window().out("found", Format::u8, {}).add_to(nodes);
  if (!in_ranks(view.c)) return;
  agree.in("found", Format::u8, {}, {{StageName::overflow_check, "found", From::window}});
  agree.of_window().out("found", Format::u8, {}).add_to(nodes);
}

void add_unscale(const NodeView& view, std::vector<Node>& nodes) {
  NodeMaker node(StageName::unscale);
  node.in("inverse_scale", Format::fp32, {}).behind(view.scale_before());
  read_sums(view, node, true);
  for (const std::string& p : view.parameters) node.of(p).out(gradient(p), Format::fp32, view.shape_of(p));
  if (checks_overflow(view.c.recipe.loss_scale)) node.behind({overflow(view)});
  node.of_window().add_to(nodes);
}

void add_clip(const NodeView& view, std::vector<Node>& nodes) {
  const Choice& clip = view.c.recipe.clip;
  NodeMaker norm(StageName::norm), node(StageName::clip);
  const bool by_norm = clips_by_norm(clip), in_parts = shards_optimizer(view.c) || is_pipelined(view.c);
  for (const std::string& p : view.parameters) {
    const std::vector<Source> unscaled{{StageName::unscale, gradient(p), From::window}};
    norm.in(gradient(p), Format::fp32, view.shape_of(p), unscaled);
    node.of(p)
        .in(gradient(p), Format::fp32, view.shape_of(p), unscaled)
        .out(gradient(p), Format::fp32, view.shape_of(p));
  }
  if (by_norm) {
    if (in_parts) norm.out("part", Format::fp32, {});
    norm.of_window().out("norm", Format::fp32, {}).add_to(nodes);
    node.of("")
        .in("norm", Format::fp32, {}, {{StageName::norm, "norm", From::window}})
        .out("coefficient", Format::fp32, {});
  }
  if (clips(clip)) node.of_window().add_to(nodes);
}

/// What the last stage in front leaves of a gradient.
Source gradient_before_decay(const NodeView& view, const std::string& p) {
  return {clips(view.c.recipe.clip) ? StageName::clip : StageName::unscale, gradient(p), From::window};
}

void add_decay(const NodeView& view, std::vector<Node>& nodes) {
  if (!decays(view.c.recipe.weight_decay)) return;
  NodeMaker node(StageName::decay);
  for (const std::string& p : view.parameters) {
    const Shape& shape = view.shape_of(p);
    node.of(p)
        .in(gradient(p), Format::fp32, shape, {gradient_before_decay(view, p)})
        .out(gradient(p), Format::fp32, shape);
    node.in(p, Format::master, shape, {{StageName::optimizer, p, From::earlier}}).out(p, Format::master, shape);
  }
  node.of_window().add_to(nodes);
}

void add_optimizer(const NodeView& view, std::vector<Node>& nodes) {
  const Recipe& recipe = view.c.recipe;
  NodeMaker node(StageName::optimizer), gather(StageName::gather_updated);
  node.in("learning_rate", Format::fp32, {}, {{StageName::schedule, "learning_rate", From::window}});
  node.in("step", Format::i64, {}, {{StageName::schedule, "step", From::earlier}});
  for (const std::string& p : view.parameters) {
    const Shape& shape = view.shape_of(p);
    std::vector<Source> gradients{gradient_before_decay(view, p)}, before{{StageName::optimizer, p, From::earlier}};
    const bool decays = oracle::decays(view.c.model, recipe.weight_decay, p);
    if (decays && decays_gradient(recipe.weight_decay))
      gradients.insert(gradients.begin(), {StageName::decay, gradient(p), From::window});
    else if (decays)
      before.insert(before.begin(), {StageName::decay, p, From::window});
    node.of(p)
        .in(gradient(p), Format::fp32, shape, std::move(gradients))
        .in(p, Format::master, shape, std::move(before));
    node.out(p, Format::master, shape);
    for (const KeptTensor& kept : kept_beside(view.c, p))
      node.in(kept.name, Format::master, kept.shape, {{StageName::optimizer, kept.name, From::earlier}})
          .out(kept.name, Format::master, kept.shape);
    gather.of(p)
        .in("shard." + p, Format::master, shape, {{StageName::optimizer, p, From::window}})
        .out(p, Format::master, shape);
  }
  node.of_window().add_to(nodes);
  if (shards_optimizer(view.c) && !shards_parameters(view.c)) gather.of_window().add_to(nodes);
}

void add_counters(const NodeView& view, std::vector<Node>& nodes) {
  NodeMaker scaler(StageName::scaler), schedule(StageName::schedule);
  std::vector<Source> found;
  if (checks_overflow(view.c.recipe.loss_scale)) {
    found.push_back(overflow(view));
    scaler.in("scale", Format::fp32, {}, {{StageName::scaler, "scale", From::earlier}}).out("scale", Format::fp32, {});
    scaler.in("growth_counter", Format::i64, {}, {{StageName::scaler, "growth_counter", From::earlier}});
    scaler.out("growth_counter", Format::i64, {}).in("found", Format::u8, {}, found).of_window().add_to(nodes);
  }
  schedule.in("step", Format::i64, {}, {{StageName::schedule, "step", From::earlier}})
      .in("found", Format::u8, {}, found);
  schedule.out("step", Format::i64, {}).out("learning_rate", Format::fp32, {}).of_window().add_to(nodes);
}

/// What a rank writes down for those that train on, and what each of these takes up: pieces are written by the first
/// group, the rest by the first rank.
void add_checkpoint(const NodeView& view, std::vector<Node>& nodes) {
  const bool writes_pieces = view.c.rank < (shards_optimizer(view.c) ? sharers_of(view.c) : 1);
  bool is_there = false;
  for (std::size_t w = 0; w < view.c.windows.size(); ++w)
    is_there = is_there || begins_from_checkpoint(view.c, w) || leaves_checkpoint(view.c, w);
  if (!is_there) return;
  NodeMaker node(StageName::checkpoint);
  const auto both = [&](const std::string& name, Format format, const Shape& shape, bool writes, StageName left) {
    std::vector<Source> sources{{left, name, From::window}, {left, name, From::earlier}};
    if (left == StageName::running_stats) sources = {{left, name, From::last_run}};
    if (writes) node.in(name, format, shape, std::move(sources));
    node.out(name, format, shape);
  };
  const bool first = view.c.rank == 0;
  both("step", Format::i64, {}, first, StageName::schedule);
  if (checks_overflow(view.c.recipe.loss_scale)) {
    both("scale", Format::fp32, {}, first, StageName::scaler);
    both("growth_counter", Format::i64, {}, first, StageName::scaler);
  }
  for (const LayerView& layer : view.layers)
    if (layer.layer->kind == kinds::batch_norm && !layer.frozen)
      for (const std::string& value : {layer.label + ".running_mean", layer.label + ".running_var"}) {
        node.of(value);
        both(value, Format::master, {view.features_in(layer)}, first, StageName::running_stats);
      }
  for (const std::string& p : view.parameters) {
    node.of(p);
    both(p, Format::master, view.shape_of(p), writes_pieces, StageName::optimizer);
    for (const KeptTensor& kept : kept_beside(view.c, p))
      both(kept.name, Format::master, kept.shape, writes_pieces, StageName::optimizer);
  }
  node.of_window().add_to(nodes);
}

}  // namespace

void add_update_nodes(const NodeView& view, std::vector<Node>& nodes) {
  add_checkpoint(view, nodes);
  add_accumulate(view, nodes);
  add_reduce(view, nodes);
  add_overflow_check(view, nodes);
  add_unscale(view, nodes);
  add_clip(view, nodes);
  add_decay(view, nodes);
  add_optimizer(view, nodes);
  add_counters(view, nodes);
}

}  // namespace tally
