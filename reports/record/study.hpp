// What a study found, as plain data: numbers about a question, with a verdict's status and what they were made with.
// Defined in documents.cpp.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace tally {

// The verdict on anything that was run, and the kind of wrong where it failed.

enum class Status { pass, fail, vacuous, not_run, error };
std::string_view word_of(Status status);

/// The verdict classes of a failure: which kind of wrong.
enum class FailureClass { none, logic, precision, order, non_finite, skip_decision };
std::string_view word_of(FailureClass c);

// What a run was made with.

struct Environment {
  std::string tally_version, executor, device, compiler, flags, cuda, blas;  // no clock, host, path or user
  std::vector<std::pair<std::string, std::string>> ledger;                   // assumption, what holds here

  // What was asked to run in place of the kernels as shipped; tokens of cases do not carry it.
  std::string fault = {};                 // seeded; empty: none
  double magnitude = 1;                   // how much of the fault
  std::vector<std::string> kernels = {};  // operation=variant
};

// What a study found, as plain data: numbers about a question, not a verdict on a change. Sweeps of drift, the evidence
// for the tolerances and the comparison with published rules are studies. properties/lab fills it in, reports/study
// renders it.

/// One column: either words or numbers, as many as the table has rows; the other is empty.
struct StudyColumn {
  std::string name;  // with its unit: "drift, relative"
  std::vector<std::string> words;
  std::vector<double> numbers;
};

struct StudyTable {
  std::string title;
  std::string note;  // what to read in it, one or two sentences; may be empty
  std::vector<StudyColumn> columns;
};

/// Points of one kind. `low` and `high` hold each point's interval, or are empty.
struct StudySeries {
  std::string name;
  std::vector<double> x, y, low, high;
};

struct StudyPlot {
  std::string title;
  std::string along, up;  // what runs along the axes, with units
  bool logarithmic_x = true, logarithmic_y = true;
  std::vector<StudySeries> series;
};

struct Study {
  int schema = 1;
  std::string family, name;         // "sweep", "micro_batches"
  std::string question;             // one sentence
  std::string answer;               // one or two sentences, with the numbers that matter, made from this run
  Status status = Status::not_run;  // pass: everything the study demands held; fail: something did not
  std::string message;              // of a failure, or why it was not run
  std::uint64_t seed = 0;
  double effort = 1;
  bool partial = false;  // interrupted
  std::string device;    // where the subject ran
  std::string tree;      // the commit it was measured for, with "+" where files differed from it; empty: not recorded
  std::vector<StudyTable> tables;
  std::vector<StudyPlot> plots;
  std::vector<std::string> notes;  // assumptions, definitions
  Environment environment;
};

/// Canonical JSON as of results.json. study_of_json throws std::runtime_error with place, value and what was expected.
std::string to_json(const Study& study);
Study study_of_json(std::string_view json);

// The table of `bench excess` from which reports tell how unusual it is that a kernel uses as much of its bound.

/// A row an operation and the formats that it stores (OperationStanding::format): the quantiles of TensorCheck::excess
/// over the tensors of clean cases.
inline constexpr const char* excess_table = "Share of the bound used beyond the last rounding, by operation";

}  // namespace tally
