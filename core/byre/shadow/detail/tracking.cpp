// SPDX-License-Identifier: BSL-1.0
#include <byre/error/detail/assert.hpp>
#include <byre/shadow/detail/report_book.hpp>
#include <byre/shadow/detail/shadow_storage.hpp>

#include <memory>
#include <new>
#include <tuple>
#include <utility>

namespace byre::inline BYRE_ABI::shadow {

void intrusive_ptr_add_ref(ShadowStorage* shadow) noexcept {
  shadow->handles_.add();
}

void intrusive_ptr_release(ShadowStorage* shadow) noexcept {
  if (shadow->handles_.drop()) {
    delete shadow;
  }
}

namespace detail {
namespace {

enum class Step : std::uint8_t { read, begin_write, end_write };

ShadowStorage& family_in(TrackingState& state, ShadowStorage* family) noexcept {
  return family == nullptr ? state.default_family : *family;
}

/// A write that a family has not observed, with the facts that a report needs.
struct UnobservedWrite {
  WriteStamp stamp;
  const WriteRecords::Record* record;
  /// Whether the writing or the accessing family is the younger of the two: the reshape of the
  /// younger family separates them. Both are false for siblings.
  bool writer_is_reshaped;
  bool access_is_reshaped;
  bool is_suppressed;  ///< a file suppresses the call site of the write or the reshape

  UnobservedWrite(const TrackingState& state, WriteStamp unobserved,
                  const ShadowStorage& family) noexcept
      : stamp(unobserved),
        record(&state.records.at(unobserved.record())),
        accessing_reshape_(&family.reshape) {
    const auto writer = FamilyNumber::of_word(record->writer.value());
    const FamilyNumber accessing = family.family;
    const bool are_siblings =
        writer.number != 0 && accessing.number != 0 && writer.origin == accessing.origin;
    writer_is_reshaped = !are_siblings && writer.number > accessing.number;
    access_is_reshaped = !are_siblings && writer.number < accessing.number;
    is_suppressed =
        detail::is_suppressed(record->origin.write.site) || detail::is_suppressed(reshape().site);
  }

  /// The reshape that would separate the two families if it copied. A family is never made from a
  /// younger family. Therefore, if the reshape that made the younger family copied, neither family
  /// would read the other's writes. Siblings (families that were made from the same family) are
  /// separated by either reshape; the report names the reshape of the accessing family.
  const TensorSite& reshape() const noexcept {
    return writer_is_reshaped ? record->origin.reshape : *accessing_reshape_;
  }

  /// The write with the highest rank is reported. An unsuppressed write ranks above a suppressed
  /// one, then an error above a warning, then a later write above an earlier one.
  auto rank() const noexcept {
    return std::tuple(!is_suppressed, reshape().mode == ReshapeMode::error, stamp.generation());
  }

