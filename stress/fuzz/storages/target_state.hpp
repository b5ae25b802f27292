// SPDX-License-Identifier: BSL-1.0
/// TargetState: what the steps of a program act on. Slots of buffers and of storage handles, each beside the
/// model's value; and the memory they come from.
#pragma once

#include <byre/memory/host_allocators.hpp>
#include <byre/storage/buffer.hpp>
#include <byre/storage/storage.hpp>

#include <array>
#include <cstddef>
#include <filesystem>
#include <memory>
#include <set>
#include <utility>
#include <vector>

#include "../faults.hpp"
#include "../input.hpp"
#include "model.hpp"
#include "pin_slot.hpp"

namespace byre::fuzz {

struct BufferSlot {
  using Real = Buffer;
  static constexpr const char* kind = "buffer";

  Buffer real;
  Value expected;

  Value* value() noexcept { return &expected; }
  void put(Buffer&& made, Value&& value) noexcept {
    real = std::move(made);
    expected = std::move(value);
  }
  void clear() noexcept { put(Buffer(), Value()); }
};

struct StorageSlot {
  using Real = Storage;
  static constexpr const char* kind = "storage";

  Storage real;
  std::shared_ptr<Value> expected;  ///< one for all handles that alias

  Value* value() noexcept { return expected.get(); }
  void put(Storage&& made, Value&& value) {
    real = std::move(made);
    expected = std::make_shared<Value>(std::move(value));
  }
  void clear() noexcept {
    real = Storage();
    expected.reset();
  }
};

/// Whether a call on it is under way.
template <class Slot>
bool is_busy(Slot& slot) noexcept {
  return slot.value() != nullptr && slot.value()->busy;
}

/// Adopted and aliased memory, from the adoption until the deleter is called.
class Adopted {
 public:
  /// The deleter.
  struct Release {
    Adopted* adopted;
    void operator()(void* data) const noexcept { adopted->release(data); }
  };

  std::byte* add(const Bytes& bytes);
  std::size_t count() const noexcept { return out_.size(); }

 private:
  void release(void* data) noexcept;

  std::set<void*> out_;
};

/// A file that is mapped, and what it holds.
struct MappableFile {
  std::filesystem::path path;
  Bytes bytes;
};

/// Made at the first call, removed at the program's end.
const std::vector<MappableFile>& mappable_files();
/// How many of them are mapped now.
std::ptrdiff_t count_mapped_files();

struct TargetState {
  explicit TargetState(Input bytes) : input(bytes) {}

  Input input;
  Faults faults;
  FaultyAllocator host{faults, Device::cpu()};
  FaultyAllocator device{faults, Device(1, 0)};
  PmrAllocator resource{*std::pmr::new_delete_resource()};
  Adopted adopted;
  Model model;
  std::array<BufferSlot, 6> buffers;
  std::array<StorageSlot, 6> storages;
  std::array<PinSlot, 4> pins;
  bool has_mapped = false;

  Allocator& choose_allocator();
  /// Small mostly; sometimes, while the budget lasts, so large that the pool recycles them.
  std::size_t choose_nbytes();
  /// Each time others.
  Bytes new_bytes(std::size_t nbytes);

  /// Of every slot that has one; of some more than once.
  template <class Visit>
  void for_each_value(const Visit& visit) {
    const auto visit_all = [&](auto& slots) {
      for (auto& slot : slots) {
        if (slot.value() != nullptr) {
          visit(*slot.value());
        }
      }
    };
    visit_all(buffers);
    visit_all(storages);
    visit_all(pins);
  }

 private:
  std::size_t budget_nbytes_ = std::size_t{4} << 20;
  unsigned patterns_ = 0;
};

}  // namespace byre::fuzz
