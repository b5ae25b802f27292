// SPDX-License-Identifier: BSL-1.0
/// Makes items, of every origin and by every constructor, for one thread.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <type_traits>
#include <utility>

#include "../faults/injector.hpp"
#include "decision.hpp"
#include "tally.hpp"
#include "world.hpp"

namespace byre::stress {

/// Whatever throws leaves nothing behind but a count of what was cloned or adopted before.
template <sync::Sync Sync, template <class> class Share>
class Maker {
 public:
  using Item = stress::Item<Sync, Share>;
  using Buffer = basic_buffer<Sync, Share>;
  using Storage = basic_storage<Sync, Share>;

  Maker(World<Sync, Share>& world, std::uint64_t thread, Tally& tally) noexcept
      : world_(world), tally_(tally), next_identity_((thread + 1) << 32) {}

  Item allocate(const Decision& decision) {
    const Content content = first_version();
    return of_either_type(decision, [&]<class Value>(std::type_identity<Value>) {
      Value value = Value::allocate(decision.nbytes, allocator_for(decision));
      write_content(value.mutable_data(), decision.nbytes, content);
      return Item(std::move(value), content, content);
    });
  }

  Item adopt(const Decision& decision) {
    const Content content = first_version();
    return of_either_type(decision, [&]<class Value>(std::type_identity<Value>) {
      const Block block = world_.accounts.allocate({decision.nbytes});
      write_content(static_cast<std::byte*>(block.data), decision.nbytes, content);
      ++tally_.adopted;  // the deleter is called, even if this fails
      return Item(Value::adopt(block.data, decision.nbytes, world_.deleter_of(block),
                               allocator_for(decision)),
                  content, content);
    });
  }

  Item borrow(const Decision& decision) {
    const Content content = first_version();
    auto lent = std::make_unique_for_overwrite<std::byte[]>(decision.nbytes);
    write_content(lent.get(), decision.nbytes, content);
    const std::byte* constant = lent.get();
    return of_either_type(decision, [&]<class Value>(std::type_identity<Value>) {
      Allocator& allocator = allocator_for(decision);
      Value value = decision.chooses(borrow_constant)
                        ? Value::borrow(constant, decision.nbytes, allocator)
                        : Value::borrow(lent.get(), decision.nbytes, allocator);
      return Item(std::move(value), content, content, std::move(lent));
    });
  }

  Item map(const Decision& decision) {
    const File& file = world_.files.at(decision.other);
    return of_either_type(decision, [&]<class Value>(std::type_identity<Value>) {
      return Item(Value::map_file(file.path, allocator_for(decision)), unwritten(), file.content);
    });
  }

  /// A lazy clone, which is a Storage if `source` is one, and either of a Buffer.
  Item clone(const Item& source, const Decision& decision) {
    if (source.storage() != nullptr) {
      return Item(clone(*source.storage()), unwritten(), source.expected());
    }
    const Buffer& buffer = *source.buffer();
    // A copy constructor cannot fail, so that copying borrowed memory there may end the program.
    Buffer copy = decision.chooses(clone_by_constructor) && !source.is_borrowed()
                      ? Buffer(buffer)
                      : buffer.lazy_clone();
    note_clone(buffer);
    if (decision.chooses(make_storage)) {
      return Item(Storage(std::move(copy)), unwritten(), source.expected());
    }
    return Item(std::move(copy), unwritten(), source.expected());
  }

  Storage clone(const Storage& source) {
    const bool borrowed = source.origin() == Origin::borrowed;
    if (borrowed) {
      Injector::spare_heap();  // or nobody knew whether the copy had been made
    }
    try {
      Storage made = source.lazy_clone();
      note_clone(source);
      return made;
    } catch (...) {
      if (!borrowed) {
        note_clone(source);  // what failed is the identity for the clone of the bytes
      }
      throw;
    }
  }

  /// What a storage writes that has written nothing yet, less one.
  Content unwritten() noexcept { return {next_identity_++, 0}; }

 private:
  /// Bits of a choice.
  enum : unsigned {
    make_storage,
    from_default_pool,
    from_default_pool_too,
    borrow_constant,
    clone_by_constructor
  };

  Content first_version() noexcept { return {next_identity_++, 1}; }

  /// Every fourth is from the pool that ships as it ships: threads keep its small blocks themselves,
  /// past any allocator.
  Allocator& allocator_for(const Decision& decision) noexcept {
    return decision.chooses(from_default_pool) && decision.chooses(from_default_pool_too)
               ? default_allocator()
               : world_.allocator;
  }

  template <class Make>
  static Item of_either_type(const Decision& decision, Make make) {
    return decision.chooses(make_storage) ? make(std::type_identity<Storage>())
                                          : make(std::type_identity<Buffer>());
  }

  template <class Value>
  void note_clone(const Value& source) noexcept {
    if (source.origin() == Origin::borrowed) {
      tally_.note_copy(tally_.borrowed, source.nbytes());
    } else {
      ++tally_.lazy_clones;
    }
  }

  World<Sync, Share>& world_;
  Tally& tally_;
  std::uint64_t next_identity_;
};

}  // namespace byre::stress
