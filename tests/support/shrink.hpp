// SPDX-License-Identifier: BSL-1.0
/// Shrinking: reduces a failing program to a smaller one that still fails.
#pragma once

#include <concepts>
#include <cstddef>
#include <functional>
#include <utility>

namespace byre::test {

/// A greedy shrinker: every accepted candidate replaces the current program. `Program` must be
/// copyable.
template <class Program>
class Shrinker {
 public:
  using Fails = std::function<bool(const Program&)>;

  Shrinker(Program failing, Fails fails) : program_(std::move(failing)), fails_(std::move(fails)) {}

  /// The smallest failing program so far.
  const Program& program() const noexcept { return program_; }

  /// Replaces the program by `candidate` if `candidate` fails. Returns whether it fails.
  bool accept(Program candidate) {
    if (!fails_(candidate)) {
      return false;
    }
    program_ = std::move(candidate);
    has_shrunk_ = true;
    return true;
  }

  /// Removes elements of the sequence that `part` returns for a program: first all elements at
  /// once, then runs of half that length, then of a quarter, and so on, each time starting at the
  /// end.
  template <class Part>
  void drop_from(Part part) {
    const auto size = [&] { return std::size(std::invoke(part, program_)); };
    for (std::size_t count = size(); count > 0; count /= 2) {
      for (std::size_t end = size(); end >= count; --end) {
        if (end > size()) {
          continue;
        }
        Program candidate = program_;
        auto& sequence = std::invoke(part, candidate);
        const auto last = sequence.begin() + static_cast<std::ptrdiff_t>(end);
        sequence.erase(last - static_cast<std::ptrdiff_t>(count), last);
        accept(std::move(candidate));
      }
    }
  }

  /// Replaces the value that `part` returns for a program by the first of `simpler(value)` with
  /// which the program still fails, and repeats that until no simpler value fails.
  template <class Part, class Simpler>
  void simplify(Part part, Simpler simpler) {
    const auto once = [&] {
      for (const auto& value : simpler(std::as_const(std::invoke(part, program_)))) {
        Program candidate = program_;
        std::invoke(part, candidate) = value;
        if (accept(std::move(candidate))) {
          return true;
        }
      }
      return false;
    };
    while (once()) {
    }
  }

  /// Calls `candidates(*this)` until a call accepts nothing.
  template <std::invocable<Shrinker&> Candidates>
  const Program& exhaust(Candidates candidates) {
    do {
      has_shrunk_ = false;
      candidates(*this);
    } while (has_shrunk_);
    return program_;
  }

 private:
  Program program_;
  Fails fails_;
  bool has_shrunk_ = false;
};

/// Shrinks `failing` until `fails` is false for every candidate. `candidates(shrinker)` proposes
/// candidates by calls of accept(), drop_from() and simplify().
template <class Program, class Fails, class Candidates>
Program shrunk(Program failing, Fails fails, Candidates candidates) {
  return Shrinker<Program>(std::move(failing), std::move(fails)).exhaust(std::move(candidates));
}

}  // namespace byre::test
