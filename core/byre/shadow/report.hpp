// SPDX-License-Identifier: BSL-1.0
/// What is said of code that relies on a reshape being an alias: where, and what to write instead.
#pragma once

#include <byre/error/error.hpp>
#include <byre/shadow/place.hpp>

#include <cstdint>
#include <string>
#include <vector>

namespace byre::inline v0::shadow {

/// What to write instead. The rule, by who reads what:
///   - what was reshaped reads what was written through the reshaped tensor: the code relies on the
///     alias, and `view` says so;
///   - the reshaped tensor reads what was written to what it was reshaped from, or to another tensor
///     reshaped from that: if what it had before was wanted, `reshape` and `clone` say so, and already
///     do before reshape copies. But if the reshape or the write is one for which another report says
///     `view`, it is a window on what is there now: `view`;
///   - it saw an earlier write as well, and nothing says `view`: a window that follows the writes and a
///     snapshot that each is compared with do the same, so either: `view` or `clone`;
///   - a write of all there is after a write: each has its own contents once reshape copies, which
///     needs nothing, if that is what is wanted.
/// What other reports say is known the better the later one asks: the summary's advice is by all.
enum class Advice : std::uint8_t { view, reshape_and_clone, view_or_clone, nothing };

/// "view", "reshape_and_clone", "view_or_clone", "nothing".
const char* to_string(Advice advice) noexcept;

/// A write through one family of views, and a read or write after it through another, which a reshape
/// that copies would have parted from the first. Has no memory of its own, and stays valid.
struct Violation {
  Place reshape;  ///< where the two families parted
  Place write;
  Place access;
  bool access_writes = false;
  Advice advice = Advice::nothing;
  std::uint64_t count = 1;  ///< how often it was met at these three lines
  /// Lines by which raw pointers to write to this storage had left, or it came from elsewhere.
  std::uint64_t unaudited = 0;
  /// A frame a line; empty unless backtraces are kept (backtrace.hpp).
  const char* reshape_backtrace = "";
  const char* write_backtrace = "";
  const char* access_backtrace = "";

  bool is_error() const noexcept { return reshape.mode == ReshapeMode::error; }
};

/// For people: what happens, the three places, and what to write instead. Throws std::bad_alloc.
std::string to_string(const Violation& violation);
/// The same with names of files in short, and if need be without sizes, so that it fits; where there is
/// no memory for that, the lines alone.
Text text_of(const Violation& violation) noexcept;
/// The backtraces that were kept, each under a line that says whose it is. Throws std::bad_alloc.
std::vector<std::string> backtraces_of(const Violation& violation);
/// One JSON object. Of a place that is not known the file is "?" and the line 0. Throws
/// std::bad_alloc.
std::string to_json(const Violation& violation);

/// Thrown by an access, before it changed anything, where the reshape was made in error mode. The same
/// access goes through when it is tried again: it was told.
class ReshapeViolation : public Error {
 public:
  explicit ReshapeViolation(const Violation& violation) noexcept
      : Error(text_of(violation)), violation_(violation) {}
  const Violation& violation() const noexcept { return violation_; }

 private:
  Violation violation_;
};

}  // namespace byre::inline v0::shadow
