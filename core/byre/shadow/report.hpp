// SPDX-License-Identifier: BSL-1.0
/// Reports of code that relies on a reshape being an alias: three call sites, and what to write instead.
#pragma once

#include <byre/config.hpp>
#include <byre/error/call_site.hpp>
#include <byre/error/error.hpp>
#include <byre/shadow/mode.hpp>

#include <algorithm>
#include <array>
#include <cstdint>
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
    std::ranges::copy(sizes.first((std::min)(sizes.size(), most_sizes)), sizes_.begin());
  }

  std::size_t ndim() const noexcept { return ndim_; }
  std::span<const std::int64_t> sizes() const noexcept {
    return std::span(sizes_).first((std::min)(ndim(), most_sizes));
  }
  friend constexpr bool operator==(const Shape&, const Shape&) noexcept = default;

 private:
  std::array<std::int64_t, most_sizes> sizes_{};
  std::uint32_t ndim_ = 0;
};

/// "[2, 3]", "[1, 2, 3, 4, 5, 6, ...]". Throws OutOfMemory.
BYRE_API std::string to_string(const Shape& shape);

/// True iff they are the same line of the same file, by name.
BYRE_API bool same_site(const CallSite& a, const CallSite& b) noexcept;

/// A call site, and the tensor there.
struct TensorSite {
  CallSite site{};
  Shape shape{};                      ///< of the tensor that was accessed, or that the reshape made
  Shape from{};                       ///< of the tensor that was reshaped; an access has none
  std::optional<ReshapeMode> mode{};  ///< of a reshape, warn or error; an access has none

  bool is_known() const noexcept { return site.line != 0; }
};

/// What to write instead.
enum class Advice : std::uint8_t {
  view,               ///< what was reshaped relies on what was written through the reshaped tensor
  reshape_and_clone,  ///< the reshaped tensor reads what was written to the other, after the reshape
  view_or_clone,      ///< the same write after write: a window on the other, or a snapshot of it
  nothing,            ///< a write of all there is: each has its own contents once reshape copies
};

/// "view", "reshape_and_clone", "view_or_clone", "nothing".
BYRE_API const char* to_string(Advice advice) noexcept;

/// A write by one view family, and a read or write after it by another, which a reshape that copies
/// would have parted from the first. Has no memory of its own, and stays valid.
struct Violation {
  TensorSite
      reshape;  ///< which made the younger of the two families; of siblings, the accessing one
  TensorSite write;
  TensorSite access;
  bool access_writes = false;
  Advice advice = Advice::nothing;
  std::uint64_t count = 1;  ///< how often it was met at these three call sites
  /// How often raw pointers to write to this storage had left, and where the first did.
  std::uint64_t untracked_escapes = 0;
  CallSite first_escape{};

  bool is_error() const noexcept { return reshape.mode == ReshapeMode::error; }
};

/// For people: what happens, the three call sites, and what to write instead. Throws OutOfMemory.
BYRE_API std::string to_string(const Violation& violation);
/// The same with names of files shortened so that it fits; where that does not do, or without memory for
/// it, the call sites alone.
BYRE_API Text text_of(const Violation& violation) noexcept;
/// One JSON object. Of a call site that is not known the file is "?" and the line 0. Throws
/// OutOfMemory.
BYRE_API std::string to_json(const Violation& violation);

/// Thrown by an access, before it changed anything, where the reshape was made in error mode. The same
/// access goes through when it is tried again: it was reported.
class BYRE_API ReshapeViolation : public Error {
 public:
  explicit ReshapeViolation(const Violation& violation) noexcept
      : Error(text_of(violation)), violation_(violation) {}
  const Violation& violation() const noexcept { return violation_; }

 private:
  Violation violation_;
};

/// Called with a violation at the first of each triple of call sites, on the thread whose access it is,
/// with no lock held: it may do what it likes, also access tensors. May be called from several threads
/// at once, and must not throw.
using ViolationHandler = void (*)(const Violation& violation) noexcept;

/// Installs `handler` (null: the default, which warns by byre::warn) and returns the one before.
/// Violations of reshapes in error mode are thrown, and not handed to it. Thread-safe.
BYRE_API ViolationHandler set_violation_handler(ViolationHandler handler) noexcept;

}  // namespace byre::inline v0::shadow
