// SPDX-License-Identifier: BSL-1.0
/// What the steps of a program act on: slots of buffers and of storage handles, each beside what
/// the model says of it, and where their memory comes from.
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

#include "../input.hpp"
#include "faults.hpp"
#include "model.hpp"

namespace byre::fuzz {

struct BufferSlot {
  using Real = Buffer;
  static constexpr const char* kind = "buffer";

  Buffer real;
  Value its;

  Value* value() noexcept { return &its; }
  void put(Buffer&& made, Value&& value) noexcept {
    real = std::move(made);
    its = std::move(value);
  }
  void clear() noexcept { put(Buffer(), Value()); }
};

struct StorageSlot {
  using Real = Storage;
  static constexpr const char* kind = "storage";

  Storage real;
  std::shared_ptr<Value> its;  ///< one for all handles that alias

  Value* value() noexcept { return its.get(); }
  void put(Storage&& made, Value&& value) {
    real = std::move(made);
    its = std::make_shared<Value>(std::move(value));
  }
  void clear() noexcept {
    real = Storage();
    its.reset();
  }
};

/// Whether the step under way is in the middle of a call on it.
template <class Slot>
bool is_busy(Slot& slot) noexcept {
  return slot.value() != nullptr && slot.value()->busy;
}

/// Adopted memory: each address from when it was handed over until its deleter is called.
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
std::size_t count_mapped_files();

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
  bool has_mapped = false;

  Allocator& choose_allocator();
  /// Mostly few; so large that the pool recycles them while the budget lasts.
  std::size_t choose_nbytes();
  /// Unlike those before.
  Bytes new_bytes(std::size_t nbytes);

 private:
  std::size_t budget_nbytes_ = std::size_t{4} << 20;
  unsigned patterns_ = 0;
};

}  // namespace byre::fuzz