 private:
  const TensorSite* accessing_reshape_;
};

/// The write to report among those after `observed`, up to `last`. For a read, the unread write is
/// a candidate as well.
UnobservedWrite write_to_report(const TrackingState& state, const ShadowStorage& family,
                                WriteStamp observed, WriteStamp last, Step step) noexcept {
  UnobservedWrite unobserved(state, last, family);
  const auto consider = [&](WriteStamp earlier) noexcept {
    const UnobservedWrite other(state, earlier, family);
    unobserved = unobserved.rank() < other.rank() ? other : unobserved;
  };
  state.records.for_each_between(observed, last, consider);
  const WriteStamp unread = family.generation.unread();
  if (step == Step::read && unread != WriteStamp()) {
    consider(unread);
  }
  return unobserved;
}

/// Whether the family observed an earlier write of another family since it was made. If it did, the
/// program may use the family as a window on the written tensor, or as a snapshot that the program
/// compares with that tensor after each write.
bool observed_other_families(const TrackingState& state, const ShadowStorage& family,
                             WriteStamp observed, WriteStamp write) noexcept {
  return observed != family.observed_at_first && observed.generation() < write.generation() &&
         FamilyNumber::of_word(state.records.at(observed.record()).writer.value()).number !=
             family.family.number;
}

Violation violation_of(const TrackingState& state, const UnobservedWrite& unobserved,
                       const Access& access, Step step) noexcept {
  const CallSite site = interned_site(access.site);
  return {.reshape = unobserved.reshape(),
          .write = unobserved.record->origin.write,
          .access = {.site = site.line == 0 ? CallSite{site.file, access.site.line} : site,
                     .shape = Shape(access.sizes)},
          .access_writes = step != Step::read,
          .untracked_escapes = state.escapes.value(),
          .first_escape = site_at(static_cast<SiteId>(state.first_escape.value()))};
}

/// Reports that a read or a write missed the writes after `observed`, up to `last`. A reported read
/// observes them. A suppressed read does not observe them, so that the next unsuppressed read is
/// reported. A write leaves them unread, unless it writes all elements.
void report_unobserved(const TrackingState& state, ShadowStorage& family, WriteStamp observed,
                       WriteStamp last, const Access& access, Step step) {
  const UnobservedWrite unobserved = write_to_report(state, family, observed, last, step);
  const bool is_suppressed =
      unobserved.is_suppressed || thread_is_suppressed() || detail::is_suppressed(access.site);
  if (step == Step::begin_write || (step == Step::end_write && !access.replaces_all)) {
    // An unsuppressed unread write is not replaced by a suppressed one, nor an error by a warning.
    const WriteStamp before = family.generation.unread();
    if (before == WriteStamp() ||
        !(unobserved.rank() < UnobservedWrite(state, before, family).rank())) {
      family.generation.leave_unread(unobserved.stamp);
    }
  } else if (step == Step::read && !is_suppressed) {
    family.generation.observe_by_reading(last);
  }
  if (is_suppressed) {
    report_counts.suppressed.add();
    return;
  }
  report(violation_of(state, unobserved, access, step),
         {.writer_is_reshaped = unobserved.writer_is_reshaped,
          .observed_earlier_writes =
              unobserved.access_is_reshaped &&
              observed_other_families(state, family, observed, unobserved.stamp),
          .replaces = step != Step::read && access.replaces_all,
          .writer_reshape = unobserved.record->origin.reshape.site});
}

/// The record of a write by the family. If there is no memory for a new record, the record for
/// unknown call sites is used, which was allocated when the storage was linked or the family was
/// made.
WriteRecords::Record& record_for(TrackingState& state, const ShadowStorage& family,
                                 const Access& access) noexcept {
  auto* const found =
      state.records.find_or_add(WriteKey{&access.site, access.sizes, family.reshape});
  return found != nullptr ? *found
                          : *state.records.find_or_add(WriteKey{nullptr, {}, family.reshape});
}

void record_escape(TrackingState& state, const CallSite& site) noexcept {
  const bool is_first = report_counts.escapes.add() == 0;
  if (state.escapes.add() == 0) {
    state.first_escape.set(site_id(site));
  }
  if (is_first) {
    report_counts.first_escape.set(site_id(site));
  }
}

/// The call site at which a pointer for writing escaped before `reshape`, from the slot's tag. For
/// foreign or pinned memory the call site is unknown: returns `reshape`. nullopt if no pointer
/// escaped.
std::optional<CallSite> escape_before(const Storage& storage, const CallSite& reshape) noexcept {
  if (const auto tag = storage.slot()->tag()) {
    return site_at(*tag);
  }
  return is_foreign(storage.origin()) || storage.is_pinned() ? std::optional(reshape)
                                                             : std::nullopt;
}

/// Allocates the record for unknown call sites, so that a write of a family that `reshape` made can
/// be recorded even if memory is exhausted.
void preallocate_record(TrackingState& state, const TensorSite& reshape) {
  if (state.records.find_or_add(WriteKey{nullptr, {}, reshape}) == nullptr) {
    throw std::bad_alloc();
  }
}

/// The tracking state of the storage, which is made if it does not exist. Throws std::bad_alloc if
/// memory is exhausted.
TrackingState& find_or_make_state(const Storage& storage, const CallSite& reshape) {
  if (TrackingState* const state = tracking_state_of(storage)) {
    return *state;
  }
  auto made = std::make_unique<TrackingState>();
  const TrackingState* const mine = made.get();
  preallocate_record(*made, {});
  const auto before = escape_before(storage, reshape);
  auto& state = static_cast<TrackingState&>(storage.slot()->attach(std::move(made)));
  if (before && &state == mine) {
    record_escape(state, *before);
  }
  return state;
}

}  // namespace

ShadowHandle link_by_reshape(const Storage& storage, ShadowStorage* origin, ReshapeMode mode,
                             const Access& from, std::span<const std::int64_t> to_sizes) {
  BYRE_ASSERT(tracks(mode), "cannot link view families: the mode does not track");
  if (!storage) {
    return nullptr;
  }
  apply_environment();
  const TensorSite reshape{.site = interned_site(from.site),
                           .shape = Shape(to_sizes),
                           .from = Shape(from.sizes),
                           .mode = mode};
  ShadowStorage* made = nullptr;
  try {
    TrackingState& state = find_or_make_state(storage, from.site);
    preallocate_record(state, reshape);
    const ShadowStorage& out_of = family_in(state, origin);
    const auto number = static_cast<std::uint32_t>(1 + state.families.add());
    made = new ShadowStorage(out_of, {number, out_of.family.number}, reshape);
  } catch (const std::bad_alloc&) {
    throw OutOfMemory(sizeof(TrackingState) + sizeof(ShadowStorage),
                      "heap, for tracking a storage and its view families");
  }
  report_counts.reshapes.add();
  return {made, false};
}

void record_read(const Storage& storage, ShadowStorage* family, const Access& access) {
  if (TrackingState* const state = tracking_state_of(storage)) {
    ShadowStorage& reading = family_in(*state, family);
    const WriteStamp observed = reading.generation.observed();
    if (const auto unobserved = reading.generation.stale_or_unread(state->generation)) {
      report_unobserved(*state, reading, observed, *unobserved, access, Step::read);
    }
  }
}

void begin_write(const Storage& storage, ShadowStorage* family, const Access& access) {
  if (TrackingState* const state = tracking_state_of(storage)) {
    ShadowStorage& writing = family_in(*state, family);
    const WriteStamp observed = writing.generation.observed();
    if (const auto last = writing.generation.stale(state->generation)) {
      writing.generation.observe(*last);
      report_unobserved(*state, writing, observed, *last, access, Step::begin_write);
    }
  }
}

void end_write(const Storage& storage, ShadowStorage* family, const Access& access) {
  TrackingState* const state = tracking_state_of(storage);
  if (state == nullptr) {
    if (access.escapes && is_tracking()) {
      storage.slot()->set_tag(site_id(access.site));
    }
    return;
  }
  ShadowStorage& writing = family_in(*state, family);
  if (access.escapes) {
    record_escape(*state, access.site);
  }
  WriteRecords::Record& record = record_for(*state, writing, access);
  record.writer.set(writing.family.word());
  const WriteStamp observed = writing.generation.observed();
  const auto last =
      state->records.write(writing.generation, state->generation, WriteRecords::id_of(record));
  if (access.replaces_all) {
    writing.generation.forget_unread();
  }
  if (last) {  // another family wrote since begin_write
    report_unobserved(*state, writing, observed, *last, access, Step::end_write);
  }
}

void mark_synced(const Storage& storage, ShadowStorage* family) noexcept {
  if (TrackingState* const state = tracking_state_of(storage)) {
    auto& synced = family_in(*state, family).generation;
    synced.observe_by_reading(synced.stale(state->generation).value_or(WriteStamp()));
  }
}

}  // namespace detail
}  // namespace byre::inline BYRE_ABI::shadow
