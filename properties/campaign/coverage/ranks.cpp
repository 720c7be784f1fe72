// Several ranks.
#include "oracle/case/ranks.hpp"

#include <cmath>

#include "oracle/case/contract.hpp"
#include "oracle/case/kinds.hpp"
#include "oracle/case/rank_keys.hpp"
#include "oracle/case/sharding.hpp"
#include "properties/campaign/coverage/coverage_point.hpp"

namespace tally::ranks_trigger {
namespace {

/// Some window's ranks satisfy it.
template <class Holds>
bool any_window(const Sight& s, Holds holds) {
  for (std::size_t w = 0; most_ranks_of(s.c) > 1 && w < s.windows(); ++w)
    if (holds(w)) return true;
  return false;
}

template <std::size_t count>
bool so_many(const Sight& s) {
  return any_window(s, [&](std::size_t w) { return ranks_of(s.c, w) == count; });
}
bool one_rank(const Sight& s) { return most_ranks_of(s.c) == 1; }
bool no_power_of_two(const Sight& s) {
  return any_window(s, [&](std::size_t w) { return (ranks_of(s.c, w) & (ranks_of(s.c, w) - 1)) != 0; });
}

/// Some generation of as many ranks satisfies it, as a case of its own; any case is one where their number never
/// changes.
template <class Holds>
bool any_generation(const Sight& s, Holds holds) {
  if (!is_elastic(s.c)) return holds(s.c);
  for (std::size_t i = 0; i < generations_of(s.c).size(); ++i)
    if (holds(generation_of(s.c, i))) return true;
  return false;
}

/// One number of ranks behind another.
template <class Holds>
bool any_change(const Sight& s, Holds holds) {
  for (std::size_t w = 1; w < s.windows(); ++w)
    if (ranks_of(s.c, w) != ranks_of(s.c, w - 1) && holds(ranks_of(s.c, w - 1), ranks_of(s.c, w))) return true;
  return false;
}
bool more_ranks(const Sight& s) {
  return any_change(s, [](std::size_t before, std::size_t after) { return before < after; });
}
bool fewer_ranks(const Sight& s) {
  return any_change(s, [](std::size_t before, std::size_t after) { return before > after; });
}

double items_of(const Sight& s, std::size_t window, std::size_t rank) {
  double items = 0;
  const std::size_t first = first_micro_batch_of(s.c, window, rank);
  for (std::size_t k = first; k < first + micro_batches_of(s.c, window, rank); ++k) items += s.items[window][k];
  return items;
}

bool an_empty_rank(const Sight& s) {
  return any_window(s, [&](std::size_t w) { return busy_ranks_of(s.c, w) < ranks_of(s.c, w); });
}

bool unequal_counts(const Sight& s) {
  return any_window(s, [&](std::size_t w) {
    for (std::size_t rank = 1; rank < ranks_of(s.c, w); ++rank)
      if (micro_batches_of(s.c, w, rank) != micro_batches_of(s.c, w, 0)) return true;
    return false;
  });
}

bool unequal_items(const Sight& s) {
  return any_window(s, [&](std::size_t w) {
    for (std::size_t rank = 1; rank < ranks_of(s.c, w); ++rank)
      if (items_of(s, w, rank) != items_of(s, w, 0)) return true;
    return false;
  });
}

bool accumulates(const Sight& s) {
  return any_window(s, [&](std::size_t w) {
    for (std::size_t rank = 0; rank < ranks_of(s.c, w); ++rank)
      if (micro_batches_of(s.c, w, rank) > 1) return true;
    return false;
  });
}

/// Some rank's own buffers hold what is not finite, and another's do not.
bool overflow_on_one(const Sight& s) {
  return any_window(s, [&](std::size_t w) {
    std::size_t over = 0;
    for (std::size_t rank = 0; rank < ranks_of(s.c, w); ++rank) {
      bool here = false;
      for (const std::string& p : parameters_of(s.c.model)) {
        const std::string tensor = "in.buffer." + p;
        const Tensor* handed = s.trace.find(TapView{int(w), -1, "reduce", tensor, int(rank)});
        for (std::size_t i = 0; handed != nullptr && i < handed->elements() && !here; ++i)
          here = !std::isfinite(handed->value(i));
      }
      over += here;
    }
    return over > 0 && over < ranks_of(s.c, w);
  });
}

bool several_buckets(const Sight& s) {
  const std::int64_t elements = rank_number(s.c, "buckets.elements");
  std::int64_t all = 0;
  for (const std::string& p : parameters_of(s.c.model)) all += std::int64_t(s.c.tensors.at(p).elements());
  return most_ranks_of(s.c) > 1 && elements > 0 && elements < all;
}

bool drawn_arrival(const Sight& s) { return most_ranks_of(s.c) > 1 && rank_number(s.c, "arrival") != 0; }
bool ring(const Sight& s) { return most_ranks_of(s.c) > 2 && rank_word(s.c, "reduce.algorithm") == "ring"; }
bool halving(const Sight& s) {
  return most_ranks_of(s.c) > 2 && rank_word(s.c, "reduce.algorithm") == "recursive_halving";
}
bool as_they_come(const Sight& s) {
  return most_ranks_of(s.c) > 2 && rank_word(s.c, "reduce.algorithm") == "arrival" && drawn_arrival(s);
}
bool as_a_library_adds(const Sight& s) {
  return most_ranks_of(s.c) > 2 && rank_word(s.c, "reduce.algorithm") == "library" && drawn_arrival(s);
}
bool tree(const Sight& s) { return most_ranks_of(s.c) > 2 && rank_word(s.c, "reduce.algorithm") == "tree"; }
bool doubling(const Sight& s) {
  return most_ranks_of(s.c) > 2 && rank_word(s.c, "reduce.algorithm") == "recursive_doubling";
}

bool divides(const Sight& s, std::string_view word) {
  return most_ranks_of(s.c) > 1 && rank_word(s.c, "reduce.divide") == word;
}
bool divided_before(const Sight& s) { return divides(s, "before"); }
bool divided_after(const Sight& s) { return divides(s, "after"); }
bool divided_in_two(const Sight& s) { return divides(s, "split"); }
bool divided_by_collective(const Sight& s) { return divides(s, "collective"); }
bool divided_when_unscaling(const Sight& s) { return divides(s, "unscale"); }
/// 1 / R is then rounded.
bool inexact_division(const Sight& s) {
  return no_power_of_two(s) && (divided_before(s) || divided_after(s) || divided_by_collective(s));
}
bool narrow_wire(const Sight& s) {
  return most_ranks_of(s.c) > 1 && size_of(wire_of(s.c)) < size_of(s.c.precision.accumulate);
}
bool wide_wire(const Sight& s) {
  return most_ranks_of(s.c) > 1 && size_of(wire_of(s.c)) > size_of(s.c.precision.accumulate);
}
bool added_in_fp32(const Sight& s) { return most_ranks_of(s.c) > 1 && adds_in_fp32(s.c); }
bool by_owners(const Sight& s) { return most_ranks_of(s.c) > 2 && rank_word(s.c, "reduce.algorithm") == "all_to_all"; }
bool sums_of_each(const Sight& s) {
  return most_ranks_of(s.c) > 1 && communicate_of(s.c) == Communicate::micro_batch && accumulates(s);
}
bool sums_of_totals(const Sight& s) {
  return most_ranks_of(s.c) > 1 && communicate_of(s.c) == Communicate::running_total && accumulates(s);
}
bool sums_without_own(const Sight& s) { return communicates_each(s.c) && unequal_counts(s); }

bool shares_gradients(const Sight& s) { return most_ranks_of(s.c) > 1 && shards_gradients(s.c) && accumulates(s); }
bool shares_parameters(const Sight& s) { return most_ranks_of(s.c) > 1 && shards_parameters(s.c); }
bool in_groups(const Sight& s) {
  return replicas_of(s.c) > 1 && any_generation(s, [](const Case& c) { return sharers_of(c) > 1; });
}
bool groups_of_one(const Sight& s) {
  return replicas_of(s.c) > 1 && any_generation(s, [](const Case& c) { return sharers_of(c) == 1; });
}
bool gathers_without_own(const Sight& s) { return shares_parameters(s) && unequal_counts(s); }
bool shares_optimizer(const Sight& s) { return most_ranks_of(s.c) > 1 && shards_optimizer(s.c); }

bool offloaded(const Sight& s) { return offloads(s.c) && !shards_optimizer(s.c); }
bool offloaded_pieces(const Sight& s) { return offloads(s.c) && shares_optimizer(s); }

/// Elements that a rank has in all.
std::int64_t elements_of(const Case& c, std::size_t rank) {
  std::int64_t all = 0;
  for (const std::string& p : parameters_of(c.model)) all += piece_of(c, p, rank).count;
  return all;
}
bool an_empty_piece(const Sight& s) {
  return shares_optimizer(s) && any_generation(s, [](const Case& c) {
           for (std::size_t rank = 0; rank < ranks_of(c); ++rank)
             if (elements_of(c, rank) == 0) return true;
           return false;
         });
}
/// Where buckets are one, a rank lacks what its chunk is longer than its elements.
bool padding_on_two(const Sight& s) {
  return shares_optimizer(s) && rank_number(s.c, "buckets.elements") == 0 && any_generation(s, [](const Case& c) {
           const std::int64_t chunk = place_in_bucket(c, parameters_of(c.model).front()).chunk;
           int padded = 0;
           for (std::size_t rank = 0; rank < ranks_of(c); ++rank) padded += elements_of(c, rank) < chunk;
           return padded >= 2;
         });
}
bool norm_of_pieces(const Sight& s) { return shares_optimizer(s) && clips_by_norm(s.c.recipe.clip); }

bool moves_running(const Sight& s, std::string_view whose) {
  return most_ranks_of(s.c) > 1 && s.any_layer([&](const Layer& l) {
    return l.kind == kinds::batch_norm && l.text("statistics") == "micro_batch" && l.text("running") == whose;
  });
}
bool first_running(const Sight& s) { return moves_running(s, "first_rank"); }
bool each_running(const Sight& s) { return moves_running(s, "each"); }
/// A later window begins with values of the first rank that another had moved elsewhere.
bool running_taken_over(const Sight& s) {
  bool moved = false;
  for (std::size_t rank = 1; rank < ranks_of(s.c, 0); ++rank) moved = moved || micro_batches_of(s.c, 0, rank) > 0;
  return first_running(s) && s.windows() > 1 && moved;
}

bool means_of_ranks(const Sight& s) { return most_ranks_of(s.c) > 1 && s.c.normalisation == Normalisation::rank_means; }

const Register<TriggerGroup> registered{
    {7,
     "ranks",
     {{"one rank", TriggerKind::of_case, "", one_rank},
      {"two ranks", TriggerKind::of_case, "", so_many<2>},
      {"three ranks", TriggerKind::of_case, "", so_many<3>},
      {"more ranks in a later window", TriggerKind::of_case, "the number of ranks changes", more_ranks},
      {"fewer ranks in a later window", TriggerKind::of_case, "the number of ranks changes", fewer_ranks},
      {"ranks that are no power of two", TriggerKind::of_case, "", no_power_of_two},
      {"a rank without a micro-batch", TriggerKind::of_case, "", an_empty_rank},
      {"ranks with unequal numbers of micro-batches", TriggerKind::of_case, "", unequal_counts},
      {"ranks with unequal items", TriggerKind::of_case, "", unequal_items},
      {"a rank that accumulates", TriggerKind::of_case, "K_r > 1", accumulates},
      {"a mean over ranks of their own means", TriggerKind::of_case, "rank_means", means_of_ranks},
      {"a sum over ranks divided before it", TriggerKind::of_case, "", divided_before},
      {"a sum over ranks divided after it", TriggerKind::of_case, "", divided_after},
      {"a sum over ranks divided before and after", TriggerKind::of_case, "", divided_in_two},
      {"a sum over ranks divided in the collective's format", TriggerKind::of_case, "", divided_by_collective},
      {"a sum over ranks divided when its scale goes", TriggerKind::of_case, "", divided_when_unscaling},
      {"a rounded reciprocal of the ranks", TriggerKind::of_case, "", inexact_division},
      {"a sum over ranks that travels in fewer bits than its buffer", TriggerKind::of_case, "", narrow_wire},
      {"a sum over ranks that travels in more bits than its buffer", TriggerKind::of_case, "", wide_wire},
      {"a sum over ranks of 16 bits that is added in fp32", TriggerKind::of_case, "rounded once", added_in_fp32},
      {"a sum over ranks that each chunk's owner makes", TriggerKind::of_case, "three ranks or more", by_owners},
      {"every micro-batch added up over ranks", TriggerKind::of_case, "", sums_of_each},
      {"running totals added up over ranks", TriggerKind::of_case, "", sums_of_totals},
      {"a sum over ranks to which one brings no micro-batch", TriggerKind::of_case, "", sums_without_own},
      {"several buckets", TriggerKind::of_case, "", several_buckets},
      {"a ring of three ranks or more", TriggerKind::of_case, "", ring},
      {"recursive doubling of three ranks or more", TriggerKind::of_case, "", doubling},
      {"recursive halving of three ranks or more", TriggerKind::of_case, "", halving},
      {"a tree of three ranks or more", TriggerKind::of_case, "", tree},
      {"a sum over ranks as their numbers come", TriggerKind::of_case, "three ranks or more, arrival drawn",
       as_they_come},
      {"a sum over ranks in a library's order", TriggerKind::of_case, "three ranks or more, arrival drawn",
       as_a_library_adds},
      {"ranks go on in a drawn order", TriggerKind::of_case, "", drawn_arrival},
      {"overflow on one rank only", TriggerKind::of_case, "of what ranks hand over, one's is not finite",
       overflow_on_one},
      {"optimizer state sharded", TriggerKind::of_case, "ranks share the optimizer", shares_optimizer},
      {"a rank without a piece", TriggerKind::of_case, "fewer elements than ranks, or padding", an_empty_piece},
      {"padding on two ranks", TriggerKind::of_case, "of one bucket", padding_on_two},
      {"one norm over pieces of ranks", TriggerKind::of_case, "clip by norm", norm_of_pieces},
      {"gradients sharded", TriggerKind::of_case, "each rank keeps its piece of the sums; K_r > 1", shares_gradients},
      {"parameters sharded", TriggerKind::of_case, "put together whenever layers read them", shares_parameters},
      {"a step offloaded to the host", TriggerKind::of_case, "of whole parameters", offloaded},
      {"a step of pieces offloaded to the host", TriggerKind::of_case, "optimizer state sharded", offloaded_pieces},
      {"parameters put together by a rank without a micro-batch", TriggerKind::of_case, "", gathers_without_own},
      {"running values of the first rank", TriggerKind::of_case, "batch_norm beside ranks", first_running},
      {"running values of every rank", TriggerKind::of_case, "batch_norm beside ranks", each_running},
      {"running values that a rank gives up for the first one's", TriggerKind::of_case, "", running_taken_over},
      {"sharded and replicated mixed", TriggerKind::of_case, "groups that share, added up at the window's end",
       in_groups},
      {"replicas that each keep everything", TriggerKind::of_case, "groups of one", groups_of_one}}}};

}  // namespace
}  // namespace tally::ranks_trigger
