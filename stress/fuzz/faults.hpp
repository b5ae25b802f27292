// SPDX-License-Identifier: BSL-1.0
/// Faults: what goes wrong during calls into byre. An allocation, a copy or operator new fails, or further steps
/// of the program run in the middle of a copy.
#pragma once

#include <byre/error/error.hpp>
#include <byre/memory/allocator.hpp>
#include <byre/memory/host_allocators.hpp>

#include <array>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <set>
#include <stdexcept>
#include <utility>

#include "support/failing_new.hpp"
#include "target.hpp"

namespace byre::fuzz {

/// What failed during a call. `heap` is operator new.
enum class Fault : std::uint8_t { none, allocation, copy, heap };

/// Thrown by a copy that is made to fail: an error type of the embedder's.
struct CopyFailed : std::runtime_error {
  CopyFailed() : runtime_error("the copy was made to fail") {}
};

class Faults {
 public:
  /// `fault` happens once, after `after` more successes of its kind.
  void arm(Fault fault, int after) { left(fault) = after; }
  bool is_armed() const;

  /// Runs once, in the middle of the next copy by a FaultyAllocator.
  void arm_nested_steps(std::function<void()> steps) { nested_steps_ = std::move(steps); }
  /// Runs once, in byre's next call of operator new.
  void arm_steps_in_new(std::function<void()> steps) { steps_in_new_ = std::move(steps); }

  /// Makes a call into byre, and returns what failed. The call has to throw the error of that fault, and none
  /// without a fault. If it `may_do_with_less` it may have got over a refusal of memory: then nothing failed.
  template <class Call>
  Fault during(Call call, bool may_do_with_less = false) {
    const auto outer = std::exchange(this_call_, {});
    Fault thrown = Fault::none;
    {
      const LetHeapFail may(*this);
      try {
        call();
      } catch (const OutOfMemory&) {
        thrown = Fault::allocation;
      } catch (const CopyFailed&) {
        thrown = Fault::copy;
      }
    }
    const ThisCall ended = std::exchange(this_call_, outer);
    copies_ = ended.copies;
    if (thrown == Fault::allocation && ended.fault == Fault::heap) {
      thrown = Fault::heap;  // which throws the same
    }
    const bool did_with_less =
        may_do_with_less && thrown == Fault::none && ended.fault != Fault::copy;
    if (thrown != ended.fault && !did_with_less) {
      fail("fault %d was injected, and the call threw as for %d", int(ended.fault), int(thrown));
    }
    trace(thrown != Fault::none ? "  which failed" : "  done");
    return thrown;
  }

  /// How many copies a FaultyAllocator completed in the last call.
  std::size_t copies() const noexcept { return copies_; }

  /// While it lives, no further steps run in the middle of a copy: they would see a block that is counted, and that no
  /// value has yet.
  class WithoutSteps {
   public:
    explicit WithoutSteps(Faults& faults) noexcept
        : faults_(faults), steps_(std::exchange(faults.nested_steps_, nullptr)) {}
    ~WithoutSteps() { faults_.nested_steps_ = std::move(steps_); }
    WithoutSteps(const WithoutSteps&) = delete;
    WithoutSteps& operator=(const WithoutSteps&) = delete;

   private:
    Faults& faults_;
    std::function<void()> steps_;
  };

  /// While it lives, operator new does not fail: it serves the fuzzer, in the middle of a call.
  class Pause {
   public:
    explicit Pause(Faults& faults) noexcept : faults_(faults) { faults_.stop_heap(); }
    ~Pause() { faults_.start_heap(); }
    Pause(const Pause&) = delete;
    Pause& operator=(const Pause&) = delete;

   private:
    Faults& faults_;
  };

 private:
  friend class FaultyAllocator;

  struct ThisCall {
    bool active = false;
    Fault fault = Fault::none;
    std::size_t copies = 0;
  };
  class LetHeapFail {
   public:
    explicit LetHeapFail(Faults& faults) noexcept : faults_(faults) {
      faults_.this_call_.active = true;
      faults_.start_heap();
    }
    ~LetHeapFail() { faults_.stop_heap(); }

   private:
    Faults& faults_;
  };

  int& left(Fault fault) { return left_[static_cast<std::size_t>(fault)]; }
  /// True iff it happens now.
  bool fires(Fault fault);
  void start_heap() noexcept;
  void stop_heap() noexcept;
  static void run_steps_in_new();

  std::array<int, 4> left_{test::never_fails, test::never_fails, test::never_fails,
                           test::never_fails};
  std::function<void()> nested_steps_;
  std::function<void()> steps_in_new_;
  ThisCall this_call_;
  std::size_t copies_ = 0;
};

/// Host memory, or host memory that claims to be a device's. It tracks its live blocks.
class FaultyAllocator final : public Allocator {
 public:
  /// What a copy that fails leaves in the first half.
  static constexpr std::byte half_copied{0xEE};

  FaultyAllocator(Faults& faults, Device device) : Allocator(device), faults_(faults) {}

  Block allocate(const Request& request) override;
  void deallocate(const Block& block) noexcept override;
  void copy(void* destination, const void* source, std::size_t nbytes) override;
  const char* name() const noexcept override { return "faulty allocator"; }

  std::size_t live_blocks() const noexcept { return out_.size(); }

 private:
  Faults& faults_;
  std::set<const void*> out_;
};

}  // namespace byre::fuzz
