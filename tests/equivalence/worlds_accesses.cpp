// SPDX-License-Identifier: BSL-1.0
/// Reads and writes, cell by cell, and what is told of them.
#include <algorithm>
#include <numeric>
#include <utility>

#include "worlds.hpp"

namespace byre::test {

std::vector<std::size_t> cells_of(const std::vector<std::size_t>& places, std::size_t width) {
  std::vector<std::size_t> cells;
  for (const std::size_t place : places) {
    for (std::size_t cell = place; cell < place + width; ++cell) {
      cells.push_back(cell);
    }
  }
  return cells;
}

std::vector<std::size_t> all_cells_of(const Worlds::Family& family) {
  std::vector<std::size_t> all(family.copy.size());
  std::iota(all.begin(), all.end(), std::size_t{0});
  return all;
}

/// Of the low half first, as this memory has them.
std::int64_t Worlds::value_at(const Cells& cells, std::size_t place, std::size_t width) {
  if (width == 1) {
    return cells[place].value;
  }
  const auto low = static_cast<std::uint32_t>(cells[place].value);
  const auto high = static_cast<std::uint32_t>(cells[place + 1].value);
  return static_cast<std::int64_t>(std::uint64_t{high} << 32 | low);
}

Worlds::Values Worlds::values_of(const Tensor& tensor, const Places& places) {
  Values values;
  for (const std::size_t place : places) {
    values[0].push_back(value_at(tensor.family->memory->cells, place, tensor.width));
    values[1].push_back(value_at(tensor.family->copy, place, tensor.width));
  }
  return values;
}

void Worlds::read_all(const Tensor& tensor, std::int64_t way) {
  const bool is_lazy = way == way_by_lazy_clone || way == way_by_to ||
                       (way == way_by_contiguous && tensor.layout.is_contiguous());
  if (tensor.places.empty() && !is_lazy) {
    return;
  }
  const std::size_t elements = tensor.places.size();
  const std::size_t in_a_row =
      tensor.layout.ndim() == 0 ? 1 : static_cast<std::size_t>(tensor.layout.sizes.back());
  const std::size_t times = way == way_by_indices    ? elements
                            : way == way_by_accessor ? elements / in_a_row
                                                     : 1;
  access(*tensor.family, cells_of(tensor.places, tensor.width), Kind::observed, false, times);
}

void Worlds::access(const Tensor& tensor, Kind kind) {
  if (!tensor.places.empty()) {
    access(*tensor.family, cells_of(tensor.places, tensor.width), kind);
  }
}

void Worlds::access(Family& family, const Places& cells, Kind kind, bool is_of_all,
                    std::uint64_t times) {
  const bool writes = kind == Kind::write;
  const bool is_unknown = std::ranges::any_of(
      family.memory->cells, [&](const Cell& cell) { return cell.written > family.told; });
  const std::optional<Unknown> left = unread_by(family);
  std::optional<Unknown> of = is_unknown ? std::optional(unknown_to(family)) : std::nullopt;
  if (!writes && left && (!of || of->rank() < left->rank())) {
    of = left;
  }
  const bool is_silenced = of && (is_silent_ || of->is_listed || is_listed_line(line_));
  if (is_silenced) {
    silenced_ += times;
    silenced_reads_ += writes ? 0 : times;
    first_silenced_ = first_silenced_.value_or(number_);
  } else if (of) {
    tell(family, *of, kind, is_of_all);
    silenced_ += of->is_error ? silenced_reads_ : 0;
    reasons_.push_back(reason_of(family, cells, kind, !is_unknown));
  }
  if (is_silenced && !writes) {
    return;  // the next one that is not silenced is told
  }
  family.told = now_;
  if (is_unknown) {
    family.known = last_write_of(family);
  }
  const bool keeps_unread = writes && (!of || (left && of->rank() < left->rank()));
  family.unread = keeps_unread ? family.unread : writes ? of : std::nullopt;
}

Worlds::Unknown Worlds::unknown_of(const Family& family, const Write& write, int when) const {
  const Parting parting = parting_of(family.origin, write.by);
  return {write, when, is_listed_line(write.line) || is_listed_line(parting.reshape->line),
          parting.reshape->mode == shadow::ReshapeMode::error};
}

std::optional<Worlds::Unknown> Worlds::unread_by(const Family& family) const {
  return family.unread
             ? std::optional(unknown_of(family, family.unread->write, family.unread->when))
             : std::nullopt;
}

Worlds::Unknown Worlds::unknown_to(const Family& family) const {
  std::optional<Unknown> told;
  for (const auto& [write, when] : family.memory->writes) {
    if (when > family.told) {
      const Unknown other = unknown_of(family, write, when);
      told = !told || told->rank() < other.rank() ? other : told;
    }
  }
  return *told;
}

std::optional<Worlds::Unknown> Worlds::last_write_of(const Family& family) const {
  const auto& writes = family.memory->writes;
  const auto last =
      std::ranges::max_element(writes, {}, [](const auto& each) { return each.second; });
  return last == writes.end() ? std::nullopt
                              : std::optional(Unknown{.write = last->first, .when = last->second});
}

void Worlds::tell(const Family& family, const Unknown& of, Kind kind, bool is_of_all) {
  using shadow::Advice;
  const Parting parting = parting_of(family.origin, of.write.by);
  const bool writes = kind == Kind::write;
  const bool follows = family.known && family.known->when != family.known_at_first &&
                       family.known->when < of.when && family.known->write.by != family.origin;
  Told told{.reshape = parting.reshape->line,
            .write = of.write.line,
            .access = line_,
            .access_writes = writes,
            .advice = writes && is_of_all                     ? Advice::nothing
                      : parting.writer_is_reshaped            ? Advice::view
                      : parting.access_is_reshaped && follows ? Advice::view_or_clone
                                                              : Advice::reshape_and_clone,
            .unaudited = family.memory->unaudited.size(),
            .is_error = of.is_error};
  shared_.learn(told, of.write.by);
  told.advice = shared_.advice_for(told, of.write.by);
  told_.push_back({number_, told});
  writers_.push_back(of.write.by);
}

/// A reshape has one rewrite, and who relies on seeing a write through what was reshaped says so for
/// others that read it. What is left open is that of the same lines alone.
void Worlds::Shared::learn(const Told& told, const Origin* writer) {
  if (told.advice == shadow::Advice::view_or_clone) {
    open.insert({told.reshape, told.write, told.access});
  }
  if (told.advice == shadow::Advice::view) {
    reshapes.insert(told.reshape);
    if (writer != nullptr) {
      writes.insert({told.write, writer});
    }
  }
}

shadow::Advice Worlds::Shared::advice_for(const Told& told, const Origin* writer) const {
  using shadow::Advice;
  const bool shares_write = told.advice != Advice::nothing && writes.contains({told.write, writer});
  if (shares_write || reshapes.contains(told.reshape)) {
    return Advice::view;
  }
  const bool is_open = told.advice == Advice::reshape_and_clone &&
                       open.contains({told.reshape, told.write, told.access});
  return is_open ? Advice::view_or_clone : told.advice;
}

/// What the first of each triple says, once none changes another.
Tellings Worlds::summary() const {
  Shared shared = shared_;
  Tellings all = told_;
  std::set<std::tuple<std::uint32_t, std::uint32_t, std::uint32_t>> met;
  std::vector<std::size_t> firsts;
  for (std::size_t index = 0; index < all.size(); ++index) {
    const Told& told = all[index].told;
    if (met.emplace(told.reshape, told.write, told.access).second) {
      firsts.push_back(index);
    }
  }
  for (std::size_t round = 0; round <= firsts.size(); ++round) {
    for (const std::size_t index : firsts) {
      Told& told = all[index].told;
      told.advice = shared.advice_for(told, writers_[index]);
      shared.learn(told, writers_[index]);
    }
  }
  return all;
}

void Worlds::write(const Tensor& tensor, const Places& places, const NewValue& value,
                   bool may_be_of_all) {
  if (places.empty()) {
    return;
  }
  Family& family = *tensor.family;
  Memory& memory = *family.memory;
  const bool is_of_all = may_be_of_all && places.size() * tensor.width == memory.capacity;
  access(family, cells_of(places, tensor.width), Kind::write, is_of_all);
  ++now_;
  const std::array worlds{&memory.cells, &family.copy};
  for (std::size_t index = 0; index < places.size(); ++index) {
    for (std::size_t world = 0; world < worlds.size(); ++world) {
      Cells& cells = *worlds[world];
      const std::int64_t written =
          value(value_at(cells, places[index], tensor.width), index, world);
      for (std::size_t half = 0; half < tensor.width; ++half) {
        cells[places[index] + half] = {static_cast<std::int32_t>(written >> (32 * half)), now_};
      }
    }
  }
  const Write made{line_, family.origin};
  memory.writes[made] = now_;
  family.known = Unknown{.write = made, .when = now_};
  memory.data = ++last_data_;
  family.told = now_;
  if (is_of_all) {
    family.unread.reset();
  }
}

/// Of what is written nobody knows more than that.
void Worlds::write_through(const Tensor& tensor, std::int64_t value) {
  const auto counted = [=](std::int64_t, std::size_t index, std::size_t) {
    return value + static_cast<std::int64_t>(index);
  };
  write(tensor, tensor.places, counted, false);
  Memory& memory = *tensor.family->memory;
  memory.data = ++last_data_;
  if (memory.is_watched && !tensor.places.empty()) {
    unaudited_ += memory.unaudited.insert({line_, tensor.family->origin}).second ? 1U : 0U;
  }
}

}  // namespace byre::test
