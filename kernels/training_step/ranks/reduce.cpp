// What each rank hands over becomes the sum of all, and the pieces that ranks keep are put together again.
#include <cstring>

#include "kernels/ranks/all_reduce.hpp"
#include "kernels/ranks/buckets.hpp"
#include "kernels/ranks/link.hpp"
#include "kernels/training_step/ranks/rank_totals.hpp"
#include "kernels/training_step/ranks/shards.hpp"
#include "kernels/training_step/stages.hpp"
#include "oracle/case/rank_keys.hpp"
#include "oracle/case/ranks.hpp"
#include "oracle/case/sharding.hpp"

namespace tally::stage {

// Ranks that train together: what each hands over becomes the sum of all, and what one rank found all act on.
namespace {

void copy(Run& run, const void* from, void* to, std::size_t bytes) {
  std::vector<std::byte> staged(bytes);
  run.device.read(from, staged.data(), bytes);
  run.device.write(to, staged.data(), bytes);
}

/// What a rank hands over of a parameter, and where the sum goes.
struct HandedOver {
  const Parameter* parameter;
  std::string name;  // of its tap
  void* from;
  Dtype format;
  DeviceTensor* to;                   // nullptr where another rank alone keeps the sum
  std::int64_t first = 0, count = 0;  // the elements of it that this rank keeps
};

/// Where the sum of the parameter goes of which nothing but this rank's piece is kept here.
void keep_own_piece(Run& run, std::size_t parameter, HandedOver& handed) {
  handed.to = nullptr;
  for (std::size_t i = 0; i < run.shards.size(); ++i) {
    const RankPiece& piece = run.own_pieces()[i];
    if (piece.parameter != parameter) continue;
    handed.to = &run.shards[i].reduced;
    handed.first = piece.first;
    handed.count = piece.count;
  }
}

/// Behind a micro-batch; at the window's end replicas add up the buffers of their pieces.
bool sums_gradients(const Run& run) {
  return communicate_of(run.c) == Communicate::micro_batch && run.micro_batch >= 0;
}

/// The shape of a piece, or of a whole parameter, of which several ranks may keep pieces alone.
const std::vector<std::int64_t>& shape_of(const Parameter& parameter) {
  return parameter.master ? parameter.master.shape : parameter.copy.shape;
}

/// The gradients of this micro-batch, or zeros of a rank that has none; else the buffers.
std::vector<HandedOver> handed_over(Run& run) {
  std::vector<HandedOver> all;
  for (Parameter& parameter : run.parameters) {
    if (!sums_gradients(run)) {
      all.push_back({&parameter, "in.buffer." + parameter.name, parameter.buffer.data(), parameter.buffer.dtype,
                     &parameter.buffer, 0, parameter.elements});
      continue;
    }
    if (!run.has_micro_batch()) parameter.gradient.zero_on(run.stream);
    all.push_back({&parameter, "in.d." + parameter.name, parameter.gradient.data(), run.c.precision.storage,
                   &parameter.reduced, 0, parameter.elements});
    if (shards_gradients(run.c)) keep_own_piece(run, all.size() - 1, all.back());
  }
  return all;
}

/// All parameters side by side; at the window's end, of replicas, this rank's chunk of every bucket.
std::vector<Bucket> buckets_added(Run& run) {
  std::vector<std::int64_t> sizes;
  const auto& whole = run.replicas && run.micro_batch < 0 ? run.shards : run.parameters;  // swapped while pieces go
  for (const Parameter& parameter : whole) sizes.push_back(parameter.elements);
  std::vector<Bucket> buckets = buckets_of(run.c, static_cast<std::size_t>(run.options.link->size()), sizes);
  if (&whole == &run.parameters) return buckets;
  for (Bucket& bucket : buckets) {
    const std::int64_t chunk = bucket.elements / run.sharers->size(), begin = chunk * run.sharers->rank();
    std::vector<Bucket::Place> own;
    for (std::size_t i = 0; i < run.own_pieces().size(); ++i)
      for (const Bucket::Place& place : bucket.places)
        if (place.parameter == run.own_pieces()[i].parameter)
          own.push_back({i, place.first + run.own_pieces()[i].first - begin});
    bucket = Bucket{std::move(own), chunk};
  }
  return buckets;
}

std::string about_bucket(const Run& run, std::size_t bucket) {
  const std::string micro_batch = run.micro_batch < 0 ? "" : "m" + std::to_string(run.micro_batch) + "/";
  return "w" + std::to_string(run.window) + "/" + micro_batch + "reduce, bucket " + std::to_string(bucket);
}

/// A bucket's numbers as they travel, in the wire's format.
struct Sum {
  Run& run;
  const RankDivision& division;
  const std::vector<HandedOver>& handed;
  const Bucket& bucket;
  Dtype format;
  DeviceTensor& flat;

  void fill() {
    for (const Bucket::Place& place : bucket.places) {
      const HandedOver& each = handed[place.parameter];
      void* const to = flat.row(place.first);
      if (division.front == 1 && each.format == format)
        copy(run, each.from, to, static_cast<std::size_t>(each.parameter->elements) * size_of(format));
      else
        run.launch<RankScaleArguments>("rank_scale",
                                       {each.format, each.from, format, to, division.front, each.parameter->elements});
      if (is_tapped(each)) run.tap("reduce", "wire." + each.parameter->name, to, format, shape_of(*each.parameter));
    }
  }
  /// Where other bits may travel than were handed over.
  bool is_tapped(const HandedOver& each) const { return division.around_the_sum || each.format != format; }

