// SPDX-License-Identifier: BSL-1.0
#include <byre/error/detail/assert.hpp>
#include <byre/shadow/backtrace.hpp>
#include <byre/shadow/environment.hpp>
#include <byre/shadow/place.hpp>
#include <byre/shadow/report_book.hpp>
#include <byre/shadow/silence.hpp>
#include <byre/shadow/tracking.hpp>
#include <byre/shadow/unaudited.hpp>

#include <memory>
#include <new>
#include <tuple>
#include <utility>

namespace byre::inline v0::shadow {
namespace {

enum class Kind : bool { read, write };

Place place_of(const Access& access, const ShadowStorage& family) noexcept {
  return {.site = access.site, .shape = Shape(access.sizes), .came_from = family.reshape()};
}

/// Of a write: most are at the line of the family's last one, whose place needs no looking up.
PlaceId id_of_write(const Lineage& lineage, const ShadowStorage& family,
                    const Access& access) noexcept {
  const PlaceId last = family.generation.last_place(lineage.writes.generation);
  return is_of_access(last, access.site, family.reshape()) && !backtraces_are_kept()
             ? last
             : place_id(place_of(access, family));
}

/// Of an access that is reported, with the sizes it has this time.
Place reported_place(const Access& access, const ShadowStorage& family, PlaceId id) noexcept {
  Place reported = place_of(access, family);
  reported.site = place(id).is_known() ? place(id).site : kept(access.site);
  return reported;
}

/// A write that a family does not know of, as a report would have it.
struct Unknown {
  WriteMark write;
  Parting parting;
  bool is_listed;  ///< the write or the reshape is in a list of what is silenced

  Unknown(WriteMark unknown, const ShadowStorage& family) noexcept
      : write(unknown),
        parting(parting_of(family.reshape(), place(unknown.place()).came_from)),
        is_listed(detail::is_listed(place(unknown.place())) ||
                  detail::is_listed(place(parting.reshape))) {}

