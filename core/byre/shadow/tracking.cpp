// SPDX-License-Identifier: BSL-1.0
#include <byre/error/assert.hpp>
#include <byre/shadow/backtrace.hpp>
#include <byre/shadow/environment.hpp>
#include <byre/shadow/place.hpp>
#include <byre/shadow/report_book.hpp>
#include <byre/shadow/silence.hpp>
#include <byre/shadow/tracking.hpp>

#include <memory>
#include <new>

namespace byre::inline v0::shadow {
namespace {

enum class Kind : bool { read, write };

Place place_of(const Access& access, const ShadowStorage& family) noexcept {
  return {.site = access.site, .shape = Shape(access.sizes), .came_from = family.reshape()};
}

/// Of a write: most are at the line of the family's last one, whose place needs no looking up.
PlaceId id_of_write(const Lineage& lineage, const ShadowStorage& family,
                    const Access& access) noexcept {
  const PlaceId last = family.generation.last_place(lineage.generation);
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

Advice advice_for(bool writer_is_reshaped, const Access& access, Kind kind) noexcept {
  if (kind == Kind::write && access.is_of_all) {
    return Advice::nothing;
  }
  return writer_is_reshaped ? Advice::view : Advice::reshape_and_clone;
}

/// Tells the family of a write. A silenced read leaves it untold, as nobody was: the next one that is
/// not silenced is told. A write tells it in any case, and leaves it with what it has not read.
void tell(ShadowStorage& family, WriteMark write, Kind kind, bool is_silenced) noexcept {
  if (kind == Kind::write) {
    family.generation.learn_by_writing(write);
  } else if (!is_silenced) {
    family.generation.learn_by_reading(write);
  }
}

/// Tells the family of a write, and people of the access that did not know of it.
void disagree(const Lineage& lineage, ShadowStorage& family, WriteMark write, const Access& access,
              Kind kind) {
  const PlaceId accessed = place_id(place_of(access, family));
  const Parting parting = parting_of(family.reshape(), place(write.place()).came_from);
  const Violation violation{.reshape = place(parting.reshape),
                            .write = place(write.place()),
                            .access = reported_place(access, family, accessed),
                            .access_writes = kind == Kind::write,
                            .advice = advice_for(parting.writer_is_reshaped, access, kind),
                            .unaudited = lineage.escapes.count(),
                            .reshape_backtrace = backtrace_of(parting.reshape),
                            .write_backtrace = backtrace_of(write.place()),
                            .access_backtrace = backtrace_of(accessed)};
  const bool is_silenced = detail::is_silenced(violation);
  tell(family, write, kind, is_silenced);
  if (is_silenced) {
    detail::count_silenced();
  } else {
    detail::report(violation);
  }
}

Lineage& lineage_made_for(const Storage& storage) {
  if (Lineage* const present = lineage_of(storage)) {
    return *present;
  }
  std::unique_ptr<Attachment> made(new (std::nothrow) Lineage);
  if (made == nullptr) {
    throw OutOfMemory(sizeof(Lineage), "heap, for the lineage of a storage");
  }
  Lineage* const attached = as_lineage(storage.attach(std::move(made)));
  if (attached == nullptr) {
    throw InvalidArgument(
        format_text("reshape: something else than byre's is attached to the storage, where a "
                    "watched reshape needs its place. Reshape a clone(), or in mode copy or "
                    "alias."));
  }
  return *attached;
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
  BYRE_ASSERT(mode == ReshapeMode::warn || mode == ReshapeMode::error,
              "a reshape that is not watched was to link two families of views");
  if (!storage) {
    return nullptr;
  }
  detail::heed_environment();
  const ShadowStorage& input = lineage_made_for(storage).family(origin);
  const PlaceId reshape =
      place_id(reshape_place(from.site, Shape(from.sizes), Shape(to_sizes), mode, input.reshape()));
  auto* const made = new (std::nothrow) ShadowStorage(input, reshape);
  if (made == nullptr) {
    throw OutOfMemory(sizeof(ShadowStorage), "heap, for a shadow storage");
  }
  detail::count_reshape();
  return {made, false};
}

void detail::read_tracked(Lineage& lineage, ShadowStorage& family, const Access& access) {
  if (const auto unread = family.generation.unread_write(lineage.generation)) [[unlikely]] {
    disagree(lineage, family, *unread, access, Kind::read);
  }
}

void detail::expect_agreement(Lineage& lineage, ShadowStorage& family, const Access& access) {
  if (const auto unknown = family.generation.unknown_write(lineage.generation)) [[unlikely]] {
    disagree(lineage, family, *unknown, access, Kind::write);
  }
}

void detail::write_tracked(Lineage& lineage, ShadowStorage& family, const Access& access) {
  const PlaceId here = id_of_write(lineage, family, access);
  if (const auto unknown = family.generation.write(lineage.generation, here)) [[unlikely]] {
    disagree(lineage, family, *unknown, access, Kind::write);
    family.generation.write_anyway(lineage.generation, *unknown, here);
  }
  if (access.is_of_all) {
    family.generation.forget_unread();
  }
}

void detail::escape_tracked(Lineage& lineage, ShadowStorage& family) noexcept {
  const PlaceId write = family.generation.known().place();
  if (write != family.last_escape && lineage.escapes.add(write)) {
    count_unaudited();
  }
  family.last_escape = write;
}

void detail::rejoin_tracked(Lineage& lineage, ShadowStorage& family) noexcept {
  if (const auto unknown = family.generation.unknown_write(lineage.generation)) {
    family.generation.learn(*unknown);
  }
  family.generation.forget_unread();
}

}  // namespace byre::inline v0::shadow
