// SPDX-License-Identifier: BSL-1.0
/// ValueFactory: makes values of every origin and by every constructor, for one thread.
#pragma once

#include <byre/pages/paged_allocator.hpp>

#include <cstddef>
#include <cstdint>
#include <memory>
#include <type_traits>
#include <utility>

#include "../faults/injector.hpp"
#include "counts.hpp"
#include "decision.hpp"
#include "run_state.hpp"

namespace byre::stress {

/// A call that throws leaves nothing but the count of what it had cloned or adopted.
template <sync::Sync Sync, template <class> class Share>
class ValueFactory {
 public:
  using Checked = CheckedValue<Sync, Share>;
  using Buffer = basic_buffer<Sync, Share>;
  using Storage = basic_storage<Sync, Share>;

  ValueFactory(RunState<Sync, Share>& state, std::uint64_t thread, Counts& counts) noexcept
      : state_(state), counts_(counts), next_identity_((thread + 1) << 32) {}

  Checked allocate(const Decision& decision) {
    const Content content = first_version();
    return of_either_type(decision, [&]<class Value>(std::type_identity<Value>) {
      Value value = Value::allocate(decision.nbytes, allocator_for(decision));
      write_content(value.mutable_data(), decision.nbytes, content);
      return Checked(std::move(value), content, content);
    });
  }

  Checked adopt(const Decision& decision) {
    const Content content = first_version();
    return of_either_type(decision, [&]<class Value>(std::type_identity<Value>) {
      const Block block = state_.tracking.allocate({decision.nbytes});
      write_content(static_cast<std::byte*>(block.data), decision.nbytes, content);
      ++counts_.adopted;  // the deleter is called, even if this fails
      return Checked(Value::adopt(block.data, decision.nbytes, state_.deleter_of(block),
                                  allocator_for(decision)),
                     content, content);
    });
  }

  Checked borrow(const Decision& decision) {
    const Content content = first_version();
    auto lender = std::make_unique_for_overwrite<std::byte[]>(decision.nbytes);
    write_content(lender.get(), decision.nbytes, content);
    const std::byte* constant = lender.get();
    return of_either_type(decision, [&]<class Value>(std::type_identity<Value>) {
      Allocator& allocator = allocator_for(decision);
      Value value = decision.chooses(borrow_constant)
                        ? Value::borrow(constant, decision.nbytes, allocator)
                        : Value::borrow(lender.get(), decision.nbytes, allocator);
      return Checked(std::move(value), content, content, std::move(lender));
    });
  }

  Checked map(const Decision& decision) {
    const File& file = state_.files.at(decision.other);
    return of_either_type(decision, [&]<class Value>(std::type_identity<Value>) {
      return Checked(Value::map_file(file.path, allocator_for(decision)), unwritten(),
                     file.content);
    });
  }

  /// A lazy clone: a Storage of a Storage, either of a Buffer.
  Checked clone(const Checked& source, const Decision& decision) {
    if (source.storage() != nullptr) {
      return Checked(clone(*source.storage()), unwritten(), source.expected());
    }
    const Buffer& buffer = *source.buffer();
    // The copy constructor is noexcept: if copying borrowed memory failed there, the program would end.
    Buffer copy = decision.chooses(clone_by_constructor) && !source.is_borrowed()
                      ? Buffer(buffer)
                      : buffer.lazy_clone();
    record_clone(buffer);
    if (decision.chooses(make_storage)) {
      return Checked(Storage(std::move(copy)), unwritten(), source.expected());
    }
    return Checked(std::move(copy), unwritten(), source.expected());
  }

  Storage clone(const Storage& source) {
    const bool copies = source.origin() == Origin::borrowed || source.is_pinned();
    if (copies) {
      Injector::suspend_heap_fault();  // or it would not be known whether the copy had been made
    }
    try {
      Storage made = source.lazy_clone();
      record_clone(source);
      return made;
    } catch (...) {
      if (!copies) {
        record_clone(source);  // what failed is the new identity, after the clone of the bytes
      }
      throw;
    }
  }

  /// Of a storage that is not borrowed: later writes do not show in it.
  auto pin_to_read(const Storage& source) {
    auto pin = source.pin_to_read();
    record_clone(source);
    return pin;
  }

  /// Of a value that has written nothing yet.
  Content unwritten() noexcept { return {next_identity_++, 0}; }

 private:
  /// Bits of Decision::choice.
  enum : unsigned {
    make_storage,
    from_default_pool,
    from_default_pool_too,
    from_pages,
    borrow_constant,
    clone_by_constructor
  };

  Content first_version() noexcept { return {next_identity_++, 1}; }

  /// One of four comes from the default pool, as it ships: its small blocks stay in thread caches, where no
  /// other allocator sees them. Half of those are in pages, where they are large enough.
  Allocator& allocator_for(const Decision& decision) noexcept {
    if (!decision.chooses(from_default_pool) || !decision.chooses(from_default_pool_too)) {
      return state_.allocator;
    }
    return decision.chooses(from_pages) ? paged_allocator() : default_allocator();
  }

  template <class Make>
  static Checked of_either_type(const Decision& decision, Make make) {
    return decision.chooses(make_storage) ? make(std::type_identity<Storage>())
                                          : make(std::type_identity<Buffer>());
  }

  static bool is_pinned(const Buffer&) noexcept { return false; }
  static bool is_pinned(const Storage& storage) noexcept { return storage.is_pinned(); }

  template <class Value>
  void record_clone(const Value& source) noexcept {
    if (is_pinned(source)) {
      counts_.record_copy(counts_.pinned, source.nbytes());
    } else if (source.origin() == Origin::borrowed) {
      counts_.record_copy(counts_.borrowed, source.nbytes());
    } else {
      ++counts_.lazy_clones;
    }
  }

  RunState<Sync, Share>& state_;
  Counts& counts_;
  std::uint64_t next_identity_;
};

}  // namespace byre::stress
