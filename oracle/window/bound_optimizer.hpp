// The optimizers with bounds. Moments come from the old state; the parameter from the new moments (the lenses pass the
// subject's own), so that a moment's rounding is judged once.
#pragma once

#include "oracle/tolerance/expected.hpp"
#include "oracle/window/bound_stages.hpp"
#include "oracle/window/exact_stages.hpp"

namespace tally::oracle {

/// The new momentum buffer; `old` empty where there is none yet (then it is the gradient).
Expected sgd_momentum(const Declared& subject, const Choice& optimizer, const Expected& gradient, const Expected& old);
/// The new parameter; `momentum` is the new buffer, empty without momentum. `rate` as the kernel holds it.
Expected sgd_parameter(const Declared& subject, const Choice& optimizer, const Expected& rate, const Expected& gradient,
                       const Expected& momentum, const Expected& parameter);

/// Adam's new moments; an empty `old` is zero.
Expected adam_exp_avg(const Declared& subject, const Choice& optimizer, const Expected& gradient, const Expected& old);
Expected adam_exp_avg_sq(const Declared& subject, const Choice& optimizer, const Expected& gradient,
                         const Expected& old);
/// Adam's new parameter from the new moments at step t (the first is 0). `from_zero`: the moments began at zero, so
/// that |m^| / sqrt v^ is bounded (oracle/tolerance.md) and the bound capped by it.
Expected adam_parameter(const Declared& subject, const Choice& optimizer, const StepRate& rate, std::int64_t step,
                        const Expected& exp_avg, const Expected& exp_avg_sq, const Expected& parameter, bool from_zero);

}  // namespace tally::oracle
