// The evidence as tables and plots of a study, and what it has to show for the tolerances to stand.
// Defined in figures.cpp.
#pragma once

#include <string>
#include <vector>

#include "properties/lab/evidence/gather.hpp"
#include "properties/lab/evidence/strata.hpp"
#include "reports/record/study.hpp"

namespace tally {

// Which assumption of the ledger each stratum of ordinary networks puts to the test.

struct TestedAssumption {
  std::string stratum;     // a trait of ordinary networks, or "size"
  std::string assumption;  // of oracle::ledger (oracle/tolerance/declared.hpp)
  std::string how;         // what about these cases would break it
};

const std::vector<TestedAssumption>& tested_assumptions();

// Ordinary networks as tables: alarms, refusals and how near they came, by stratum.

/// All ordinary networks: alarms and refusals by case.
Stratum ordinary_networks(const Strata& strata);

std::vector<StudyTable> ordinary_tables(const Strata& strata);

// What the evidence has to show for the tolerances to stand, figure by figure.

struct Figure {
  std::string name, demanded, found;
  bool met = false;  // false too where nothing was seen
  bool seen = true;  // whether there was anything to measure
};

/// No alarm, every check made, r below 1, a median that says the bounds are not loose, gradients that are held end to
/// end, and a search that found no way over a bound.
std::vector<Figure> figures_of(const GatheredEvidence& evidence);

/// One sentence or two from these numbers.
std::string answer_of(const GatheredEvidence& evidence);

/// All hard families in both lenses: their checks and alarms (a case counts once a lens).
Stratum hard_cases(const GatheredEvidence& evidence);

/// The first window's gradients end to end: fp32, at most two linear layers, eight valid items or more in each
/// micro-batch, tensors that are zero throughout left out.
Stratum demanded_gradients(const Strata& strata);

std::vector<StudyTable> evidence_tables(const GatheredEvidence& evidence);
std::vector<StudyPlot> evidence_plots(const GatheredEvidence& evidence);

}  // namespace tally
