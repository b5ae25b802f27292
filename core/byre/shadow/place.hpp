// SPDX-License-Identifier: BSL-1.0
/// Places: what a report says of a reshape or of an access. Each line is kept once for each reshape that
/// tensors come to it from, for good, and has a small number that fits into the mark of a write.
#pragma once

#include <byre/error/call_site.hpp>
#include <byre/shadow/mode.hpp>
#include <byre/shadow/tally.hpp>
#include <byre/shadow/write_mark.hpp>

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <optional>
#include <span>
#include <string>

namespace byre::inline v0::shadow {

/// The sizes of a tensor, in place. Of one with more dimensions than fit, the first ones.
class Shape {
 public:
  static constexpr std::size_t most_sizes = 6;

  constexpr Shape() noexcept = default;
  constexpr explicit Shape(std::span<const std::int64_t> sizes) noexcept
      : ndim_(static_cast<std::uint32_t>(sizes.size())) {
    std::ranges::copy(sizes.first(std::min(sizes.size(), most_sizes)), sizes_.begin());
  }

  std::size_t ndim() const noexcept { return ndim_; }
  std::span<const std::int64_t> sizes() const noexcept {
    return std::span(sizes_).first(std::min(ndim(), most_sizes));
  }
  bool has_more() const noexcept { return ndim_ > most_sizes; }

  friend constexpr bool operator==(const Shape&, const Shape&) noexcept = default;

 private:
  std::array<std::int64_t, most_sizes> sizes_{};
  std::uint32_t ndim_ = 0;
};

/// "[2, 3]", "[1, 2, 3, 4, 5, 6, ...]". Throws std::bad_alloc.
std::string to_string(const Shape& shape);

struct Place {
  CallSite site{};
  Shape shape{};  ///< of the tensor that was accessed, or that the reshape made, the first time
  Shape from{};   ///< of the tensor that was reshaped, the first time; an access has none
  /// The reshape that the family of the accessed tensor, or of the reshape's input, came out of; 0 for
  /// the family a storage begins with.
  PlaceId came_from = 0;
  std::optional<ReshapeMode> mode{};  ///< of a reshape, warn or error; an access has none

  bool is_known() const noexcept { return site.line != 0; }
};

/// True iff they are the same line of the same file, by name.
bool same_line(const CallSite& a, const CallSite& b) noexcept;

/// The number of the place: that of one with the same line, mode and reshape it came out of, whatever
/// its shapes. The name of its file is copied: the caller's may go away. If there is no memory for it,
/// or there are most_places others, one that says no line, but is of error mode if the reshape, or one
/// that it or the access came out of, was. Thread-safe; lock-free for a place that was met before,
/// unless backtraces are kept.
PlaceId place_id(const Place& place) noexcept;
/// The others of 20 bits are 0 and those without a line.
inline constexpr PlaceId most_places = WriteMark::max_place - 4;

/// The place of a number that place_id gave, for good; an unknown one for 0. Thread-safe; wait-free.
const Place& place(PlaceId id) noexcept;

/// True iff the number is that of an access at this line by a family that `reshape` made: what place_id
/// would give, without looking it up.
bool is_of_access(PlaceId id, const CallSite& site, PlaceId reshape) noexcept;

namespace detail {
/// A raw pointer to write left at the place; of places that are not known, or that there was no memory to
/// note, those are counted together. Thread-safe; lock-free, and wait-free once any is counted.
void count_escape_at(PlaceId id) noexcept;

/// Calls `visit(site, escapes)` for each place where any was, of which a line may have many.
/// Thread-safe; wait-free but for what it calls.
void visit_escapes(const std::function<void(const CallSite&, Tally&)>& visit);
}  // namespace detail

/// The same site, with a name of its file that stays; "?" if there is no memory. Locks.
CallSite kept(const CallSite& site) noexcept;

/// How many ways to come from one line to the next are told apart, and how many reshapes of reshapes.
/// What comes after those is taken for a reshape, at this line, of what any reshape at the line before
/// made: so recursion, through however many lines, makes no more places than there are lines, and for
/// each pair of them most_ways and two.
inline constexpr unsigned most_ways = 8;
inline constexpr unsigned most_reshapes_of_reshapes = 16;

/// The place of a reshape whose input's family came out of `input`. Locks where that was not met before.
Place reshape_place(const CallSite& site, const Shape& from, const Shape& to, ReshapeMode mode,
                    PlaceId input) noexcept;

/// Where a family that accesses parted from one that wrote, by the reshapes they came out of.
struct Parting {
  PlaceId reshape;          ///< with a copy there, the access would not see the write
  bool writer_is_reshaped;  ///< out of the family that accesses, directly or by further reshapes
  bool access_is_reshaped;  ///< out of the family that wrote, in the same way
};
/// Thread-safe; wait-free.
Parting parting_of(PlaceId accessing, PlaceId writing) noexcept;

}  // namespace byre::inline v0::shadow