  void take_out() {
    if (division.behind != 1)
      run.launch<RankScaleArguments>("rank_scale",
                                     {format, flat.data(), format, flat.data(), division.behind, bucket.elements});
    for (const Bucket::Place& place : bucket.places) {
      const HandedOver& each = handed[place.parameter];
      if (each.to == nullptr) continue;
      void *const from = flat.row(place.first + each.first), *const to = each.to->data();
      if (each.to->dtype == format)
        copy(run, from, to, static_cast<std::size_t>(each.count) * size_of(format));
      else
        run.launch<RankScaleArguments>("rank_scale", {format, from, each.to->dtype, to, 1, each.count});
    }
  }
};

}  // namespace

void reduce(Run& run) {
  Link& link = run.micro_batch >= 0 || !run.replicas ? sharers_of(run) : *run.replicas;
  const auto ranks = static_cast<std::size_t>(link.size());
  const RankDivision division = rank_division(run.c, ranks);
  if (division.around_the_sum) run.tap("reduce", "in.divisor", static_cast<float>(ranks));
  const std::vector<HandedOver> handed = handed_over(run);
  for (const HandedOver& each : handed) run.tap("reduce", each.name, each.from, each.format, shape_of(*each.parameter));
  const auto buckets = buckets_added(run);
  const Dtype format = wire_of(run.c);
  for (std::size_t i = 0; i < buckets.size(); ++i) {
    DeviceTensor flat(run.device, "bucket of ranks", format, {buckets[i].elements});
    flat.zero();
    Sum sum{run, division, handed, buckets[i], format, flat};
    sum.fill();
    const auto add = [&run](const RankSumArguments& arguments) { run.launch("rank_sum", arguments); };
    Addends addends(link, run.device, add, about_bucket(run, i), format, flat.data(), buckets[i].elements);
    if (shards_gradients(run.c) && run.micro_batch >= 0) addends.scatter();
    if (adds_in_fp32(run.c))
      addends.add_in_fp32([&run](const RankScaleArguments& arguments) { run.launch("rank_scale", arguments); });
    all_reduce(rank_word(run.c, "reduce.algorithm"))(addends);
    sum.take_out();
  }
  for (const HandedOver& each : handed)
    if (each.to != nullptr) run.tap("reduce", "reduced." + each.parameter->name, *each.to);
}

void agree(Run& run) {
  run.tap("agree", "in.found", run.found_flag.data(), Dtype::u8, {});
  run.found = sum_over_ranks(run, "agree", sum_over_stages(run, "agree of stages", std::int64_t{run.found})) > 0;
  run.found_flag.set_scalar<std::uint32_t>(run.found ? 1 : 0);
  run.tap("agree", "found", run.found_flag.data(), Dtype::u8, {});
}

// What each of several ranks keeps a piece of, handed to all: the updated parameters, and what the layers read.
namespace {

using Held = DeviceTensor Parameter::*;

void send_pieces(Run& run, int to, const std::string& about, Held held) {
  for (const Parameter& shard : run.shards) {
    const Tensor bits = (shard.*held).read();
    sharers_of(run).send(to, about, {bits.bytes.data(), bits.bytes.size()});
  }
}

void receive_pieces(Run& run, int from, const std::string& about, Held held) {
  for (const RankPiece& piece : run.pieces[static_cast<std::size_t>(from)]) {
    DeviceTensor& whole = run.parameters[piece.parameter].*held;
    const std::size_t width = size_of(whole.dtype);
    std::vector<std::byte> bytes(static_cast<std::size_t>(piece.count) * width);
    sharers_of(run).receive(from, about, bytes);
    run.device.write(whole.as<std::byte>() + static_cast<std::size_t>(piece.first) * width, bytes.data(), bytes.size());
  }
}

/// Every parameter's tensor put together of the pieces that the ranks hold.
void put_together(Run& run, const std::string& about, Held held) {
  const int own = sharers_of(run).rank(), ranks = sharers_of(run).size();
  for (int to = 0; to < ranks; ++to)
    if (to != own) send_pieces(run, to, about, held);
  for (int from = 0; from < ranks; ++from)
    if (from != own) receive_pieces(run, from, about, held);
  for (std::size_t i = 0; i < run.shards.size(); ++i) {
    const RankPiece& piece = run.own_pieces()[i];
    copy_elements(run, run.shards[i].*held, 0, run.parameters[piece.parameter].*held, piece.first, piece.count);
  }
}

}  // namespace

void gather_updated(Run& run) {
  if (run.pieces.empty() || shards_parameters(run.c)) return;
  for (const Parameter& shard : run.shards) run.tap("gather_updated", "in.shard." + shard.name, shard.master);
  put_together(run, "w" + std::to_string(run.window) + "/gather_updated", &Parameter::master);
  for (const Parameter& parameter : run.parameters) run.tap("gather_updated", parameter.name, parameter.master);
}

void all_gather(Run& run) {
  for (const Parameter& shard : run.shards) run.tap("all_gather", "in.shard." + shard.name, shard.copy);
  const std::string at = "w" + std::to_string(run.window) + "/m" + std::to_string(run.micro_batch);
  put_together(run, at + "/all_gather", &Parameter::copy);
  for (const Parameter& parameter : run.parameters)
    run.tap("all_gather", (run.behind_forward ? "again." : "") + parameter.name, parameter.copy);
}

}  // namespace tally::stage