  /// Which of several is told: one that is not silenced, that is thrown, that is the last.
  auto rank() const noexcept {
    return std::tuple(!is_listed, place(parting.reshape).mode == ReshapeMode::error,
                      write.generation());
  }
};

/// Of the writes that the family does not know of, up to `last`, the one to tell. A read is also to be
/// told of what was not read before them.
Unknown unknown_to(const Lineage& lineage, const ShadowStorage& family, WriteMark last,
                   Kind kind) noexcept {
  Unknown told(last, family);
  const auto consider = [&](WriteMark earlier) noexcept {
    const Unknown other(earlier, family);
    told = told.rank() < other.rank() ? other : told;
  };
  lineage.writes.for_each_unknown(family.generation, last, consider);
  const WriteMark unread = family.generation.unread();
  if (kind == Kind::read && unread != WriteMark()) {
    consider(unread);
  }
  return told;
}

/// Whether the family saw an earlier write of another since it was made: it may be a window on what is
/// written, or a snapshot that is compared with that each time.
bool follows(const ShadowStorage& family, WriteMark write) noexcept {
  const WriteMark known = family.generation.known();
  return known != family.known_at_first() && known.generation() < write.generation() &&
         place(known.place()).came_from != family.reshape();
}

Advice advice_for(const Unknown& told, const ShadowStorage& family, const Access& access,
                  Kind kind) noexcept {
  if (kind == Kind::write && access.is_of_all) {
    return Advice::nothing;
  }
  if (told.parting.writer_is_reshaped) {
    return Advice::view;
  }
  return told.parting.access_is_reshaped && follows(family, told.write) ? Advice::view_or_clone
                                                                        : Advice::reshape_and_clone;
}

/// Before a write the family is told in any case, and has not read what it was told of. What is not
/// silenced is not forgotten for what is, nor what is thrown for what is not.
void tell_before_a_write(ShadowStorage& family, WriteMark last, const Unknown& told) noexcept {
  const WriteMark before = family.generation.unread();
  const bool keeps = before != WriteMark() && told.rank() < Unknown(before, family).rank();
  family.generation.learn_by_writing(last, keeps ? before : told.write);
}

/// Tells the family of the writes up to `last`, and people of the access that did not know of them. A
/// silenced read leaves the family untold, as nobody was: the next one that is not silenced is told.
void disagree(const Lineage& lineage, ShadowStorage& family, WriteMark last, const Access& access,
              Kind kind) {
  const Unknown told = unknown_to(lineage, family, last, kind);
  const PlaceId accessed = place_id(place_of(access, family));
  const Violation violation{.reshape = place(told.parting.reshape),
                            .write = place(told.write.place()),
                            .access = reported_place(access, family, accessed),
                            .access_writes = kind == Kind::write,
                            .advice = advice_for(told, family, access, kind),
                            .unaudited = lineage.escapes.count(),
                            .reshape_backtrace = backtrace_of(told.parting.reshape),
                            .write_backtrace = backtrace_of(told.write.place()),
                            .access_backtrace = backtrace_of(accessed)};
  const bool is_listed = told.is_listed || detail::is_listed(violation.access);
  const bool is_silenced = is_listed || detail::thread_is_silent();
  if (kind == Kind::write) {
    tell_before_a_write(family, last, told);
  } else if (!is_silenced) {
    family.generation.learn_by_reading(last);
  } else if (told.is_listed || place(accessed).is_known()) {
    family.generation.silence_read(last, told.is_listed ? 0 : accessed);
  }
  if (is_silenced) {
    detail::count_silenced();
  } else {
    detail::report(violation);
  }
}

/// Whether a list silenced the same before: lists only ever grow.
bool is_silenced_again(const ShadowStorage& family, WriteMark write,
                       const Access& access) noexcept {
  const auto where = family.generation.silenced_read(write);
  return where && (*where == 0 || is_of_access(*where, access.site, family.reshape()));
}

/// Who had the memory before may have pointers to it.
bool is_foreign(const Storage& storage) noexcept {
  return storage.origin() == Origin::adopted || storage.origin() == Origin::borrowed;
}

/// Where raw pointers to a storage left that `reshape` would be the first watched one of.
class EscapesBefore {
 public:
  EscapesBefore(const Storage& storage, PlaceId reshape) noexcept
      : trail_(storage.noted()), foreign_(is_foreign(storage)), reshape_(reshape) {}

  template <class Visit>
  void for_each(const Visit& visit) const {
    for_each_place(trail_, visit);
    if (foreign_) {
      visit(reshape_);
    }
  }

