// SPDX-License-Identifier: BSL-1.0
/// The allocation header: what all buffers that share some data share. It carries the share word
/// from birth, so no lazy clone is ever the first, and knows how its data is written and released.
#pragma once

#include <byre/checks/detail/write_trap.hpp>
#include <byre/cow/share_word.hpp>
#include <byre/memory/allocator.hpp>
#include <byre/sync/boost.hpp>

#include <cstddef>
#include <cstdint>

namespace byre::inline v0 {

/// Where data came from, which decides how it is released and whether it is written in place.
enum class Origin : std::uint8_t {
  allocated,  ///< memory of an allocator
  adopted,    ///< foreign memory, handed over with a deleter
  borrowed,   ///< foreign memory that its lender takes back: lazy clones copy
  aliased,    ///< foreign memory with a deleter, which others may write too: lazy clones copy
  mapped,     ///< a file mapped read-only: no write goes to it
  paged,    ///< memory in pages, from paged_allocator(): a write to it, while shared, copies pages
  overlay,  ///< such pages, or those of a mapped file, as one writer sees them
};

/// Whether a write, where it may not be in place, copies pages one by one.
constexpr bool is_in_pages(Origin origin) noexcept {
  return origin == Origin::paged || origin == Origin::overlay || origin == Origin::mapped;
}

/// Whether code outside byre may hold pointers to the memory. A mapped file is left out: it is read-only.
constexpr bool is_foreign(Origin origin) noexcept {
  return origin == Origin::adopted || origin == Origin::borrowed || origin == Origin::aliased;
}

namespace cow {

/// Subclasses hold what an origin needs.
template <sync::Sync Sync>
class basic_header {
 public:
  /// What a new header says of its data.
  struct Description {
    void* data;
    std::size_t nbytes;
    std::size_t capacity;  ///< bytes that may be used without moving
    Allocator* allocator;  ///< of the data, or for the copies of it
    Origin origin;
    bool read_only = false;                       ///< a write copies, even by the last owner
    CopiesEnd copies_end = CopiesEnd::on_return;  ///< if the origin is `allocated`
  };

  /// Releases the data and the header.
  using Release = void (*)(basic_header&) noexcept;

  basic_header(const Description& description, Release how_to_release) noexcept
      : share_(description.read_only),
        data_(description.data),
        nbytes_(description.nbytes),
        capacity_(description.capacity),
        allocator_(description.allocator),
        release_(how_to_release),
        origin_(description.origin),
        read_only_(description.read_only),
        shareable_(description.origin != Origin::borrowed && description.origin != Origin::aliased),
        ordinary_(description.origin == Origin::allocated &&
                  description.copies_end == CopiesEnd::on_return),
        process_(Sync::process_number()) {}
  /// Of no data: what a buffer without bytes points to, so that no access has to ask whether there
  /// are any. Never owned, never released.
  constexpr explicit basic_header(NoOwner nobody) noexcept
      : share_(nobody),
        data_(nullptr),
        nbytes_(0),
        capacity_(0),
        allocator_(nullptr),
        release_(nullptr),
        origin_(Origin::allocated),
        read_only_(false),
        shareable_(false),
        ordinary_(false),
        process_(0) {}

  basic_header(const basic_header&) = delete;
  basic_header& operator=(const basic_header&) = delete;

  basic_share_word<Sync>& share() noexcept { return share_; }
  const basic_share_word<Sync>& share() const noexcept { return share_; }

  void* data() const noexcept { return data_.get(); }
  std::size_t nbytes() const noexcept { return nbytes_.get(); }
  std::size_t capacity() const noexcept { return capacity_.get(); }
  Allocator& allocator() const noexcept { return *allocator_.get(); }
  Origin origin() const noexcept { return origin_.get(); }
  bool is_read_only() const noexcept { return read_only_.get(); }
  /// Not the address decides: a program may have several libraries that contain byre.
  bool has_data() const noexcept { return release_.get() != nullptr; }
  /// Whether a lazy clone may own the data too: not if it is borrowed or aliased, or none.
  bool is_shareable() const noexcept { return shareable_.get(); }

  bool has_pages() const noexcept { return is_in_pages(origin()); }

  /// Whether copies out of it end, as those do not that other threads had under way when the process
  /// forked.
  bool is_of_this_process() const noexcept { return process_.get() == Sync::process_number(); }

  /// Whether the data is an allocator's, and each owner but the last copies all of it before it writes.
  bool is_ordinary() const noexcept { return ordinary_.get() && is_of_this_process(); }

  /// By a sole owner. At most the capacity.
  void set_nbytes(std::size_t nbytes) noexcept { nbytes_.set(nbytes); }

  bool is_released_by(Release how_to_release) const noexcept {
    return release_.get() == how_to_release;
  }

  /// By whoever the share word told to: nobody else is left.
  void release() noexcept {
    trap_.releases();
    release_.get()(*this);
  }

  /// Whether its whole pages, if it has any, are byre's own: not where the allocator is for copies alone.
  bool may_be_guarded() const noexcept {
    return origin() == Origin::paged || origin() == Origin::overlay ||
           (origin() == Origin::allocated && allocator().maps_pages());
  }

  /// What a checked build is told, to find writes to shared data; see write_trap.hpp. By an owner that is
  /// about to give the data another.
  void becomes_shared(CallSite site) noexcept { trap_.becomes_shared(*this, site); }
  /// By the only owner, which takes a pointer to write.
  void becomes_unique(CallSite site) noexcept { trap_.becomes_unique(*this, site); }
  /// By an owner that is about to copy the data or leave it.
  void compares(CallSite site) const noexcept { trap_.compares(*this, site); }
  /// By a copier that may write the data, which has no owner any more. Thread-safe.
  void becomes_writable() noexcept { trap_.becomes_writable(); }

 protected:
  ~basic_header() = default;

 private:
  template <class Value>
  using Plain = typename Sync::template Plain<Value>;

  basic_share_word<Sync> share_;
  Plain<void*> data_;
  Plain<std::size_t> nbytes_;
  // Constant, and still a checker's to watch: nothing may be read after one's own last step.
  const Plain<std::size_t> capacity_;
  const Plain<Allocator*> allocator_;
  const Plain<Release> release_;
  const Plain<Origin> origin_;
  const Plain<bool> read_only_;
  const Plain<bool> shareable_;
  const Plain<bool> ordinary_;
  const Plain<std::uint32_t> process_;  // that it was made in
  [[no_unique_address]] detail::WriteTrap trap_;
};

/// A header of no data.
template <sync::Sync Sync>
struct basic_no_data final : basic_header<Sync> {
  constexpr basic_no_data() noexcept : basic_header<Sync>(NoOwner{}) {}
};

template <sync::Sync Sync>
inline basic_header<Sync>& no_data() noexcept {
  return Sync::template no_destructor<basic_no_data<Sync>>();
}

}  // namespace cow
/// Defined in header.cpp.
template <>
BYRE_API cow::basic_no_data<sync::Boost>
    sync::detail::TheOne<cow::basic_no_data<sync::Boost>>::object;

}  // namespace byre::inline v0
