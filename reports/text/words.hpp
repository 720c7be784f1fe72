// Records in words: a status, a fault, a failing case, and the commands that run it again, quoted for a shell.
#pragma once

#include <string>

#include "reports/record/record.hpp"

namespace tally {

// A status for people: a mark and a word, never a colour alone.

const char* mark_of(Status status);        // ✓ ✗ ○ – ‼
const char* shown_word_of(Status status);  // pass, FAIL, VACUOUS, not run, ERROR
std::string mark_and_word(Status status);  // "✓ pass"
std::string class_of(Status status);       // CSS class and data-s: pass, fail, vacuous, not_run, error
std::string failure_word(FailureClass c);  // "non-finite"; empty for none

// What a seeded fault's record says, in words.

/// "2^-12", or "1"; a dash where none was looked for.
std::string smallest_caught_word(const FaultRecord& fault);

/// A word as a shell takes it whole: quoted where it must be.
std::string shell_word(const std::string& word);

// The commands that run a case, or a campaign's cases, again on what they ran on. Every word that a shell would take
// apart is quoted.

/// " --subject host --fault extra-times-k --magnitude 0.25 --kernel matmul=tiled": of what ran, all that a token leaves
/// open. Each option has a space before it.
std::string subject_options(const Environment& ran);

/// "./tally replay TOKEN", or the path of a kept case file for the token; empty without one.
std::string replay_command(const std::string& token);
/// The case under its law, on what the campaign ran on; empty without a case.
std::string replay_command(const CaseRecord& c, const Environment& ran);
/// The case that caught a fault, under its law and with as much of the bug; empty without a case.
std::string replay_command(const FaultRecord& fault, const Environment& ran);

// A failing case in words, the same on the terminal, in junit.xml and on the page.

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
