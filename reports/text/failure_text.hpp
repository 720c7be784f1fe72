// A failing case in words, the same on the terminal, in junit.xml and on the page.
#pragma once

#include <string>

#include "reports/record/record.hpp"

namespace tally {

/// "16,384 elements, 40 differ, 2 over bound, 0 not finite".
std::string census_text(const TensorCheck& check);
/// "[3, 17]"; empty for no index.
std::string index_text(const std::vector<std::int64_t>& index);
/// "1.46e-04: accumulation 75 %, storage 25 %": the bound and its terms.
std::string bound_text(const TensorCheck& check);

/// Place, sentence, the worst tensors with the census, both values and the bound's terms, and the command that replays
/// it on what `ran`; several lines, each ended. At most `tensors` of them.
std::string failure_text(const CaseRecord& c, const Environment& ran, std::size_t tensors = 4);

/// What fails and why, in one sentence without its full stop: the case's own, the kernel behind it with its file, and
/// what it looks like where the first does not say so.
std::string failure_sentence(const CaseRecord& c);

}  // namespace tally