 private:
  TrailId trail_;
  bool foreign_;
  PlaceId reshape_;
};

struct LineageOf {
  Lineage* lineage;
  bool is_new;
};

/// The lineage has escaped pointers from before when others find it.
LineageOf lineage_made_for(const Storage& storage, const EscapesBefore& before) {
  if (Lineage* const present = lineage_of(storage)) {
    return {present, false};
  }
  std::unique_ptr<Lineage> made(new (std::nothrow) Lineage);
  if (made == nullptr) {
    throw OutOfMemory(sizeof(Lineage), "heap, for the lineage of a storage");
  }
  before.for_each([&](PlaceId place) { made->escapes.add(place); });
  const Lineage* const mine = made.get();
  Lineage* const attached = as_lineage(storage.attach(std::move(made)));
  if (attached == nullptr) {
    throw InvalidArgument(
        format_text("reshape: something else than byre's is attached to the storage, where a "
                    "watched reshape needs its place. Reshape a clone(), or in mode copy or "
                    "alias."));
  }
  return {attached, attached == mine};
}

}  // namespace

void intrusive_ptr_add_ref(ShadowStorage* shadow) noexcept {
  shadow->handles_.add();
}

void intrusive_ptr_release(ShadowStorage* shadow) noexcept {
  if (shadow->handles_.drop()) {
    delete shadow;
  }
}

ShadowHandle link_by_reshape(const Storage& storage, ShadowStorage* origin, ReshapeMode mode,
                             const Access& from, std::span<const std::int64_t> to_sizes) {
  BYRE_ASSERT(watches(mode), "a reshape that is not watched was to link two families of views");
  if (!storage) {
    return nullptr;
  }
  detail::heed_environment();
  const PlaceId came_from = origin == nullptr ? 0 : origin->reshape();
  const PlaceId reshape =
      place_id(reshape_place(from.site, Shape(from.sizes), Shape(to_sizes), mode, came_from));
  const EscapesBefore before(storage, reshape);
  const auto [lineage, is_new] = lineage_made_for(storage, before);
  if (is_new) {
    // Now: if it fails below, the storage is no longer new.
    before.for_each([](PlaceId place) {
      detail::count_unaudited();
      detail::count_escape_at(place);
    });
  }
  auto* const made = new (std::nothrow) ShadowStorage(lineage->family(origin), reshape);
  if (made == nullptr) {
    throw OutOfMemory(sizeof(ShadowStorage), "heap, for a shadow storage");
  }
  detail::count_reshape();
  return {made, false};
}

void detail::read_tracked(Lineage& lineage, ShadowStorage& family, const Access& access) {
  if (const auto unread = family.generation.unread_write(lineage.writes.generation)) [[unlikely]] {
    if (thread_is_silent() || is_silenced_again(family, *unread, access)) {
      count_silenced();
    } else {
      disagree(lineage, family, *unread, access, Kind::read);
    }
  }
}

void detail::expect_agreement(Lineage& lineage, ShadowStorage& family, const Access& access) {
  if (const auto unknown = family.generation.unknown_write(lineage.writes.generation))
      [[unlikely]] {
    disagree(lineage, family, *unknown, access, Kind::write);
  }
}

void detail::write_tracked(Lineage& lineage, ShadowStorage& family, const Access& access) {
  const PlaceId here = id_of_write(lineage, family, access);
  if (const auto unknown = lineage.writes.write(family.generation, here)) [[unlikely]] {
    disagree(lineage, family, *unknown, access, Kind::write);
    lineage.writes.write_anyway(family.generation, *unknown, here);
  }
  if (access.is_of_all) {
    family.generation.forget_unread();
  }
}

void detail::written_tracked(Lineage& lineage, ShadowStorage& family, const Access& access) {
  try {
    write_tracked(lineage, family, access);
  } catch (const ReshapeViolation&) {
    // It was told. Not tried again: who writes in between would have it thrown once more, and lost.
    const PlaceId here = id_of_write(lineage, family, access);
    lineage.writes.write_anyway(family.generation, family.generation.known(), here);
    if (access.is_of_all) {
      family.generation.forget_unread();
    }
    throw;
  }
}

void detail::escape_tracked(Lineage& lineage, ShadowStorage& family) noexcept {
  const PlaceId write = family.generation.known().place();
  if (write != family.last_escape) {
    family.last_escape = write;
    if (lineage.escapes.add(write)) {
      count_unaudited();
    }
  }
  count_escape_at(write);
}

constinit thread_local detail::NotedEscape detail::last_noted_escape;

bool detail::is_of_nobody_s_concern(const Storage& storage) noexcept {
  return !storage.has_attachment() && !is_watching();
}

void detail::note_escape(const Storage& storage, const Access& access) noexcept {
  if (!is_watching()) {
    return;
  }
  const TrailId present = storage.noted();
  const TrailId trail = trail_with(present, access.site, access.sizes);
  if (trail != present) {
    storage.note(present, trail);
  }
  last_noted_escape = {trail, access.site};
}

void detail::rejoin_tracked(Lineage& lineage, ShadowStorage& family) noexcept {
  if (const auto unknown = family.generation.unknown_write(lineage.writes.generation)) {
    family.generation.learn(*unknown);
  }
  family.generation.forget_unread();
}

}  // namespace byre::inline v0::shadow
