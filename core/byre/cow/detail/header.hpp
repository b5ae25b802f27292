// SPDX-License-Identifier: BSL-1.0
/// The header of data: the one object to which all buffers that share the data point. It holds the
/// share word, the size and the origin of the data, and the function that releases data and header.
///
/// The share word exists from the allocation on, so the first lazy clone needs no special step.
#pragma once

#include <byre/checks/detail/write_trap.hpp>
#include <byre/cow/share_word.hpp>
#include <byre/memory/allocator.hpp>
#include <byre/observe/detail/ledger.hpp>
#include <byre/sync/default.hpp>

#include <cstddef>
#include <cstdint>

namespace byre::inline BYRE_ABI {

/// Where data came from. The origin decides how the data is released and whether it is written in
/// place.
enum class Origin : std::uint8_t {
  allocated,  ///< memory of an allocator
  adopted,    ///< foreign memory with a deleter, written only by the buffer and its lazy clones
  borrowed,   ///< foreign memory without a deleter, which the caller releases: lazy clones copy it
  aliased,    ///< foreign memory with a deleter, which other code may write: lazy clones copy it
  mapped,     ///< a file mapped read-only: never written
  paged,      ///< pages of paged_allocator(): a write to shared data copies single pages
  overlay,    ///< a private mapping of such pages or of a mapped file, made for one writer
};

/// Whether a write that may not be in place copies single pages.
constexpr bool is_in_pages(Origin origin) noexcept {
  return origin == Origin::paged || origin == Origin::overlay || origin == Origin::mapped;
}

/// Whether code outside byre may hold pointers to the memory and write it. False for a mapped file,
/// which is read-only.
constexpr bool is_foreign(Origin origin) noexcept {
  return origin == Origin::adopted || origin == Origin::borrowed || origin == Origin::aliased;
}

/// The sum of memory_report() that contains the bytes of data of an origin.
constexpr stats::detail::Held held_as(Origin origin) noexcept {
  using stats::detail::Held;
  switch (origin) {
    case Origin::allocated:
      return Held::allocated;
    case Origin::adopted:
      return Held::adopted;
    case Origin::mapped:
      return Held::mapped;
    case Origin::paged:
      return Held::paged;
    case Origin::overlay:
      return Held::overlay;
    case Origin::borrowed:
    case Origin::aliased:
      break;
  }
  return Held::nowhere;
}

namespace cow {

/// Base of the headers of all origins; a subclass adds what its origin needs. Thread-safety: all
/// owners and copiers may call const members, share() and becomes_writable() at once. The comment
/// of any other member states which owner may call it. Nothing throws.
template <sync::Sync Sync>
class basic_header {
 public:
  /// The properties of the data of a new header.
  struct Description {
    void* data;
    std::size_t nbytes;
    std::size_t capacity;  ///< the size up to which the data can grow in place
    Allocator* allocator;  ///< allocates copies of the data, and the data if origin is `allocated`
    Origin origin;
    bool read_only = false;                       ///< a write copies, even by the last owner
    CopiesEnd copies_end = CopiesEnd::on_return;  ///< used only if origin is `allocated`
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
                  description.copies_end == CopiesEnd::on_return &&
                  description.allocator->budget() == nullptr),
        process_(Sync::process_number()) {}
  /// The header to which empty buffers point, so that accesses need not test for a null pointer. It
  /// has no data and no owner, and is never released.
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
  /// False for the header of empty buffers. Addresses are not compared: each library that links
  /// byre statically has an empty header of its own.
  bool has_data() const noexcept { return release_.get() != nullptr; }
  /// Whether lazy clones may share the data. False if the data is borrowed or aliased, and for the
  /// header of empty buffers.
  bool is_shareable() const noexcept { return shareable_.get(); }

  bool has_pages() const noexcept { return is_in_pages(origin()); }

  /// False in a child of fork() for a header of the parent: copies that other threads of the parent
  /// had begun never end in the child.
  bool is_of_this_process() const noexcept { return process_.get() == Sync::process_number(); }

  /// Whether a write to shared data needs only claim() and a copy of all bytes. True if the data is
  /// memory of an allocator without a budget whose copies end before they return, and if the header
  /// was created in this process.
  bool is_ordinary() const noexcept { return ordinary_.get() && is_of_this_process(); }

  /// The data in a report to observers.
  stats::detail::DataFacts facts() const noexcept {
    return {.header = this,
            .data = data(),
            .nbytes = capacity(),
            .held = held_as(origin()),
            .use_count = [](const void* header) noexcept {
              return static_cast<const basic_header*>(header)->share().use_count();
            }};
  }

  /// Changes the size. Called by the only owner, with at most the capacity.
  void set_nbytes(std::size_t nbytes) noexcept { nbytes_.set(nbytes); }

  bool is_released_by(Release how_to_release) const noexcept {
    return release_.get() == how_to_release;
  }

  /// Releases the data and this header. Called once, by the owner or copier that the share word
  /// told to free the data.
  void release() noexcept {
    trap_.disarm();
    release_.get()(*this);
  }

  /// Whether a checked build may write-protect the pages of the data. True if byre mapped the
  /// pages. Foreign data is excluded: its allocator allocates only copies of it.
  bool may_be_guarded() const noexcept {
    return origin() == Origin::paged || origin() == Origin::overlay ||
           (origin() == Origin::allocated && allocator().maps_pages());
  }

  // The events by which a checked build finds writes to shared data: see write_trap.hpp.

  /// Called by an owner that is about to add another.
  void becomes_shared(CallSite site) noexcept { trap_.becomes_shared(*this, site); }
  /// Called by the only owner when it gets a pointer to write.
  void becomes_unique(CallSite site) noexcept { trap_.becomes_unique(*this, site); }
  /// Called by an owner that is about to copy or drop the data.
  void check_unchanged(CallSite site) const noexcept { trap_.check_unchanged(*this, site); }
  /// Called by a copier that may write the data because no owner is left.
  void becomes_writable() noexcept { trap_.becomes_writable(); }

 protected:
  ~basic_header() = default;

 private:
  template <class Value>
  using Plain = typename Sync::template Plain<Value>;

  basic_share_word<Sync> share_;
  Plain<void*> data_;
  Plain<std::size_t> nbytes_;
  // Constant, but Plain, so that the model checker reports a read of these members by an owner or
  // copier that has given up the data.
  const Plain<std::size_t> capacity_;
  const Plain<Allocator*> allocator_;
  const Plain<Release> release_;
  const Plain<Origin> origin_;
  const Plain<bool> read_only_;
  const Plain<bool> shareable_;
  const Plain<bool> ordinary_;
  const Plain<std::uint32_t> process_;  // the process that created the header
  [[no_unique_address]] detail::WriteTrap trap_;
};

/// The header of empty buffers.
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
BYRE_API cow::basic_no_data<sync::Default>
    sync::detail::Singleton<cow::basic_no_data<sync::Default>>::object;

}  // namespace byre::inline BYRE_ABI
