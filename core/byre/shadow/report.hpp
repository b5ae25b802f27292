// SPDX-License-Identifier: BSL-1.0
/// Reports of code that relies on a reshape being an alias (docs/reshape.md). A report names three
/// call sites (the reshape, a write, a later access) and advises a change.
///
/// Unless a function says otherwise, it is thread-safe. Functions that return a std::string throw
/// OutOfMemory; all others throw nothing.
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

namespace byre::inline BYRE_ABI::shadow {

/// The sizes of a tensor. Stores only the first `most_sizes` sizes, so that it needs no heap
/// memory.
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

/// "[2, 3]", or "[1, 2, 3, 4, 5, 6, ...]" if there are more dimensions. Throws OutOfMemory.
BYRE_API std::string to_string(const Shape& shape);

/// Whether the call sites are the same line of the same file. Names of files are compared by their
/// characters.
BYRE_API bool same_site(const CallSite& a, const CallSite& b) noexcept;

/// A call site, and the tensor that was accessed or reshaped there.
struct TensorSite {
  CallSite site{};
  Shape shape{};                      ///< of the tensor that was accessed, or that the reshape made
  Shape from{};                       ///< of the tensor that was reshaped; empty for an access
  std::optional<ReshapeMode> mode{};  ///< of a reshape, warn or error; empty for an access

  bool is_known() const noexcept { return site.line != 0; }
};

/// The change that a report advises.
enum class Advice : std::uint8_t {
  view,               ///< the input is used after a write through the output: they share memory
  reshape_and_clone,  ///< the output is read after a write to the input
  view_or_clone,      ///< the output is read after each of several writes to the input
  nothing,            ///< the later access writes all elements: no rewrite is needed
};

/// "view", "reshape_and_clone", "view_or_clone", "nothing".
BYRE_API const char* to_string(Advice advice) noexcept;

/// A write by one view family, and a later read or write by another family that would not share
/// memory with the first if reshape copied. A view family is a tensor with its views; a tracked
/// reshape begins a new family. A violation holds no heap memory, and stays valid after the tensors
/// and the storage are destroyed.
struct Violation {
  /// The reshape that made the younger of the two families, or that made the accessing family if
  /// both were made from the same family.
  TensorSite reshape;
  TensorSite write;
  TensorSite access;
  bool access_writes = false;
  Advice advice = Advice::nothing;
  std::uint64_t count = 1;  ///< number of violations at these three call sites
  /// The number of raw pointers for writing to this storage that were handed out so far, and the
  /// call site of the first.
  std::uint64_t untracked_escapes = 0;
  CallSite first_escape{};

  bool is_error() const noexcept { return reshape.mode == ReshapeMode::error; }
};

/// The report for people: what happens, the three call sites, and the advice. Throws OutOfMemory.
BYRE_API std::string to_string(const Violation& violation);
/// The text of to_string(), with shortened file names if the text would not fit into Text. Only the
/// three call sites if the shortened text does not fit either, or if there is no memory for it.
BYRE_API Text text_of(const Violation& violation) noexcept;
/// One JSON object. An unknown call site has the file "?" and the line 0. Throws OutOfMemory.
BYRE_API std::string to_json(const Violation& violation);

/// Thrown by an access, before it changes anything, if it relies on a reshape that was made in
/// error mode. The violation then counts as reported, so the access succeeds if it is repeated.
class BYRE_API ReshapeViolation : public Error {
 public:
  explicit ReshapeViolation(const Violation& violation) noexcept
      : Error(text_of(violation)), violation_(violation) {}
  const Violation& violation() const noexcept { return violation_; }

 private:
  Violation violation_;
};

/// Called for the first violation of each triple of call sites, on the thread of the access. No
/// lock is held: the handler may access tensors and call any function. It may be called on several
/// threads at once, and must not throw.
using ViolationHandler = void (*)(const Violation& violation) noexcept;

/// Installs `handler` and returns the previous one. Null installs the default, which calls
/// byre::warn. Violations of reshapes in error mode are thrown and not passed to the handler. Takes
/// a lock.
BYRE_API ViolationHandler set_violation_handler(ViolationHandler handler) noexcept;

}  // namespace byre::inline BYRE_ABI::shadow
