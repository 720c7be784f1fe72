// The matrix of faults in words: for the terminal, and as a study for the page.
#include <algorithm>
#include <map>

#include "oracle/case/tensors/tensor.hpp"
#include "properties/faults/trials/trials.hpp"

namespace tally {
namespace {

/// A slice of a row: all cells with that precision, path or optimizer.
struct Slice {
  std::string name;
  std::string FaultCell::*of;
};

std::vector<Slice> slices() {
  std::vector<Slice> all;
  for (const std::string& precision : names_of(storage_formats())) all.push_back({precision, &FaultCell::precision});
  for (const std::string& path : fault_paths()) all.push_back({path, &FaultCell::path});
  for (const std::string& optimizer : fault_optimizers()) all.push_back({optimizer, &FaultCell::optimizer});
  return all;
}

bool is_in(const FaultCell& cell, const Slice& slice) { return cell.*slice.of == slice.name; }

struct Counts {
  std::size_t caught = 0, cannot = 0, missed = 0;
  void add(const FaultCell& cell) {
    ++(cell.found == Planted::caught ? caught : cell.found == Planted::cannot ? cannot : missed);
  }
  std::string mark() const { return missed > 0 ? "\u2717" : caught > 0 ? "\u2713" : "\u2013"; }
};

Counts counts_of(const FaultRow& row, const Slice* slice) {
  Counts counts;
  for (const FaultCell& cell : row.cells) {
    if (slice == nullptr || is_in(cell, *slice)) counts.add(cell);
  }
  return counts;
}

Counts counts_of(const std::vector<FaultRow>& rows) {
  Counts all;
  for (const FaultRow& row : rows) {
    for (const FaultCell& cell : row.cells) all.add(cell);
  }
  return all;
}

std::string sentence_of(const std::vector<FaultRow>& rows) {
  const Counts all = counts_of(rows);
  return std::to_string(rows.size()) + " faults in every precision, path and optimizer: caught in " +
         std::to_string(all.caught) + " places, not to be expressed in " + std::to_string(all.cannot) + ", missed in " +
         std::to_string(all.missed);
}

std::string padded(const std::string& text, std::size_t shown, std::size_t width) {
  return text + std::string(width > shown ? width - shown : 0, ' ');
}

StudyTable marks(const std::vector<FaultRow>& rows) {
  StudyTable table{
      "Where each fault is caught",
      "\u2713 caught wherever it can be expressed, \u2013 nowhere to be expressed, \u2717 missed somewhere",
      {{"fault", {}, {}}}};
  for (const Slice& slice : slices()) table.columns.push_back({slice.name, {}, {}});
  for (const FaultRow& row : rows) {
    table.columns[0].words.push_back(row.fault);
    std::size_t next = 1;
    for (const Slice& slice : slices()) table.columns[next++].words.push_back(counts_of(row, &slice).mark());
  }
  return table;
}

/// The cells of one verdict, by fault and reason.
StudyTable reasons(const std::vector<FaultRow>& rows, Planted found, const std::string& title) {
  StudyTable table{title, "", {{"fault", {}, {}}, {"places", {}, {}}, {"which", {}, {}}, {"why", {}, {}}}};
  for (const FaultRow& row : rows) {
    std::map<std::string, std::vector<const FaultCell*>> by_reason;
    for (const FaultCell& cell : row.cells) {
      if (cell.found == found) by_reason[cell.reason].push_back(&cell);
    }
    for (const auto& [reason, cells] : by_reason) {
      const FaultCell& first = *cells.front();
      const std::string more = cells.size() > 1 ? " and " + std::to_string(cells.size() - 1) + " more" : "";
      table.columns[0].words.push_back(row.fault);
      table.columns[1].words.push_back(std::to_string(cells.size()));
      table.columns[2].words.push_back(first.precision + ", " + first.path + ", " + first.optimizer + more);
      table.columns[3].words.push_back(reason);
    }
  }
  return table;
}

}  // namespace

Study study_of(const std::vector<FaultRow>& rows) {
  Study study;
  study.family = "faults";
  study.name = "matrix";
  study.question = "Is every seeded fault caught in every precision, on every path and under every optimizer?";
  study.answer = sentence_of(rows) + ".";
  study.status = rows.empty() ? Status::not_run : counts_of(rows).missed > 0 ? Status::fail : Status::pass;
  if (study.status == Status::fail) study.message = "a fault was not caught where it can be expressed";
  study.tables = {marks(rows), reasons(rows, Planted::missed, "Missed"),
                  reasons(rows, Planted::cannot, "Cannot be expressed")};
  study.notes = {
      "A failing case is drawn in each precision by the fault's laws, then put through every path with every "
      "optimizer. What changes no bit of such a case cannot be expressed there.",
      "A captured run taps nothing but its end: it is held end to end."};
  return study;
}

std::string text_of(const std::vector<FaultRow>& rows) {
  std::size_t widest = 0;
  for (const FaultRow& row : rows) widest = std::max(widest, row.fault.size());
  std::string text = "\nWhere each fault is caught\n  " + std::string(widest + 2, ' ');
  for (const Slice& slice : slices()) text += slice.name + "  ";
  text += "\n";
  for (const FaultRow& row : rows) {
    text += "  " + padded(row.fault, row.fault.size(), widest + 2);
    for (const Slice& slice : slices()) text += padded(counts_of(row, &slice).mark(), 1, slice.name.size() + 2);
    text += "\n";
  }
  text += "  \u2713 caught wherever it can be expressed, \u2013 nowhere to be expressed, \u2717 missed somewhere\n";
  for (const FaultRow& row : rows) {
    for (const FaultCell& cell : row.cells) {
      if (cell.found != Planted::missed) continue;
      text += "  \u2717 " + row.fault + ": " + cell.precision + ", " + cell.path + ", " + cell.optimizer + ": " +
              cell.reason + "\n";
    }
  }
  return text + sentence_of(rows) + "\n";
}

}  // namespace tally
