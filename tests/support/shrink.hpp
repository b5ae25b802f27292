// SPDX-License-Identifier: BSL-1.0
/// Shrinking: from a program that fails to a small one that fails too.
#pragma once

#include <concepts>
#include <cstddef>
#include <functional>
#include <utility>

namespace byre::test {

/// Greedy: every smaller program that fails takes the place of the one before. `Program` is copied.
template <class Program>
class Shrinker {
 public:
  using Fails = std::function<bool(const Program&)>;

  Shrinker(Program failing, Fails fails) : program_(std::move(failing)), fails_(std::move(fails)) {}

  /// The smallest so far that fails.
  const Program& program() const noexcept { return program_; }

  /// Takes `candidate` if it fails. Returns whether it did.
  bool accept(Program candidate) {
    if (!fails_(candidate)) {
      return false;
    }
    program_ = std::move(candidate);
    has_shrunk_ = true;
    return true;
  }

  /// Leaves out elements of the sequence that `part` finds in a program: the half of them first, then
  /// fewer, each time from the end.
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

  /// Takes the first of `simpler(value)` that fails in the place of a value, until none does. `part`
  /// finds the value in a program.
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

/// A program that `fails` and of which no candidate does: `candidates` is given the Shrinker, and offers
/// it programs by accept(), drop_from() and simplify().
template <class Program, class Fails, class Candidates>
Program shrunk(Program failing, Fails fails, Candidates candidates) {
  return Shrinker<Program>(std::move(failing), std::move(fails)).exhaust(std::move(candidates));
}

}  // namespace byre::test
