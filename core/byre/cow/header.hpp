// SPDX-License-Identifier: BSL-1.0
/// The allocation header: what all buffers that share some data share. It carries the share word
/// from birth, so no lazy clone is ever the first, and knows how its data is written and released.
#pragma once

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
  mapped,     ///< a file mapped read-only: every write copies
};

namespace cow {

enum class HeaderSite : std::uint8_t { needs_claim, mark_shared, mark_written };

inline constexpr sync::SiteTable<HeaderSite, 3> header_sites{{{
    {"header.needs_claim", sync::Operation::load, std::memory_order::relaxed,
     "nothing: is_unique, just before it, orders it with the marks of the other owners",
     "relaxed is the weakest order; left out, a mapped file is written in place"},
    {"header.mark_shared", sync::Operation::store, std::memory_order::relaxed,
     "nothing: the word's releases publish it to whoever is alone later",
     "relaxed is the weakest order; left out, no steal is counted"},
    {"header.mark_written", sync::Operation::store, std::memory_order::relaxed,
     "nothing: only a sole owner clears the mark",
     "relaxed is the weakest order; left out, every later write counts as a steal"},
}}};

/// `Share` is basic_share_word, or basic_share_lock. Subclasses hold what an origin needs.
template <sync::Sync Sync, template <class> class Share>
class basic_header {
 public:
  /// What a new header says of its data.
  struct Description {
    void* data;
    std::size_t nbytes;
    std::size_t capacity;  ///< bytes that may be used without moving
    Allocator* allocator;  ///< of the data, or for the copies of it
    Origin origin;
    bool read_only = false;  ///< a write copies, even by the last owner
  };

  /// Releases the data and the header.
  using Release = void (*)(basic_header&) noexcept;

  basic_header(const Description& description, Release how_to_release) noexcept
      : data_(description.data),
        nbytes_(description.nbytes),
        capacity_(description.capacity),
        allocator_(description.allocator),
        release_(how_to_release),
        needs_claim_(description.read_only ? 1 : 0),
        origin_(description.origin),
        read_only_(description.read_only) {}
  basic_header(const basic_header&) = delete;
  basic_header& operator=(const basic_header&) = delete;

  Share<Sync>& share() noexcept { return share_; }
  const Share<Sync>& share() const noexcept { return share_; }

  void* data() const noexcept { return data_.get(); }
  std::size_t nbytes() const noexcept { return nbytes_.get(); }
  std::size_t capacity() const noexcept { return capacity_; }
  Allocator& allocator() const noexcept { return *allocator_; }
  Origin origin() const noexcept { return origin_; }
  bool is_read_only() const noexcept { return read_only_; }

  /// By an owner: true iff it may write at once, as it is alone with data that is not read-only and
  /// that was not lazily cloned since it was last written.
  bool is_plainly_owned() const noexcept {
    // Relaxed: is_unique orders it with every mark.
    return share_.is_unique() && needs_claim_.load(header_sites.at(
                                     HeaderSite::needs_claim, std::memory_order::relaxed)) == 0;
  }

  /// One more owner. Says in passing that the data was shared, so that the last owner's next write
  /// is known for the steal it is.
  void add_owner() noexcept {
    if (share_.add_owner()) {
      // Relaxed: the word's releases publish it.
      needs_claim_.store(1, header_sites.at(HeaderSite::mark_shared, std::memory_order::relaxed));
    }
  }

  /// By a sole owner, whose data is its own again.
  void mark_written() noexcept {
    // Relaxed: nobody else looks.
    needs_claim_.store(0, header_sites.at(HeaderSite::mark_written, std::memory_order::relaxed));
  }

  /// By a sole owner. At most the capacity.
  void set_nbytes(std::size_t nbytes) noexcept { nbytes_.set(nbytes); }

  /// By whoever the share word told to: nobody else is left.
  void release() noexcept { release_(*this); }

 protected:
  ~basic_header() = default;

 private:
  Share<Sync> share_;
  typename Sync::template Plain<void*> data_;
  typename Sync::template Plain<std::size_t> nbytes_;
  const std::size_t capacity_;
  Allocator* const allocator_;
  const Release release_;
  typename Sync::template Atomic<std::uint32_t> needs_claim_;
  const Origin origin_;
  const bool read_only_;
};

}  // namespace cow
}  // namespace byre::inline v0
