// SPDX-License-Identifier: BSL-1.0
/// Reads and writes, cell by cell, and what is told of them.
#include <algorithm>
#include <numeric>
#include <utility>

#include "worlds.hpp"

namespace byre::test {
namespace {

/// One after the other.
auto counted_from(std::int64_t value) {
  return [=](const Element&, std::size_t index) {
    return alike(value + static_cast<std::int64_t>(index));
  };
}

}  // namespace

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
Element Worlds::element_in(const Family& family, std::size_t place, std::size_t width) {
  Element element;
  const std::array<const Cells*, 2> worlds{&family.memory->cells, &family.copy};
  for (std::size_t world = 0; world < worlds.size(); ++world) {
    const Cells& cells = *worlds[world];
    const auto low = static_cast<std::uint32_t>(cells[place].value);
    const auto high = static_cast<std::uint32_t>(cells[place + width - 1].value);
    element.in[world] = width == 1 ? cells[place].value
                                   : static_cast<std::int64_t>(std::uint64_t{high} << 32 | low);
  }
  Accounts of_cells;
  for (std::size_t cell = place; cell < place + width; ++cell) {
    if (family.memory->cells[cell].value != family.copy[cell].value) {
      of_cells.push_back(family.copy[cell].account);
    }
  }
  element.account = of_cells.empty() ? Account() : std::ranges::min(of_cells);
  return element;
}

Elements Worlds::elements_of(const Tensor& tensor, const Places& places) {
  Elements elements;
  for (const std::size_t place : places) {
    elements.push_back(element_in(*tensor.family, place, tensor.width()));
  }
  return elements;
}

/// The cells as they are in a copy of the storage that is made now.
Worlds::Cells Worlds::parted(const Family& family) {
  Cells cells = family.copy;
  for (std::size_t cell = 0; cell < cells.size(); ++cell) {
    cells[cell].written = family.memory->cells[cell].written;
  }
  return cells;
}

void Worlds::read_all(const Tensor& tensor, std::int64_t wanted) {
  const bool is_on_device = tensor.type.is_on_device;
  const std::int64_t way = possible_way(wanted, is_on_device, tensor.type.dtype == DType::boolean);
  const bool is_lazy = way == way_by_lazy_clone || (way == way_by_to && !is_on_device) ||
                       (way == way_by_contiguous && tensor.layout.is_contiguous());
  tensor.family->memory->lazy_clones += is_lazy ? 1 : 0;
  if (tensor.places.empty() && !is_lazy) {
    return;
  }
  const std::size_t elements = tensor.places.size();
  const std::size_t in_a_row =
      tensor.layout.ndim() == 0 ? 1 : static_cast<std::size_t>(tensor.layout.sizes.back());
  const std::size_t times = way == way_by_indices    ? elements
                            : way == way_by_accessor ? elements / in_a_row
                                                     : 1;
  access(*tensor.family, cells_of(tensor.places, tensor.width()), Kind::observed, false, times);
}

void Worlds::access(const Tensor& tensor, Kind kind) {
  if (!tensor.places.empty()) {
    access(*tensor.family, cells_of(tensor.places, tensor.width()), kind);
  }
}

void Worlds::access(Family& family, const Places& cells, Kind kind, bool is_of_all,
                    std::uint64_t times) {
  const bool writes = kind == Kind::write;
  const bool is_unknown = std::ranges::any_of(
      family.memory->writes, [&](const auto& write) { return write.second > family.told; });
  const std::optional<Unknown> left = unread_by(family);
  std::optional<Unknown> of = is_unknown ? std::optional(unknown_to(family)) : std::nullopt;
  if (!writes && left && (!of || of->rank() < left->rank())) {
    of = left;
  }
  const bool is_silenced = of && (is_silent_ || of->is_listed || is_listed_line(line_));
  if (is_silenced) {
    silenced_ += times;
    silenced_reads_ += writes ? 0 : times;
  } else if (of) {
    tell(family, *of, kind, is_of_all);
    silenced_ += of->is_error ? silenced_reads_ : 0;
    reasons_.push_back(reason_of(family, cells, kind, !is_unknown));
    if (!writes) {
      family.heard = now_;
      family.heard_of = static_cast<std::uint32_t>(told_.size() - 1);
    }
  }
  if (!writes) {
    account_for(family, cells);
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

/// Of what a read meets, by who wrote each cell last; what the family wrote last itself, or was made
/// with, was accounted for then. By the cells and what people were told: not by the rule.
void Worlds::account_for(Family& family, const Places& cells) {
  using Why = Account::Why;
  for (const std::size_t cell : cells) {
    const int when = family.memory->cells[cell].written;
    if (when == family.copy[cell].written) {
      continue;
    }
    const Write& write = made_[static_cast<std::size_t>(when)];
    const bool is_silenced =
        is_silent_ || is_listed_line(line_) || unknown_of(family, write, when).is_listed;
    family.copy[cell].account = write.is_unseen        ? Account{Why::kept_pointer, write.line}
                                : family.heard >= when ? Account{Why::told, family.heard_of}
                                : is_silenced          ? Account{Why::silenced}
                                                       : Account{};
  }
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

void Worlds::write(const Tensor& tensor, const Places& places, const NewElement& element,
                   bool may_be_of_all) {
  if (places.empty()) {
    return;
  }
  Family& family = *tensor.family;
  Memory& memory = *family.memory;
  const bool is_of_all = may_be_of_all && places.size() * tensor.width() == memory.capacity;
  access(family, cells_of(places, tensor.width()), Kind::write, is_of_all);
  const Write made{line_, family.origin};
  set(tensor, places, element, made);
  memory.writes[made] = now_;
  family.known = Unknown{.write = made, .when = now_};
  memory.data = ++last_data_;
  family.told = now_;
  if (is_of_all) {
    family.unread.reset();
  }
}

/// In both worlds. Nobody is told.
void Worlds::set(const Tensor& tensor, const Places& places, const NewElement& element,
                 const Write& made) {
  ++now_;
  made_.resize(static_cast<std::size_t>(now_) + 1);
  made_.back() = made;
  Family& family = *tensor.family;
  const bool is_of_bool = tensor.type.dtype == DType::boolean;
  const std::array worlds{&family.memory->cells, &family.copy};
  for (std::size_t index = 0; index < places.size(); ++index) {
    const Element next = element(element_in(family, places[index], tensor.width()), index);
    for (std::size_t world = 0; world < worlds.size(); ++world) {
      const std::int64_t value = is_of_bool ? next.in[world] != 0 : next.in[world];
      for (std::size_t half = 0; half < tensor.width(); ++half) {
        (*worlds[world])[places[index] + half] = {static_cast<std::int32_t>(value >> (32 * half)),
                                                  now_, next.account};
      }
    }
  }
}

/// Of what is written nobody knows more than that.
void Worlds::write_through(std::size_t name, const Tensor& tensor, std::int64_t value) {
  write(tensor, tensor.places, counted_from(value), false);
  Memory& memory = *tensor.family->memory;
  memory.data = ++last_data_;
  if (!tensor.places.empty()) {
    const bool is_new = memory.unaudited.insert({line_, tensor.family->origin}).second;
    unaudited_ += memory.is_watched && is_new ? 1U : 0U;
  }
  kept_.insert_or_assign(name, Kept{tensor, line_, memory.lazy_clones});
}

/// The pointer is on the host, there are elements there, and they are still where they were, and not
/// shared with a lazy clone.
bool Worlds::may_write_kept(std::size_t name) const {
  const auto kept = kept_.find(name);
  const auto now = tensors_.find(name);
  return kept != kept_.end() && now != tensors_.end() &&
         now->second.family == kept->second.tensor.family &&
         now->second.family->memory->has_storage && !now->second.type.is_on_device &&
         now->second.family->memory->lazy_clones == kept->second.lazy_clones;
}

void Worlds::write_kept(const Kept& kept, std::int64_t value) {
  const Tensor& tensor = kept.tensor;
  set(tensor, tensor.places, counted_from(value), {kept.line, tensor.family->origin, true});
}

}  // namespace byre::test
