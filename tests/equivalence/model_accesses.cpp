// SPDX-License-Identifier: BSL-1.0
/// Reads and writes, cell by cell, and the violations that they cause.
#include <algorithm>

#include "model.hpp"

namespace byre::test {

Elements Model::elements_of(const Tensor& tensor, const Places& places) {
  Elements elements;
  for (const std::size_t place : places) {
    const Cell& copy = tensor.family->copy[place];
    elements.push_back({{tensor.family->memory->cells[place].value, copy.value}, copy.cause});
  }
  return elements;
}

/// Does nothing if there are no elements.
void Model::access(Family& family, const Places& places, Kind kind) {
  if (places.empty()) {
    return;
  }
  const std::optional<UnobservedWrite> of = write_to_report(family, kind);
  const bool is_suppressed = of && (is_in_scope_ || of->is_suppressed || is_suppressed_line(line_));
  expected_.is_any_suppressed |= is_suppressed;
  if (of && !is_suppressed) {
    expected_.violations.push_back(
        {number_, {of->reshape, of->write.line, line_}, kind == Kind::write, of->is_error});
    family.reported = kind == Kind::read ? now_ : family.reported;
  }
  if (kind == Kind::read) {
    record_causes(family, places);
    if (is_suppressed) {
      return;  // the next unsuppressed read is reported
    }
    family.unread.reset();
  } else if (of) {
    const auto before = family.unread;
    const bool keeps =
        before && of->rank() < unobserved_write(family, before->first, before->second).rank();
    family.unread = keeps ? before : std::optional(std::pair(of->write, of->when));
  }
  family.observed = now_;
}

/// Stores the causes of the cells that a family reads, depending on the last writer of each cell.
/// A cell already has its cause if the family made the cell's last write, or if that write was in
/// the cells that the family copied when it was made. The causes follow from the cells and the
/// reports alone, not from the rule for reports.
void Model::record_causes(Family& family, const Places& places) {
  for (const std::size_t place : places) {
    const int when = family.memory->cells[place].written;
    if (when == family.copy[place].written) {
      continue;
    }
    const Write& write = made_[static_cast<std::size_t>(when)];
    family.copy[place].cause = write.is_by_kept_pointer  ? Cause::kept_pointer
                               : family.reported >= when ? Cause::reported
                               : is_in_scope_ || is_suppressed_line(line_) ||
                                       is_separated_by_suppressed(family, write, when)
                                   ? Cause::suppressed
                                   : Cause::unexplained;
  }
}

/// The reshape that made the younger of two families separates them. Siblings (families that were
/// made from the same family) are separated by the reshape of the accessing family.
Model::UnobservedWrite Model::unobserved_write(const Family& family, const Write& write,
                                               int when) const {
  const Number by = family.memory->writes.at(write).by;
  const Number mine = family.number;
  const bool are_siblings = by.number != 0 && mine.number != 0 && by.origin == mine.origin;
  const bool is_by_younger = !are_siblings && by.number > mine.number;
  const int reshape = is_by_younger ? write.reshape : family.reshape;
  const auto mode = is_by_younger ? write.mode : family.mode;
  return {write, when, reshape, is_suppressed_line(write.line) || is_suppressed_line(reshape),
          mode == shadow::ReshapeMode::error};
}

/// If a family was made after the write, one of the reshapes that led to the family separates the
/// family from the write.
bool Model::is_separated_by_suppressed(const Family& family, const Write& write, int when) const {
  const Family* each = &family;
  while (!unobserved_write(*each, write, when).is_suppressed) {
    if (when > each->made || each->reshaped_from == nullptr) {
      return false;
    }
    each = each->reshaped_from;
  }
  return true;
}

std::optional<Model::UnobservedWrite> Model::write_to_report(const Family& family,
                                                             Kind kind) const {
  std::optional<UnobservedWrite> all;
  const auto consider = [&](const Write& write, int when) {
    const UnobservedWrite other = unobserved_write(family, write, when);
    all = !all || all->rank() < other.rank() ? other : all;
  };
  for (const auto& [write, last] : family.memory->writes) {
    if (last.when > family.observed) {
      consider(write, last.when);
    }
  }
  if (kind == Kind::read && family.unread) {
    consider(family.unread->first, family.unread->second);
  }
  return all;
}

/// If a pointer escapes, later writes through it are unknown.
void Model::write(const Tensor& tensor, const Places& places, const NewElement& element,
                  bool escapes) {
  if (places.empty()) {
    return;
  }
  Family& family = *tensor.family;
  access(family, places, Kind::write);
  const Write made{line_, family.reshape, family.mode};
  set(tensor, places, element, made);
  Memory& memory = *family.memory;
  memory.writes[made] = {now_, family.number};
  family.observed = now_;
  if (escapes) {
    expected_.escapes += memory.families == 0 ? 0 : 1;
    memory.has_escaped = true;
  } else if (places.size() == memory.cells.size()) {
    family.unread.reset();
  }
}

/// Writes with aliases and with copies, without a report.
void Model::set(const Tensor& tensor, const Places& places, const NewElement& element,
                const Write& made) {
  ++now_;
  made_.resize(static_cast<std::size_t>(now_) + 1);
  made_.back() = made;
  Family& family = *tensor.family;
  const std::array runs{&family.memory->cells, &family.copy};
  for (std::size_t index = 0; index < places.size(); ++index) {
    const Element next = element(elements_of(tensor, {places[index]})[0], index);
    for (std::size_t run = 0; run < runs.size(); ++run) {
      (*runs[run])[places[index]] = {next.in[run], now_, next.cause};
    }
  }
}

}  // namespace byre::test
